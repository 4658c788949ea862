"""`lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)`: the four activated gates, from torch's stacked weights."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES, expect_from_scratch
from autograder.exercises.lstm_cell.given import (
    gates,
    large_step_inputs,
    step_inputs,
    strided_step_inputs,
)

ARGUMENTS = ("x", "h", "w_ih", "w_hh", "b_ih", "b_hh")
RESULTS = {"names": ("i", "f", "g", "o"), "dims": "B H"}


def given(draw, dtype=torch.float64):
    x, h, _, *weights = step_inputs(draw, dtype)
    return x, h, *weights


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The gates are computed by you, not by torch's recurrent functions."""
    expect_from_scratch(submission, "lstm_gates", submission.lstm_gates, given(draw))


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns four gates (i, f, g, o), each (batch, hidden)."""
    other = sizes.but(B=12)  # four pieces of the batch, for who cuts that in place of the gates
    arguments = given(draw.at(other))
    expect(submission.lstm_gates(*arguments), gates(*arguments), **RESULTS, sizes=other, values=False)


@points(0.5)
@rule("values")
@needs(test_shape, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """Each gate has the values that torch's weights give it, in torch's order."""
    arguments = given(draw)
    expect(submission.lstm_gates(*arguments), gates(*arguments), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, equal sizes, large numbers, and inputs not contiguous in memory."""
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(D=1, H=1), "with one feature and one hidden unit"),
        (sizes.but(B=4, D=4, H=4), "with every size 4"),
    ):
        arguments = given(draw.at(other))
        with case(context):
            expect(submission.lstm_gates(*arguments), gates(*arguments), **RESULTS, sizes=other)
    for inputs, context in (
        (large_step_inputs, "with large inputs"),
        (strided_step_inputs, "with inputs that are not contiguous in memory"),
    ):
        x, h, _, *weights = inputs(draw)
        with case(context):
            expect(submission.lstm_gates(x, h, *weights), gates(x, h, *weights), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, the state and all four weights."""
    expect_gradients(submission.lstm_gates, gates, given(draw), names=ARGUMENTS, draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the inputs is the dtype of the gates."""
    expect_dtypes(submission.lstm_gates, given(draw), names=RESULTS["names"])


@points(0)
@rule("device")
@needs(test_dtype, test_matches_torch)
def test_device(submission, sizes, draw):
    """With everything on a GPU, nothing is made elsewhere or takes a way through the CPU."""
    expect_device_neutral(submission.lstm_gates, given(draw), names=RESULTS["names"])


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The arguments are the same after the call as before."""
    arguments = given(draw)
    expect_untouched(submission.lstm_gates.run(arguments), arguments, ARGUMENTS)
