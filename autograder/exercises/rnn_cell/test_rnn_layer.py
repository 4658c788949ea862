"""`rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)`: the cell over every time step of a batch-first sequence."""

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
from autograder.exercises.longer import short_and_long

ARGUMENTS = ("x", "h_0", "w_ih", "w_hh", "b_ih", "b_hh")
RESULTS = {"names": ("output", "h_n"), "dims": ("B T H", "B H")}


def given(draw, dtype=torch.float64):
    """A sequence, an initial state and the four weights of a random layer."""
    weights = draw.module(nn.RNNCell, draw.sizes.D, draw.sizes.H, dtype=dtype).state_dict().values()
    return draw("B T D", dtype=dtype), draw("B H", dtype=dtype), *weights


@recorded
def reference(x, h_0, *weights):
    output, h_n = torch.rnn_tanh(x, h_0.unsqueeze(0), list(weights), True, 1, 0.0, False, False, True)
    return output, h_n[0]


@points(0)
@rule("from-scratch")
@without(RECURRENT)
def test_from_scratch(submission, sizes, draw):
    """The layer is computed by you, not by torch's recurrent functions."""
    expect_from_scratch(submission, "rnn_layer", submission.rnn_layer, given(draw))


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns the state at every step, (batch, time, hidden), and the last one, (batch, hidden)."""
    few, many = sorted((sizes.B, sizes.T))
    other = sizes.but(B=few, T=many)  # so a loop over the batch ends early, and its shape tells why
    arguments = given(draw.at(other))
    expect(submission.rnn_layer(*arguments), reference(*arguments), **RESULTS, sizes=other, values=False)


@points(0.5)
@rule("values")
@needs(test_shape, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """Every step and the final state equal those of a one-layer nn.RNN."""
    arguments = given(draw)
    expect(submission.rnn_layer(*arguments), reference(*arguments), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, long sequences, and inputs that are not contiguous."""
    for other, context in (
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(B=1, T=1, D=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4), "with every size 4"),
        (sizes.but(T=23), "with a longer sequence"),
    ):
        arguments = given(draw.at(other))
        with case(context):
            expect(submission.rnn_layer(*arguments), reference(*arguments), **RESULTS, sizes=other)
    matrices = [draw.strided(dims) for dims in ("B T D", "B H", "H D", "H H")]
    arguments = (*matrices, draw("H"), draw("H"))
    with case("with inputs that are not contiguous in memory"):
        expect(submission.rnn_layer(*arguments), reference(*arguments), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through every time step to the input, the initial state and all weights."""
    for here, context in short_and_long(draw):
        with context:
            expect_gradients(
                submission.rnn_layer,
                reference,
                given(here),
                names=ARGUMENTS,
                draw=here,
                tell="Is the state detached or copied between the steps?",
            )


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """The dtype of the inputs is the dtype of the results."""
    expect_dtypes(submission.rnn_layer, given(draw), names=RESULTS["names"])


@points(0.5)
@rule("device")
@needs(test_shape, test_from_scratch, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU everything is made and stays there."""
    expect_device_neutral(submission.rnn_layer, given(draw), names=RESULTS["names"])


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The arguments are the same after the call as before."""
    arguments = given(draw)
    expect_untouched(submission.rnn_layer.run(arguments), arguments, ARGUMENTS)
