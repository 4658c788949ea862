"""`make_windows(series, window)`: every window of a series, and the value that comes after it."""

import torch

from autograder.checking import (
    case,
    computed_once,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.several import expect_each, far_apart, if_right

RESULTS = {"names": ("x", "y"), "dims": ("B T 1", "B 1")}


def series_of(draw, dtype=torch.float64):
    """A series with room for `B` windows of length `T`, each with a value after it."""
    return draw.like((draw.sizes.B + draw.sizes.T,), dtype=dtype)


@recorded
@computed_once
def reference(series, window):
    places = torch.arange(len(series) - window)
    return series[places[:, None] + torch.arange(window), None], series[places + window, None]


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns x (windows, window, 1) and y (windows, 1), with n - window windows."""
    sizes = sizes.but(B=13)  # more than a window has values
    series = series_of(draw.at(sizes))
    answer = submission.make_windows(series, sizes.T)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], torch.Tensor):
        count = len(answer[0]) if answer[0].dim() else 0
        if count == sizes.B + 1:
            fail(
                f"`x` holds {count} windows of a series of {len(series)} values; expected {sizes.B}. Is "
                "there a value after the last of your windows?"
            )
        if count == sizes.B - 1:
            fail(
                f"`x` holds {count} windows of a series of {len(series)} values; expected {sizes.B}. Does "
                "one more fit, with the last value of the series as its target?"
            )
        if count != sizes.B and answer[0].shape[1:] in ((sizes.T,), (sizes.T, 1)):
            fail(
                f"`x` holds {count} windows of a series of {len(series)} values; expected {sizes.B}. How far "
                "does each window move on from the one before?"
            )
    expect(answer, reference(series, sizes.T), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_windows_and_next_values(submission, sizes, draw):
    """Each window holds consecutive values in order, and its target is the one after its last."""
    series = series_of(draw)
    answer, (x, y) = submission.make_windows(series, sizes.T), reference(series, sizes.T)
    windows, targets = expect(answer, (x, y), **RESULTS, sizes=sizes, values=False)
    if torch.equal(windows.double(), x) and torch.equal(targets.double(), x[:, -1]):
        fail(
            "The windows are right, but each target is the last value of its own window: a model would only "
            "have to copy it. The target is the value after the window."
        )
    expect(answer, (x, y), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_windows_and_next_values)
def test_any_size(submission, sizes, draw):
    """It works for windows of one value, for a single window, and for long series."""
    calls = [
        (context, other, (series_of(draw.at(other)), other.T))
        for other, context in (
            (sizes.but(T=1), "with a window of one value"),
            (sizes.but(B=1), "with a series that has room for a single window"),
            (sizes.but(B=1, T=1), "with a series of two values and a window of one"),
            (sizes.but(B=4, T=4), "with as many windows as values in one"),
            (sizes.but(B=draw.size(60, 130)), "with a longer series"),
            (sizes.but(B=draw.size(31, 40), T=draw.size(41, 90)), "with a long window"),
        )
    ]
    scaled = far_apart(series_of(draw), 0)
    calls.append(("with numbers from very small to very large", sizes, (scaled, sizes.T)))
    expect_each(submission.make_windows, reference, calls, **RESULTS)


@points(0)
@rule("gradient")
@needs(test_windows_and_next_values)
def test_gradients(submission, sizes, draw):
    """Gradients flow from the windows and the targets back to the series."""
    for other, context in (
        (sizes.but(B=draw.size(31, 70), T=draw.size(13, 40)), "with several windows"),
        (sizes.but(B=1, T=1), "with a single window of one value"),
    ):
        task, arguments = submission.make_windows, (series_of(draw.at(other)), other.T)
        with case(context), if_right(task, arguments, reference(*arguments), **RESULTS, sizes=other):
            expect_gradients(task, reference, arguments, names=("series",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the series is the dtype of the windows and of the targets."""
    expect_dtypes(submission.make_windows, (series_of(draw), sizes.T), names=RESULTS["names"])


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the series on a GPU the windows and targets are there, too."""
    expect_device_neutral(submission.make_windows, (series_of(draw), sizes.T), names=RESULTS["names"])


@points(0)
@rule("mutation")
@needs(test_shape)
def test_series_untouched(submission, sizes, draw):
    """The series is the same after the call as before."""
    arguments = (series_of(draw), sizes.T)
    expect_untouched(submission.make_windows.run(arguments), arguments, ("series", "window"))
