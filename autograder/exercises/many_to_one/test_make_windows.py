"""`make_windows(series, window)`: every window of a series, and the value that comes after it."""

import torch

from autograder.checking import FunctionSpec, expect, fail, sized, standard, with_inputs, worth
from autograder.exercises.several import far_apart


def series_of(draw):
    """A series with room for `B` windows of length `T`, each with a value after it."""
    return draw.like((draw.sizes.B + draw.sizes.T,))


def expect_count(answer, call):
    """Say why there are too many windows, or too few."""
    if not (isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], torch.Tensor)):
        return
    series, sizes, count = call.arguments[0], call.sizes, len(answer[0]) if answer[0].dim() else 0
    seen = f"`x` holds {count} windows of a series of {len(series)} values; expected {sizes.B}."
    if count == sizes.B + 1:
        fail(f"{seen} Is there a value after the last of your windows?")
    if count == sizes.B - 1:
        fail(f"{seen} Does one more fit, with the last value of the series as its target?")
    if count != sizes.B and answer[0].shape[1:] in ((sizes.T,), (sizes.T, 1)):
        windows, right = answer[0].double().flatten(1), task.right(call)[0].squeeze(2)
        if count and torch.equal(windows, right[:count]):
            fail(f"{seen} Those that there are, are right: what says how many rounds your loop makes?")
        fail(f"{seen} How far does each window move on from the one before?")


def expect_next_values(answer, call):
    """Say so where a target is the last value of its own window."""
    x, y = task.right(call)
    dims = tuple(task.outputs.values())
    windows, targets = expect(answer, (x, y), names=task.names, dims=dims, sizes=call.sizes, values=False)
    if torch.equal(windows.double(), x) and torch.equal(targets.double(), x[:, -1]):
        fail(
            "The windows are right, but each target is the last value of its own window: a model would only "
            "have to copy it. The target is the value after the window."
        )


task = FunctionSpec(
    "make_windows",
    inputs={"series": series_of, "window": lambda draw: draw.sizes.T},
    outputs={"x": "B T 1", "y": "B 1"},
    reference="reference_make_windows:windows",
)

standard(
    task,
    shape=worth(
        0,
        sized("", B=13),  # more than a window has values
        title="It returns x (windows, window, 1) and y (windows, 1), with n - window windows.",
        explain=expect_count,
    ),
    values=worth(
        0.5,
        name="windows_and_next_values",
        title="Each window holds consecutive values in order, and its target is the value that follows the "
        "last one.",
        explain=expect_next_values,
    ),
    any_size=worth(
        0.5,
        sized("with a window of one value", T=1),
        sized("with a series that has room for a single window", B=1),
        sized("with a series of two values and a window of one", B=1, T=1),
        sized("with as many windows as values in each", B=4, T=4),
        sized("with a longer series", B=(60, 130)),
        sized("with a long window", B=(31, 40), T=(41, 90)),
        with_inputs(
            "with numbers from very small to very large", series=lambda draw: far_apart(series_of(draw), 0)
        ),
        title="It works for windows of one value, for a single window, and for long series.",
    ),
    gradients=worth(
        0,
        sized("with several windows", B=(31, 70), T=(13, 40)),
        sized("with a single window of one value", B=1, T=1),
        title="Gradients flow from the windows and the targets back to the series.",
        if_right=True,
    ),
    dtypes=worth(title="The windows and targets have the dtype of the series."),
    devices=worth(
        0.5,
        title="With the series on a GPU, the windows and targets are on it as well.",
        needs=["shape", "dtype"],
    ),
    leaves_arguments=worth(0, name="series_untouched", title="The call leaves the series unchanged."),
)
