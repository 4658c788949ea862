"""`forecast(model, window, steps)`: predictions fed back as the newest value of the window."""

import torch

from autograder.checking import (
    Case,
    FunctionSpec,
    agree,
    expect_no_slip,
    fail,
    needs,
    points,
    reference,
    rule,
    sized,
)
from autograder.exercises.many_to_one.given import network
from autograder.exercises.several import expect_each_untouched

STEPS = 14
"""More steps than any window is long, so that the end of the forecast has seen nothing but forecasts."""
FORECAST = sized("", T=STEPS, V="T")
"""The usual case. `T` are the steps of the forecast, and `V` the values of the window."""


forecast = reference("reference_forecast:forecast")


task = FunctionSpec(
    "forecast",
    inputs={"model": network(1, "H", 1), "window": "V 1", "steps": lambda draw: draw.sizes.T},
    outputs={"forecast": "T"},
    reference=forecast,
)


def expect_one_a_step(answer, call):
    if isinstance(answer, torch.Tensor) and answer.dim() == 1 and len(answer) != STEPS:
        fail(
            f"The forecast of {STEPS} steps holds {len(answer)} numbers; expected one prediction per step, "
            "and none of the window's values."
        )


def expect_fed_back(answer, call):
    """Fail with a hint where the forecast is one that a well-known slip gives."""
    model, window, _ = call.drawn.here
    right = task.right(call)
    slips = {
        "Every step gives the same prediction: does the window take in what was predicted?": (
            right[:1].expand(STEPS)
        ),
        "This is what a window gives if it grows with every step: does the oldest value drop out?": (
            forecast(model, window, STEPS, keep=True)
        ),
        "It is the right forecast in reverse: the first prediction comes first.": right.flip(0),
        "It starts one prediction too late: the first prediction comes from the window as it is given.": (
            forecast(model, window, STEPS + 1)[1:]
        ),
    }
    expect_no_slip(answer, right, slips, name="forecast")
    comparable = isinstance(answer, torch.Tensor) and answer.shape == right.shape
    if comparable and not agree([answer], [right]) and agree([answer[:1]], [right[:1]]):
        fail(
            "The first prediction is right, and later ones are not. For each later one the window must have "
            "moved on: the oldest value drops out, the last prediction comes in at the end, and the model "
            "reads all of the window, which stays as long as it was."
        )


test_shape = task.shape(
    FORECAST,
    explain=expect_one_a_step,
    title="It returns one number per step, a tensor of shape (steps,).",
)
test_feeds_back = task.values(
    Case(arranged=lambda sizes: sizes.but(T=STEPS, V=sizes.T + 2)),  # two values hide much
    explain=expect_fed_back,
    title="Each prediction becomes the newest value of the next window, and the oldest value drops out.",
    points=0.5,
    needs=[test_shape],
)
test_any_size = task.any_size(
    sized("with one step", T=1, V="T"),
    sized("with a window of one value", T=STEPS, V=1),
    sized("with a window of one value and one step", T=1, V=1),
    sized("with a window longer than the forecast", T=3, V=(70, 130)),
    sized("with as many steps as the window has values", T=7, V=7),
    sized("with many steps", T=(33, 45), V=2),
    Case(
        "with predictions far away from the window",
        sizes={"T": 4, "V": "T"},
        given={"model": network(1, "H", 1, 1e6)},
    ),
    title="It works for one step, for windows of one value, and for long windows.",
    points=0.5,
    needs=[test_feeds_back],
)


@points(0.5)
@rule("gradient")
@needs(test_feeds_back)
def test_without_gradients(submission, sizes, draw):
    """The forecast is a plain tensor, with no graph attached."""
    call = task.prepare(submission, FORECAST, FORECAST.draw(draw))
    # The window asks for none: whoever joins it to the predictions before `no_grad` begins keeps no graph.
    if any(call.target.run(call.arguments).attached):
        fail(
            "The forecast requires gradients, so it may keep the graph of every call of the model. Nothing "
            "is trained here: predict without gradients."
        )


test_dtype = task.dtypes(
    FORECAST,
    title="The forecast has the dtype of the model and the window.",
    needs=[test_shape],
)
test_device = task.devices(
    FORECAST,
    gradients=False,
    title="With the model and the window on a GPU, everything is created and computed there.",
    needs=[test_shape, test_feeds_back, test_dtype],
)


@points(0.5)
@rule("mutation")
@needs(test_feeds_back)
def test_window_untouched(submission, sizes, draw):
    """The call leaves the window and the model unchanged."""
    call = task.prepare(submission, FORECAST, FORECAST.draw(draw))
    model, window, _ = call.arguments
    calls = ((f"with steps={steps}", (model, window, steps)) for steps in (STEPS, 1))
    expect_each_untouched(submission.forecast, calls, tuple(task.inputs), unjudged=("mode",))
    after = model.state_dict()
    for name, value in call.drawn.here[0].state_dict().items():
        if not torch.equal(after[name], value):
            fail(f"The call changed the model's own weights: `{name}`. Call the model, do not train it.")
