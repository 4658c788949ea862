"""`masked_mse(prediction, target, lengths)`: the mean squared error over real steps only."""

import torch
import torch.nn.functional as F

from autograder.checking import (
    case,
    compare,
    computed_once,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_untouched,
    fail,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.handed import each_place_of_lengths
from autograder.exercises.ragged_batches.given import (
    HUGE,
    every_gradient,
    every_length,
    padded_with,
    ragged_lengths,
    real_steps,
    roomy,
)
from autograder.exercises.several import expect_each, if_right

ARGUMENTS = ("prediction", "target", "lengths")
RESULTS = {"names": "loss", "dims": ""}


def given(draw, dtype=torch.float64):
    """Predictions and targets with numbers in every place, padded ones too, and lengths in no order."""
    return draw("B T D", dtype=dtype), draw("B T D", dtype=dtype), ragged_lengths(draw)


@recorded
@computed_once
def reference(prediction, target, lengths):
    real = real_steps(lengths, prediction.shape[1])
    return F.mse_loss(prediction[real], target[real])


@recorded
def gradient_of(prediction, target, lengths, weight):
    """The gradient of the weighted loss for the prediction."""
    leaf = prediction.clone().requires_grad_()
    return torch.autograd.grad(reference(leaf, target, lengths) * weight, leaf)[0]


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one number for the whole batch, a tensor without dimensions."""
    room = roomy(sizes)
    arguments = given(draw.at(room))
    expect(submission.masked_mse(*arguments), reference(*arguments), **RESULTS, sizes=room, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_mean_of_real_steps(submission, sizes, draw):
    """Each real number of each real step counts once; padding does not, whatever it holds."""
    room = roomy(sizes)
    prediction, target, lengths = given(draw.at(room))
    batches = {
        "with zeros as padding of both": (0.0, 0.0),
        "with zeros as padding of the target only": (None, 0.0),
        "with padding that is not zero": (None, None),
        "with huge numbers as padding": (HUGE, -HUGE),
    }
    pairs = [
        tuple(
            values if filling is None else padded_with(values, lengths, filling)
            for values, filling in zip((prediction, target), padding, strict=True)
        )
        for padding in batches.values()
    ]
    # All are asked before one is judged: mistakes that agree on zeros differ on the rest.
    answers = [submission.masked_mse(*pair, lengths) for pair in pairs]
    for context, pair, answer in zip(batches, pairs, answers, strict=True):
        with case(context):
            expect(answer, reference(*pair, lengths), **RESULTS, sizes=room)
    target = target.index_fill(1, torch.tensor([0]), 0.0)
    with case("with targets that are zero at a real step"):
        arguments = (prediction, target, lengths)
        expect(submission.masked_mse(*arguments), reference(*arguments), **RESULTS, sizes=room)


@points(0)
@rule("generality")
@needs(test_mean_of_real_steps)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one feature, equal sizes, any lengths, strided inputs."""
    room = roomy(sizes)
    calls = [
        (context, here.sizes, (here("B T D"), here("B T D"), lengths))
        for here, lengths, context in every_length(
            draw.at(room),
            (room.but(D=1), "with one feature (D = 1)"),
            (room.but(B=5, T=5, D=5), "with every size 5"),
        )
    ]
    here = draw.at(room)
    strided = (here.strided("B T D"), here.strided("B T D"), ragged_lengths(here))
    calls.append(("with inputs that are not contiguous in memory", room, strided))
    for factor, context in ((1e-3, "with very small numbers"), (1e6, "with very large numbers")):
        prediction, target, lengths = given(here)
        calls.append((context, room, (prediction * factor, target * factor, lengths)))
    expect_each(submission.masked_mse, reference, calls, **RESULTS)


@points(0.5)
@rule("gradient")
@needs(test_mean_of_real_steps)
def test_gradients(submission, sizes, draw):
    """Gradients reach the prediction at every real step and at no padded one."""
    for here, lengths, context in every_gradient(draw.at(roomy(sizes))):
        arguments = (here("B T D"), here("B T D"), lengths)
        with case(context):
            expect_gradient(submission.masked_mse, here.sizes, arguments, draw.like(()))
    here = draw.at(roomy(sizes))
    prediction, target, lengths = given(here)
    with case("with very large numbers"):
        arguments = (prediction * 1e6, target * 1e6, lengths)
        expect_gradient(submission.masked_mse, sizes, arguments, draw.like(()))


def expect_gradient(task, sizes, arguments, weight):
    """The gradient of the weighted loss for the prediction; none is asked of the target's."""
    right = gradient_of(*arguments, weight)
    with if_right(task, arguments, reference(*arguments), **RESULTS, sizes=sizes):
        forward, backward = task.gradient_requests(arguments, [weight])
        forward.ask()
        told = backward.ask()
        seen = told.inputs[0]
        if not told.attached or seen is None:
            fail(
                "No gradient reaches `prediction`, so no network could learn from this loss. Look for "
                "`detach()`, `.data`, `.item()`, `torch.no_grad()`, or a tensor rebuilt with "
                "`torch.tensor(...)`."
            )
        if compare(seen, right):
            fail(
                "The gradient of `prediction` is not the one that the right computation gives. Is a part of "
                "the computation cut off from the graph, by `detach()` or `.data`?"
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the prediction and target is the dtype of the loss: the mask does not change it."""
    expect_dtypes(submission.masked_mse, given(draw.at(roomy(sizes))), names="loss")


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the data on a GPU everything is made and stays there, wherever the lengths are."""
    arguments = given(draw.at(roomy(sizes)))
    for on_cpu, context in each_place_of_lengths(2):
        with case(context):
            expect_device_neutral(submission.masked_mse, arguments, names="loss", on_cpu=on_cpu)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """Prediction, target, their padding too, and the lengths are the same after the call as before."""
    arguments = given(draw.at(roomy(sizes)))
    expect_untouched(submission.masked_mse.run(arguments), arguments, ARGUMENTS)
