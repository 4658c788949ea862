"""`lstm_parameter_count(input_size, hidden_size, num_layers, biases_per_gate=1)`: how large a stack is."""

from autograder.checking import (
    expect_count,
    expect_whole,
    needs,
    points,
    reference,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES, expect_from_scratch

torch_count = reference("reference_lstm_parameter_count:torch_count")


own_count = reference("reference_lstm_parameter_count:own_count")


def expect_parameters(seen, wanted, sizes, told):
    name = f"With input_size={sizes.D}, hidden_size={sizes.H}, num_layers={sizes.L} and {told}, the number"
    expect_count(seen, wanted, name=name)


def asked_for(submission, sizes, **options):
    return submission.lstm_parameter_count(sizes.D, sizes.H, sizes.L, **options)


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_formula(submission, sizes, draw):
    """The number is calculated, not read off one of torch's recurrent modules."""
    expect_from_scratch(
        submission,
        "lstm_parameter_count",
        submission.lstm_parameter_count,
        (sizes.D, sizes.H, sizes.L),
    )


@points(0)
@rule("shape")
@needs(test_formula)
def test_whole_number(submission, sizes, draw):
    """It returns one whole number, an `int`."""
    expect_whole(asked_for(submission, sizes))


@points(0.5)
@rule("values")
@needs(test_whole_number, test_formula)
def test_one_bias(submission, sizes, draw):
    """With one bias per gate, it counts the parameters of your own stack."""
    seen, wanted = asked_for(submission, sizes), own_count(sizes.D, sizes.H, sizes.L)
    expect_parameters(seen, wanted, sizes, "without biases_per_gate")


@points(0.5)
@rule("values")
@needs(test_whole_number, test_formula)
def test_two_biases(submission, sizes, draw):
    """With biases_per_gate=2, it gives nn.LSTM's own count."""
    seen = asked_for(submission, sizes, biases_per_gate=2)
    expect_parameters(seen, torch_count(sizes.D, sizes.H, sizes.L), sizes, "biases_per_gate=2")
