"""`lstm_parameter_count(input_size, hidden_size, num_layers, biases_per_gate=1)`: how large a stack is."""

from contextlib import suppress

from autograder.checking import (
    StudentError,
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


def slips(wanted, sizes):
    """The numbers that well-known slips give where this one is wanted, each with what to say of it."""
    first, first_of_torch = own_count(sizes.D, sizes.H, 1), torch_count(sizes.D, sizes.H, 1)
    upper = own_count(sizes.H, sizes.H, 1)
    if wanted == torch_count(sizes.D, sizes.H, sizes.L):
        upper = torch_count(sizes.H, sizes.H, 1)
    return [
        (first * sizes.L, "That counts every layer as if it read `x`."),
        (first_of_torch * sizes.L, "That counts every layer as if it read `x`."),
        (own_count(sizes.H, sizes.H, sizes.L), "That counts the first layer as if it read hidden states."),
        (own_count(sizes.D, sizes.H, sizes.L), "That is the number with one bias for each gate."),
        (torch_count(sizes.D, sizes.H, sizes.L), "That is the number with two biases for each gate."),
        (first, "That is the first layer alone."),
        (wanted - upper, "One layer above the first is missing."),
        (wanted // 4, "That counts one gate of the four."),
        (wanted - wanted // 4, "That counts three gates of the four."),
        (wanted - 4 * sizes.H * sizes.L, "Are biases missing?"),
        (wanted - 8 * sizes.H * sizes.L, "Are the biases missing?"),
        (
            wanted - sizes.L * upper + sizes.L,  # first + num_layers - 1 * upper
            "Python multiplies before it subtracts: is `num_layers - 1` in brackets?",
        ),
    ]


def expect_parameters(seen, wanted, sizes, told, known):
    name = f"With input_size={sizes.D}, hidden_size={sizes.H}, num_layers={sizes.L} and {told}, the number"
    expect_count(seen, wanted, name=name, known=known)


def expect_usual(submission, sizes, told, count, **options):
    """Expect the number for the usual sizes; where it is wrong, a message says where it is right, or why.

    A slip is told that gives the number at other sizes, too: at one two of them may be alike by chance.
    """
    others = sizes.but(D=sizes.D + 4, H=sizes.H + 6, L=sizes.L + 2)
    asked_at = [
        (other, count(other.D, other.H, other.L), words)
        for other, words in (
            (sizes.but(L=1), "with one layer"),
            (sizes.but(L=2), "with two layers"),
            (sizes.but(D=sizes.H), "where `input_size` is `hidden_size`"),
            (others, ""),
        )
    ]
    wanted, there = count(sizes.D, sizes.H, sizes.L), slips(asked_at[-1][1], others)
    known, seen = slips(wanted, sizes), asked_for(submission, sizes, options)
    if seen != wanted:
        with suppress(StudentError):
            numbers = [asked_for(submission, other, options) for other, *_ in asked_at]
            pairs = zip(known, there, strict=True)
            known = [slip for slip, (number, _) in pairs if (slip[0], number) == (seen, numbers[-1])]
            compared = zip(numbers, asked_at, strict=True)
            right = [
                words for number, (_, wanted_there, words) in compared if words and number == wanted_there
            ]
            if right and not known:
                known = [(seen, f"It is right {' and '.join(right)}.")]
            elif numbers[0] != asked_at[0][1] and not known:
                known = [(seen, "It is wrong with one layer, too: begin there.")]
    expect_parameters(seen, wanted, sizes, told, known)


def asked_for(submission, sizes, options):
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
    expect_whole(asked_for(submission, sizes, {}))


@points(0.5)
@rule("values")
@needs(test_whole_number, test_formula)
def test_one_bias(submission, sizes, draw):
    """With one bias per gate, it counts the parameters of your own stack."""
    expect_usual(submission, sizes, "without biases_per_gate", own_count)


@points(0.5)
@rule("values")
@needs(test_whole_number, test_formula)
def test_two_biases(submission, sizes, draw):
    """With biases_per_gate=2, it gives nn.LSTM's own count."""
    expect_usual(submission, sizes, "biases_per_gate=2", torch_count, biases_per_gate=2)
