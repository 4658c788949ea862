"""`forecast(model, window, steps)`: predictions fed back as the newest value of the window."""

import torch

from autograder.checking import (
    Case,
    FunctionSpec,
    fail,
    needs,
    points,
    rule,
    sized,
)
from autograder.exercises.many_to_one.given import network
from autograder.exercises.several import expect_each_untouched

STEPS = 14
"""More steps than any window is long, so that the end of the forecast has seen nothing but forecasts."""
FORECAST = sized("", T=STEPS, V="T")
"""The usual case. `T` are the steps of the forecast, and `V` the values of the window."""


task = FunctionSpec(
    "forecast",
    inputs={"model": network(1, "H", 1), "window": "V 1", "steps": lambda draw: draw.sizes.T},
    outputs={"forecast": "T"},
    reference="reference_forecast:forecast",
)

test_shape = task.shape(
    FORECAST,
    title="It returns one number per step, a tensor of shape (steps,).",
)
test_feeds_back = task.values(
    Case(arranged=lambda sizes: sizes.but(T=STEPS, V=sizes.T + 2)),  # two values hide much
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
