"""`forecast(model, window, steps)`: predictions fed back as the newest value of the window."""

import torch

from autograder.checking import (
    asked,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    fail,
    needs,
    points,
    rule,
)
from autograder.exercises.many_to_one.given import Network, expect_answer
from autograder.exercises.several import expect_each_untouched

STEPS = 17
"""More steps than any window is long, so that the end of the forecast has seen nothing but forecasts."""


def given(submission, draw, dtype=torch.float64, **more):
    """A network with one feature and one output, and a window (T, 1)."""
    one = draw.at(draw.sizes.but(D=1))
    return Network(submission, one, outputs=1, dtype=dtype, **more), one.like((one.sizes.T, 1), dtype=dtype)


def expect_forecast(answer, reference, sizes):
    """The steps of the forecast go by the name of time steps in messages."""
    expect(answer, reference, names="forecast", dims="T", sizes=sizes.but(T=len(reference)))


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one number a step, a tensor of shape (steps,)."""
    network, window = given(submission, draw)
    answer = submission.forecast(network.given, window, STEPS)
    if isinstance(answer, torch.Tensor) and answer.dim() == 1 and len(answer) != STEPS:
        fail(
            f"The forecast of {STEPS} steps holds {len(answer)} numbers; expected one prediction a step, and "
            "nothing of the window."
        )
    reference = network.forecast(window, STEPS)
    expect(answer, reference, names="forecast", dims="T", sizes=sizes.but(T=STEPS), values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_feeds_back(submission, sizes, draw):
    """Each prediction becomes the newest value of the next window, and the oldest value drops out."""
    network, window = given(submission, draw.at(sizes.but(T=sizes.T + 2)))  # two values hide much
    reference = network.forecast(window, STEPS)
    slips = {
        "It is the same prediction at every step: does the window take in what was predicted?": reference[
            :1
        ].expand(STEPS),
        "It is what a window gives that grows with every step: does the oldest value drop out?": (
            network.forecast(window, STEPS, keep=True)
        ),
        "It is the right forecast in reverse: the first prediction comes first.": reference.flip(0),
        "It begins one prediction too late: the first one belongs to the window as given.": (
            network.forecast(window, STEPS + 1)[1:]
        ),
    }
    answer = submission.forecast(network.given, window, STEPS)
    expect_answer(answer, reference, slips, name="forecast", dims="T", sizes=sizes.but(T=STEPS))


@points(0.5)
@rule("generality")
@needs(test_feeds_back)
def test_any_size(submission, sizes, draw):
    """It works for one step, for windows of one value, and for long windows."""
    calls = []
    for other, steps, reach, context in (
        (sizes, 1, 1, "with one step"),
        (sizes.but(T=1), STEPS, 1, "with a window of one value"),
        (sizes.but(T=1), 1, 1, "with a window of one value and one step"),
        (sizes.but(T=draw.size(70, 130)), 3, 1, "with a window longer than the forecast"),
        (sizes.but(T=7), 7, 1, "with as many steps as the window has values"),
        (sizes.but(T=2), draw.size(33, 45), 1, "with many steps"),
        (sizes, 4, 1e6, "with predictions far away from the window"),
    ):
        network, window = given(submission, draw.at(other), reach=reach)
        request = submission.forecast.request(network.given, window, steps)
        calls.append((request, network, window, steps, context))
    for answer, network, window, steps, context in asked(calls):
        with case(context):
            expect_forecast(answer(), network.forecast(window, steps), sizes)


@points(0.5)
@rule("gradient")
@needs(test_feeds_back)
def test_without_gradients(submission, sizes, draw):
    """The forecast is a plain result: no graph of all its steps hangs on it."""
    network, window = given(submission, draw)
    # The window asks for none: whoever joins it to the predictions before `no_grad` begins keeps no graph.
    call = submission.forecast.run((network.given, window, STEPS))
    if any(call.attached):
        fail(
            "The forecast asks for gradients, as if something were to be trained through it, and may keep "
            "the graph of every call of the model. Nothing is trained here: predict without gradients."
        )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the model and the window is the dtype of the forecast."""
    network, window = given(submission, draw)
    expect_dtypes(submission.forecast, lambda: (network.afresh(), window, STEPS), names="forecast")


@points(0)
@rule("device")
@needs(test_shape, test_feeds_back, test_dtype)
def test_device(submission, sizes, draw):
    """With the model and the window on a GPU everything is made and stays there."""
    network, window = given(submission, draw)
    # Each prediction may pass through a number: a tensor made of them is right where the window is.
    expect_device_neutral(
        submission.forecast,
        lambda: (network.afresh(), window, STEPS),
        names="forecast",
        reads=True,
        gradients=False,
    )


@points(0.5)
@rule("mutation")
@needs(test_feeds_back)
def test_window_untouched(submission, sizes, draw):
    """The window and the model are the same after the call as before."""
    network, window = given(submission, draw)
    names = ("model", "window", "steps")
    calls = ((f"with steps={steps}", (network.given, window, steps)) for steps in (STEPS, 1))
    expect_each_untouched(submission.forecast, calls, names, unjudged=("mode",))
    network.expect_untouched()
