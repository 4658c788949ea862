"""`masked_mean(output, lengths)`: the mean over each sequence's real steps."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_dtype,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    rule,
)
from autograder.exercises.ragged_batches.given import HUGE, padded_with, ragged_lengths, roomy

ARGUMENTS = ("output", "lengths")
RESULTS = {"names": "mean", "dims": "B H"}


def given(draw, dtype=torch.float64):
    """Outputs with numbers in every place, padded ones too, and lengths in no order."""
    return draw("B T H", dtype=dtype), ragged_lengths(draw)


def reference(output, lengths):
    return torch.stack([row[:length].mean(0) for row, length in zip(output, lengths.tolist(), strict=True)])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one mean for every sequence and hidden unit, (batch, hidden)."""
    room = roomy(sizes)
    arguments = given(draw.at(room))
    expect(submission.masked_mean(*arguments), reference(*arguments), **RESULTS, sizes=room, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_mean_of_real_steps(submission, sizes, draw):
    """Real steps count, all of them and with equal weight; padding does not, whatever it holds."""
    room = roomy(sizes)
    output, lengths = given(draw.at(room))
    batches = {
        "with zeros as padding": padded_with(output, lengths, 0.0),
        "with padding that is not zero": output,
        "with huge numbers as padding": padded_with(output, lengths, HUGE),
    }
    # All are asked before one is judged: mistakes that agree on zeros differ on the rest.
    answers = [submission.masked_mean(filled, lengths) for filled in batches.values()]
    for (context, filled), answer in zip(batches.items(), answers, strict=True):
        with case(context):
            expect(answer, reference(filled, lengths), **RESULTS, sizes=room)
    output = padded_with(output.index_fill(1, torch.tensor([0, 2]), 0.0), lengths, 0.0)
    with case("with real steps that happen to be all zeros"):
        expect(submission.masked_mean(output, lengths), reference(output, lengths), **RESULTS, sizes=room)


@points(0.5)
@rule("generality")
@needs(test_mean_of_real_steps)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous outputs."""
    room = roomy(sizes)
    for other, fixed, context in (
        (room.but(B=1), room.T - 2, "with one sequence (B = 1), shorter than its row"),
        (room.but(T=1), 1, "with one time step (T = 1)"),
        (room.but(H=1), None, "with one hidden unit (H = 1)"),
        (room.but(B=5, T=5, H=5), None, "with every size 5"),
        (room.but(H=room.T), None, "with as many hidden units as time steps"),
        (room, room.T, "with every sequence as long as the batch"),
        (room, 1, "with every sequence one step long"),
        (room, room.T - 1, "with no sequence as long as the batch"),
    ):
        here = draw.at(other)
        lengths = ragged_lengths(here) if fixed is None else torch.full((other.B,), fixed)
        output = here("B T H")
        with case(context):
            expect(
                submission.masked_mean(output, lengths), reference(output, lengths), **RESULTS, sizes=other
            )
    here = draw.at(room)
    output, lengths = here.strided("B T H"), ragged_lengths(here)
    with case("with an output that is not contiguous in memory"):
        expect(submission.masked_mean(output, lengths), reference(output, lengths), **RESULTS, sizes=room)


@points(0)
@rule("gradient")
@needs(test_mean_of_real_steps)
def test_gradients(submission, sizes, draw):
    """Gradients reach every real step and no padded one."""
    arguments = given(draw.at(roomy(sizes)))
    expect_gradients(submission.masked_mean, reference, arguments, names=("output",), draw=draw)


@points(0.5)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of the mean: the mask does not change it."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        call = submission.masked_mean.run(given(draw.at(roomy(sizes)), dtype), default_dtype=None)
        expect_dtype(call.value, dtype, names="mean")


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The outputs, their padding too, and the lengths are the same after the call as before."""
    arguments = given(draw.at(roomy(sizes)))
    expect_untouched(submission.masked_mean.run(arguments), arguments, ARGUMENTS)
