"""`make_windows(series, window)`: every window of a series, and the value that comes after it."""

from autograder.checking import (
    FunctionSpec,
    sized,
    standard,
    with_inputs,
    worth,
)
from autograder.exercises.several import far_apart


def series_of(draw):
    """A series with room for `B` windows of length `T`, each with a value after it."""
    return draw.like((draw.sizes.B + draw.sizes.T,))


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
    ),
    values=worth(
        0.5,
        name="windows_and_next_values",
        title="Each window holds consecutive values in order, and its target is the value that follows the "
        "last one.",
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
