"""`bridge_state(state)`: a bidirectional encoder's last states as the first states of a decoder."""

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
    rule,
)
from autograder.exercises.seq2seq.given import bridged, encoder_state
from autograder.exercises.several import expect_each, far_apart, if_right

RESULTS = {"names": ("h", "c"), "dims": "L B 2H"}


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns a pair (h, c), each (layers, batch, 2·hidden)."""
    state = encoder_state(draw)
    expect(submission.bridge_state(state), bridged(state), **RESULTS, sizes=sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_joins_directions(submission, sizes, draw):
    """Each layer's forward and backward state stand side by side, forward first, in h and in c."""
    state = encoder_state(draw)
    expect(submission.bridge_state(state), bridged(state), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_joins_directions)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, any number of layers, sizes that coincide, and a real encoder's state."""
    calls = [
        (context, other, (encoder_state(draw.at(other)),))
        for other, context in (
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(L=1), "with one layer (L = 1)"),
            (sizes.but(L=5), "with five layers"),
            (sizes.but(B=1, L=1, H=1), "with one sequence, one layer and one hidden unit"),
            (sizes.but(B=4, L=2, H=2), "with B = 2·L = 2·H"),
            (sizes.but(B=2, L=2, H=2), "with every size 2"),
            (sizes.but(B=draw.size(20, 70), L=draw.size(6, 13), H=1), "with more of everything"),
            (sizes.but(B=2, L=1, H=draw.size(33, 130)), "with many hidden units"),
        )
    ]
    encoder = draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, bidirectional=True)
    with torch.no_grad():
        _, state = encoder(draw("B T D"))
    twice = sizes.but(L=2 * sizes.L)
    strided = (draw.at(twice).strided("L B H"), draw.at(twice).strided("L B H"))
    scaled = tuple(far_apart(part, 0) for part in encoder_state(draw))
    calls += [
        ("with the state of an `nn.LSTM`", sizes, (state,)),
        ("with states that are not contiguous in memory", sizes, (strided,)),
        ("with numbers from very small to very large", sizes, (scaled,)),
    ]
    expect_each(submission.bridge_state, bridged, calls, **RESULTS)


@points(0.5)
@rule("gradient")
@needs(test_joins_directions)
def test_gradients(submission, sizes, draw):
    """Gradients of the decoder's first state reach the encoder, through h and through c."""
    for other, context in (
        (sizes.but(B=draw.size(20, 70), L=draw.size(6, 13), H=1), "with several layers"),
        (sizes.but(B=1, L=1), "with one sequence and one layer"),
    ):
        task, arguments = submission.bridge_state, (encoder_state(draw.at(other)),)
        with case(context), if_right(task, arguments, bridged(*arguments), **RESULTS, sizes=other):
            expect_gradients(
                task,
                bridged,
                arguments,
                names=("h", "c"),
                draw=draw,
                tell="Training the encoder depends on it: is a part of the state detached or rebuilt?",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the encoder's state is the dtype of the decoder's."""
    expect_dtypes(submission.bridge_state, (encoder_state(draw),), names=RESULTS["names"])


@points(0)
@rule("device")
@needs(test_shape, test_joins_directions, test_dtype)
def test_device(submission, sizes, draw):
    """With the encoder's state on a GPU the decoder's is made there."""
    expect_device_neutral(submission.bridge_state, (encoder_state(draw),), names=RESULTS["names"])


@points(0.5)
@rule("mutation")
@needs(test_joins_directions)
def test_arguments_untouched(submission, sizes, draw):
    """The encoder's state is the same after the call as before."""
    state = encoder_state(draw)
    expect_untouched(submission.bridge_state.run((state,)), (state,), ("state",))
