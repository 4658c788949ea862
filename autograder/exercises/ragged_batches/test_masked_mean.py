"""`masked_mean(output, lengths)`: the mean over each sequence's real steps."""

import torch

from autograder.checking import (
    case,
    computed_once,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.handed import each_place_of_lengths
from autograder.exercises.ragged_batches.given import (
    every_gradient,
    every_length,
    every_padding,
    padded_with,
    ragged_lengths,
    ragged_outputs,
    roomy,
)
from autograder.exercises.several import expect_each, far_apart, if_right

ARGUMENTS = ("output", "lengths")
RESULTS = {"names": "mean", "dims": "B H"}


@recorded
@computed_once
def reference(output, lengths):
    return torch.stack([row[:length].mean(0) for row, length in zip(output, lengths.tolist(), strict=True)])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one mean for every sequence and hidden unit, (batch, hidden)."""
    room = roomy(sizes)
    arguments = ragged_outputs(draw.at(room))
    expect(submission.masked_mean(*arguments), reference(*arguments), **RESULTS, sizes=room, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_mean_of_real_steps(submission, sizes, draw):
    """Real steps count, all of them and with equal weight; padding does not, whatever it holds."""
    room = roomy(sizes)
    output, lengths = ragged_outputs(draw.at(room))
    batches = every_padding(output, lengths)
    # All are asked before one is judged: mistakes that agree on zeros differ on the rest.
    answers = [submission.masked_mean(filled, lengths) for filled in batches.values()]
    for (context, filled), answer in zip(batches.items(), answers, strict=True):
        with case(context):
            expect(answer, reference(filled, lengths), **RESULTS, sizes=room)
    first_and_third = torch.arange(0, min(3, room.T), 2)
    output = padded_with(output.index_fill(1, first_and_third, 0.0), lengths, 0.0)
    with case("with real steps that happen to be all zeros"):
        expect(submission.masked_mean(output, lengths), reference(output, lengths), **RESULTS, sizes=room)


@points(0.5)
@rule("generality")
@needs(test_mean_of_real_steps)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous outputs."""
    room = roomy(sizes)
    calls = [
        (context, here.sizes, (here("B T H"), lengths))
        for here, lengths, context in every_length(
            draw.at(room),
            (room.but(H=1), "with one hidden unit (H = 1)"),
            (room.but(B=5, T=5, H=5), "with every size 5"),
            (room.but(H=room.T), "with as many hidden units as time steps"),
        )
    ]
    here = draw.at(room)
    output, lengths = here.strided("B T H"), ragged_lengths(here)
    calls.append(("with an output that is not contiguous in memory", room, (output, lengths)))
    output, lengths = ragged_outputs(here)
    scaled = far_apart(output, 0)
    calls.append(("with numbers from very small to very large", room, (scaled, lengths)))
    expect_each(submission.masked_mean, reference, calls, **RESULTS)


@points(0)
@rule("gradient")
@needs(test_mean_of_real_steps)
def test_gradients(submission, sizes, draw):
    """Gradients reach every real step and no padded one."""
    for here, lengths, context in every_gradient(draw.at(roomy(sizes))):
        task, arguments = submission.masked_mean, (here("B T H"), lengths)
        right = reference(*arguments)
        with case(context), if_right(task, arguments, right, **RESULTS, sizes=here.sizes):
            expect_gradients(task, reference, arguments, names=("output",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of the mean: the mask does not change it."""
    expect_dtypes(submission.masked_mean, ragged_outputs(draw.at(roomy(sizes))), names="mean")


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the data on a GPU everything is made and stays there, wherever the lengths are."""
    arguments = ragged_outputs(draw.at(roomy(sizes)))
    for on_cpu, context in each_place_of_lengths(1):
        with case(context):
            expect_device_neutral(submission.masked_mean, arguments, names="mean", on_cpu=on_cpu)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The outputs, their padding too, and the lengths are the same after the call as before."""
    arguments = ragged_outputs(draw.at(roomy(sizes)))
    expect_untouched(submission.masked_mean.run(arguments), arguments, ARGUMENTS)
