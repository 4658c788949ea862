"""`lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)`: one step, as nn.LSTMCell."""

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
from autograder.exercises.lstm_cell.given import large_step_inputs, step, step_inputs, strided_step_inputs

ARGUMENTS = ("x", "h", "c", "w_ih", "w_hh", "b_ih", "b_hh")
RESULTS = {"names": ("h_next", "c_next"), "dims": "B H"}


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The step is computed by you, not by torch's recurrent functions."""
    expect_from_scratch(submission, "lstm_cell", submission.lstm_cell, step_inputs(draw))


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """One step returns (h_next, c_next), each (batch, hidden)."""
    arguments = step_inputs(draw)
    expect(submission.lstm_cell(*arguments), step(*arguments), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """One step gives the same h and c as nn.LSTMCell."""
    arguments = step_inputs(draw)
    expect(submission.lstm_cell(*arguments), step(*arguments), **RESULTS, sizes=sizes)


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
        arguments = step_inputs(draw.at(other))
        with case(context):
            expect(submission.lstm_cell(*arguments), step(*arguments), **RESULTS, sizes=other)
    arguments = large_step_inputs(draw)
    with case("with a large cell state and large inputs"):
        expect(submission.lstm_cell(*arguments), step(*arguments), **RESULTS, sizes=sizes)
    arguments = strided_step_inputs(draw)
    with case("with inputs that are not contiguous in memory"):
        expect(submission.lstm_cell(*arguments), step(*arguments), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, both states and all four weights."""
    expect_gradients(submission.lstm_cell, step, step_inputs(draw), names=ARGUMENTS, draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the inputs is the dtype of both states."""
    expect_dtypes(submission.lstm_cell, step_inputs(draw), names=RESULTS["names"])


@points(0)
@rule("device")
@needs(test_dtype, test_matches_torch)
def test_device(submission, sizes, draw):
    """With everything on a GPU, nothing is made elsewhere or takes a way through the CPU."""
    expect_device_neutral(submission.lstm_cell, step_inputs(draw), names=RESULTS["names"])


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The arguments, the states above all, are the same after the call as before."""
    arguments = step_inputs(draw)
    expect_untouched(submission.lstm_cell.run(arguments), arguments, ARGUMENTS)
