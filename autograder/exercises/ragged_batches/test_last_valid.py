"""`last_valid(output, lengths)`: each sequence's last real step."""

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
RESULTS = {"names": "last", "dims": "B H"}


def given(draw, dtype=torch.float64):
    """Outputs with numbers in every place, padded ones too, and lengths in no order."""
    return draw("B T H", dtype=dtype), ragged_lengths(draw)


def reference(output, lengths):
    return torch.stack([row[:length][-1] for row, length in zip(output, lengths.tolist(), strict=True)])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one step of every sequence, (batch, hidden)."""
    room = roomy(sizes)
    arguments = given(draw.at(room))
    expect(submission.last_valid(*arguments), reference(*arguments), **RESULTS, sizes=room, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_last_real_step(submission, sizes, draw):
    """Each row is the step before the padding begins, whatever the padding holds."""
    room = roomy(sizes)
    output, lengths = given(draw.at(room))
    batches = {
        "with zeros as padding": padded_with(output, lengths, 0.0),
        "with padding that is not zero": output,
        "with huge numbers as padding": padded_with(output, lengths, HUGE),
    }
    # All are asked before one is judged: mistakes that agree on zeros differ on the rest.
    answers = [submission.last_valid(filled, lengths) for filled in batches.values()]
    for (context, filled), answer in zip(batches.items(), answers, strict=True):
        with case(context):
            expect(answer, reference(filled, lengths), **RESULTS, sizes=room)
    row = int(lengths.argmax())
    output = output.index_fill(1, torch.tensor([room.T - 1]), 0.0)
    zeros = padded_with(output, lengths, 0.0)
    with case(f"with a last real step that is all zeros (sequence {row})"):
        expect(submission.last_valid(zeros, lengths), reference(zeros, lengths), **RESULTS, sizes=room)


@points(0.5)
@rule("generality")
@needs(test_last_real_step)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous outputs."""
    room = roomy(sizes)
    for other, fixed, context in (
        (room.but(B=1), room.T - 2, "with one sequence (B = 1), shorter than its row"),
        (room.but(T=1), 1, "with one time step (T = 1)"),
        (room.but(H=1), None, "with one hidden unit (H = 1)"),
        (room.but(B=5, T=5, H=5), None, "with every size 5"),
        (room, room.T, "with every sequence as long as the batch"),
        (room, 1, "with every sequence one step long"),
        (room, room.T - 1, "with no sequence as long as the batch"),
    ):
        here = draw.at(other)
        lengths = ragged_lengths(here) if fixed is None else torch.full((other.B,), fixed)
        output = here("B T H")
        with case(context):
            expect(submission.last_valid(output, lengths), reference(output, lengths), **RESULTS, sizes=other)
    here = draw.at(room)
    output, lengths = here.strided("B T H"), ragged_lengths(here)
    with case("with an output that is not contiguous in memory"):
        expect(submission.last_valid(output, lengths), reference(output, lengths), **RESULTS, sizes=room)


@points(0.5)
@rule("gradient")
@needs(test_last_real_step)
def test_gradients(submission, sizes, draw):
    """Gradients reach each sequence's last real step and no other one."""
    arguments = given(draw.at(roomy(sizes)))
    expect_gradients(submission.last_valid, reference, arguments, names=("output",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of the result."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        call = submission.last_valid.run(given(draw.at(roomy(sizes)), dtype), default_dtype=None)
        expect_dtype(call.value, dtype, names="last")


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The outputs and the lengths are the same after the call as before."""
    arguments = given(draw.at(roomy(sizes)))
    expect_untouched(submission.last_valid.run(arguments), arguments, ARGUMENTS)
