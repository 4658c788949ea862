"""`rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh)`: one step of a tanh recurrent cell, as nn.RNNCell."""

import torch
from torch import nn

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT, expect_from_scratch

ARGUMENTS = ("x", "h", "w_ih", "w_hh", "b_ih", "b_hh")


def given(draw, dtype=torch.float64):
    """Inputs, state and the four weights of a random cell: (x, h, w_ih, w_hh, b_ih, b_hh)."""
    weights = draw.module(nn.RNNCell, draw.sizes.D, draw.sizes.H, dtype=dtype).state_dict().values()
    return draw("B D", dtype=dtype), draw("B H", dtype=dtype), *weights


@recorded
def reference(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)


@points(0)
@rule("from-scratch")
@without(RECURRENT)
def test_from_scratch(submission, sizes, draw):
    """The step is computed by you, not by torch's recurrent functions."""
    expect_from_scratch(submission, "rnn_cell", submission.rnn_cell, given(draw))


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """One step returns the next state of every sequence, (batch, hidden)."""
    arguments = given(draw)
    expect(
        submission.rnn_cell(*arguments),
        reference(*arguments),
        names="h_next",
        dims="B H",
        sizes=sizes,
        values=False,
    )


@points(0.5)
@rule("values")
@needs(test_shape, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """One step gives the same state as nn.RNNCell."""
    arguments = given(draw)
    expect(submission.rnn_cell(*arguments), reference(*arguments), names="h_next", dims="B H", sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, for equal sizes, and for inputs that are not contiguous in memory."""
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(D=1, H=1), "with one feature and one hidden unit"),
        (sizes.but(D=sizes.H), "with as many features as hidden units"),
    ):
        arguments = given(draw.at(other))
        with case(context):
            expect(
                submission.rnn_cell(*arguments),
                reference(*arguments),
                names="h_next",
                dims="B H",
                sizes=other,
            )
    arguments = (
        draw.strided("B D"),
        draw.strided("B H"),
        draw.strided("H D"),
        draw.strided("H H"),
        draw("H"),
        draw("H"),
    )
    with case("with inputs that are not contiguous in memory"):
        expect(
            submission.rnn_cell(*arguments), reference(*arguments), names="h_next", dims="B H", sizes=sizes
        )


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, the state and all four weights."""
    expect_gradients(submission.rnn_cell, reference, given(draw), names=ARGUMENTS, draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the inputs is the dtype of the result."""
    expect_dtypes(submission.rnn_cell, given(draw), names="h_next")


@points(0)
@rule("device")
@needs(test_gradients, test_dtype)
def test_device(submission, sizes, draw):
    """With everything on a GPU, nothing is made elsewhere or takes a way through the CPU."""
    expect_device_neutral(submission.rnn_cell, given(draw), names="h_next")


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The arguments are the same after the call as before."""
    arguments = given(draw)
    expect_untouched(submission.rnn_cell.run(arguments), arguments, ARGUMENTS)
