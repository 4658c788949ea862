"""`pad_batch(sequences)`: sequences of unequal length as one zero-padded tensor, and their lengths."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    parts_of,
    points,
    recorded,
    rule,
)
from autograder.exercises.ragged_batches.given import ragged_lengths, roomy
from autograder.exercises.several import expect_each, if_right

RESULTS = {"names": ("padded", "lengths"), "dims": ("B T D", "B")}


def given(draw, lengths=None, dtype=torch.float64):
    """A list of sequences, `T` the length of the longest; none of them starts with its longest."""
    lengths = ragged_lengths(draw) if lengths is None else lengths
    return [draw.like((length, draw.sizes.D), dtype=dtype) for length in lengths.tolist()]


@recorded
def reference(sequences):
    padded = torch.nn.utils.rnn.pad_sequence(list(sequences), batch_first=True)
    return padded, torch.tensor([len(sequence) for sequence in sequences])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one tensor, (batch, longest, features), and one length a sequence, (batch,)."""
    room = roomy(sizes)
    sequences = given(draw.at(room))
    expect(submission.pad_batch(sequences), reference(sequences), **RESULTS, sizes=room, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_padded_with_zeros(submission, sizes, draw):
    """Every sequence stands in its own row, from step 0 on, followed by zeros; its length is its own."""
    room = roomy(sizes)
    sequences = given(draw.at(room))
    expect(submission.pad_batch(sequences), reference(sequences), **RESULTS, sizes=room)
    sequences = [sequence.index_fill(0, torch.tensor([len(sequence) - 1]), 0.0) for sequence in sequences]
    with case("with zeros in the last step of every sequence, which is a step like any other"):
        expect(submission.pad_batch(sequences), reference(sequences), **RESULTS, sizes=room)


@points(0.5)
@rule("generality")
@needs(test_padded_with_zeros)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one feature, equal lengths, many of each, strided sequences."""
    room = roomy(sizes)
    many = room.but(B=draw.size(20, 40), T=draw.size(24, 60), D=1)
    calls = []
    for other, fixed, context in (
        (room.but(D=1), None, "with one feature (D = 1)"),
        (room.but(T=1), 1, "with sequences of one step"),
        (room.but(B=1), None, "with one sequence (B = 1)"),
        (room, room.T, "with sequences of equal length"),
        (room.but(B=4, T=4, D=4), None, "with every size 4"),
        (many, None, "with more of everything"),
        (room.but(B=3, T=3, D=draw.size(33, 70)), None, "with many features"),
    ):
        here = draw.at(other)
        lengths = ragged_lengths(here) if fixed is None else torch.full((other.B,), fixed)
        lengths = torch.full((1,), other.T) if other.B == 1 else lengths
        calls.append((context, other, (given(here, lengths),)))
    lengths = ragged_lengths(draw.at(room)).tolist()
    sequences = [draw.like((room.D, length)).T for length in lengths]
    powers = torch.linspace(-6, 6, room.B).tolist()
    scaled = [part * 10.0**power for part, power in zip(given(draw.at(room)), powers, strict=True)]
    calls += [
        ("with sequences that are not contiguous in memory", room, (sequences,)),
        ("with numbers from very small to very large", room, (scaled,)),
    ]
    expect_each(submission.pad_batch, reference, calls, **RESULTS)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """`padded` has the dtype of the sequences, `lengths` is int64."""
    sequences = given(draw.at(roomy(sizes)))
    answer = submission.pad_batch.run((sequences,), default_dtype=None).value
    _, lengths = parts_of(answer, RESULTS["names"])
    if lengths.dtype != torch.int64:
        fail(
            f"`lengths` is {lengths.dtype}; expected torch.int64. Lengths are counts and are used as "
            "indices: make the tensor from whole numbers, without a floating dtype."
        )
    expect_dtypes(submission.pad_batch, (sequences,), names=RESULTS["names"])


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the sequences on a GPU they are padded there; the lengths are on the CPU."""
    sequences = given(draw.at(roomy(sizes)))
    # Sequences rebuilt from plain numbers are for the gradient check to find, and cost there.
    expect_device_neutral(
        submission.pad_batch, (sequences,), names=RESULTS["names"], stays=("lengths",), reads=True
    )


@points(0.5)
@rule("gradient")
@needs(test_padded_with_zeros)
def test_gradients(submission, sizes, draw):
    """Gradients flow back from the padded tensor to every sequence."""
    room = roomy(sizes)
    _, lengths = parts_of(submission.pad_batch(given(draw.at(room))), RESULTS["names"])
    floating = lengths.is_floating_point()  # judged by the dtype check alone

    def comparable(sequences):
        padded, lengths = reference(sequences)
        return (padded, lengths.to(padded)) if floating else padded

    for other, equal, context in (
        (room.but(T=draw.size(24, 60)), False, "with sequences of unequal length"),
        (room, True, "with sequences of equal length"),
        (room.but(B=1), True, "with one sequence (B = 1)"),
    ):
        sequences = given(draw.at(other), torch.full((other.B,), other.T) if equal else None)
        names = [f"sequences[{number}]" for number in range(len(sequences))]
        task, right = submission.pad_batch, reference(sequences)
        with case(context), if_right(task, (sequences,), right, **RESULTS, sizes=other):
            expect_gradients(task, comparable, (sequences,), names=names, draw=draw)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The list and its sequences are the same after the call as before, in the same order."""
    sequences = given(draw.at(roomy(sizes)))
    call = submission.pad_batch.run((sequences,))
    if len(call.arguments[0]) != len(sequences):
        fail(
            f"The call changed the list `sequences`: it had {len(sequences)} sequences and now has "
            f"{len(call.arguments[0])}. Look for `pop`, `append` or `remove` on it."
        )
    if any(old.shape != new.shape for old, new in zip(sequences, call.arguments[0], strict=True)):
        fail(
            "The call changed the list `sequences`, which belongs to the caller: after it, other sequences "
            "stand in some places. Look for `sort`, `reverse` or an assignment such as `sequences[i] = `."
        )
    expect_untouched(call, (sequences,), ("sequences",))
