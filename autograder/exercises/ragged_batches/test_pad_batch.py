"""`pad_batch(sequences)`: sequences of unequal length as one zero-padded tensor, and their lengths."""

from functools import partial

import torch

from autograder.checking import (
    FunctionSpec,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    parts_of,
    points,
    reference,
    rule,
)
from autograder.exercises.ragged_batches.given import ROOMY, equal, ragged_lengths, room

padded_batch = reference("reference_pad_batch:padded_batch")


def ragged(draw, lengths=ragged_lengths):
    """A list of sequences, `T` the length of the longest; none of them starts with its longest."""
    return [draw.like((length, draw.sizes.D)) for length in lengths(draw).tolist()]


def as_long(draw):
    return ragged(draw, equal())


def strided(draw):
    return [draw.like((draw.sizes.D, length)).T for length in ragged_lengths(draw).tolist()]


def far_apart(draw):
    powers = torch.linspace(-6, 6, draw.sizes.B).tolist()
    return [part * 10.0**power for part, power in zip(ragged(draw), powers, strict=True)]


def ending_in_zeros(sequences):
    return ([sequence.index_fill(0, torch.tensor([len(sequence) - 1]), 0.0) for sequence in sequences],)


task = FunctionSpec(
    "pad_batch",
    inputs={"sequences": ragged},
    outputs={"padded": "B T D", "lengths": "B"},
    reference=padded_batch,
)

test_shape = task.shape(
    ROOMY,
    title="It returns one tensor, (batch, longest, features), and one length per sequence, (batch,).",
)
test_padded_with_zeros = task.values(
    ROOMY,
    room(
        "with zeros in the last step of every sequence, which is a step like any other",
        changed=ending_in_zeros,
    ),
    title="Each sequence fills its own row from step 0 on, followed by zeros, and `lengths` holds its real "
    "length.",
    points=0.5,
    needs=[test_shape],
)
test_any_size = task.any_size(
    room("with one feature (D = 1)", D=1),
    room("with sequences of one step", T=1),
    room("with one sequence (B = 1)", B=1),
    room("with sequences of equal length", sequences=as_long),
    room("with every size 4", B=4, T=4, D=4),
    room("with more of everything", B=(20, 40), T=(24, 60), D=1),
    room("with many features", B=3, T=3, D=(33, 70)),
    room("with sequences that are not contiguous in memory", sequences=strided),
    room("with numbers from very small to very large", sequences=far_apart),
    title="It works for one sequence, one step, one feature, equal lengths, many of each, non-contiguous "
    "sequences.",
    points=0.5,
    needs=[test_padded_with_zeros],
)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """`padded` has the dtype of the sequences, `lengths` is int64."""
    call = task.prepare(submission, ROOMY, ROOMY.draw(draw))
    _, lengths = parts_of(call.target.run(call.arguments, default_dtype=None).value, task.names)
    if lengths.dtype != torch.int64:
        fail(
            f"`lengths` is {lengths.dtype}; expected torch.int64. Lengths are counts and are used as "
            "indices: make the tensor from Python's whole numbers without naming a dtype, or name that one."
        )
    expect_dtypes(call.target, call.arguments, names=task.names)


test_device = task.devices(
    ROOMY,
    stays=("lengths",),
    title="With the sequences on a GPU, they are padded there; the lengths may stay on the CPU.",
    points=0.5,
    needs=[test_shape, test_dtype],
)


def comparable(with_lengths, sequences):
    padded, lengths = padded_batch(sequences)
    return (padded, lengths.to(padded)) if with_lengths else padded


@points(0.5)
@rule("gradient")
@needs(test_padded_with_zeros)
def test_gradients(submission, sizes, draw):
    """Gradients flow back from the padded tensor to every sequence."""
    _, lengths = parts_of(submission.pad_batch(ragged(ROOMY.draw(draw))), task.names)
    right = partial(comparable, lengths.is_floating_point())  # judged by the dtype check alone
    for chosen in (
        room("with sequences of unequal length", T=(24, 60)),
        room("with sequences of equal length", sequences=as_long),
        room("with one sequence (B = 1)", B=1),
    ):
        call = task.prepare(submission, chosen, chosen.draw(draw))
        names = [f"sequences[{number}]" for number in range(call.sizes.B)]
        with call.case(), task.if_right(call):
            expect_gradients(call.target, right, call.arguments, names=names, draw=draw)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The call leaves the list, its order and its sequences unchanged."""
    sequences = ragged(ROOMY.draw(draw))
    call = submission.pad_batch.run((sequences,))
    if len(call.arguments[0]) != len(sequences):
        fail(
            f"The call changed the list `sequences`: it had {len(sequences)} sequences and now has "
            f"{len(call.arguments[0])}. Look for `pop`, `append` or `remove` on it."
        )
    if any(old.shape != new.shape for old, new in zip(sequences, call.arguments[0], strict=True)):
        fail(
            "The call changed the list `sequences`, which belongs to the caller: some of its places now "
            "hold other sequences. Look for `sort`, `reverse` or an assignment such as `sequences[i] = `."
        )
    expect_untouched(call, (sequences,), ("sequences",))
