"""Expectation of one of Python's plain values: a number, a list, a set, an array, a frame."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.checking.expectations.values import fail
from autograder.checking.explain.failure import CheckFailed
from autograder.checking.remote.as_python import Plain
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost
from autograder.protocol.values import Opaque

_SHOWN = 160
"""Characters of a value in a message."""
_PASSED_ON = (CheckFailed, StudentError, WorkerLost, NotDefined, NoAnswer)


def expect_equal(
    seen: Any, wanted: Any, call: str, *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Expect a plain value: a number, a text, a container, an array of numpy's, a frame of pandas.

    `call` is what was computed, as a student may write it: `"squares(2)"`. `seen` is the value, or a function
    that computes it, whose error is the answer's: `lambda: len(squares(2))`. Values are equal as Python has
    it, arrays and frames number by number. With `rtol` or `atol`, the relative and absolute difference
    allowed, they are numbers, and of one shape unless one of them is a single number. The message names the
    call, the value expected and the one that came. Raises `CheckFailed` for another value.

        squares = submission.squares.plain
        expect_equal(squares(2), [1, 4], "squares(2)")
        expect_equal(submission.mean.plain([1, 2, 4]), 7 / 3, "mean([1, 2, 4])", rtol=1e-9)
    """
    if callable(seen) and not isinstance(seen, (Opaque, Plain)):
        seen = computed(seen, call)
    is_close = rtol is not None or atol is not None
    if _close(seen, wanted, rtol or 0.0, atol or 0.0) if is_close else _equal(seen, wanted):
        return
    about = "about " if rtol or atol else ""
    fail(
        f"`{_cut(call)}` must be {about}{_told(wanted)}. It is {_told(seen)}.{_where(seen, wanted, is_close)}"
    )


def expect_table(seen: Any, wanted: Any, call: str, **options: Any) -> None:
    """Expect a frame or a series of pandas, as `pandas.testing` compares them.

    `seen` and `call` are as for `expect_equal`, `options` those of `assert_frame_equal` or
    `assert_series_equal`. The message says where the two differ. Raises `CheckFailed` for another table.

        wanted = pd.DataFrame({"shop": ["east"], "minutes": [20.0]})
        expect_table(submission.by_shop.plain(sales), wanted, "by_shop(sales)", check_dtype=False)
    """
    if callable(seen) and not isinstance(seen, (Opaque, Plain)):
        seen = computed(seen, call)
    kind = "series" if getattr(wanted, "ndim", 2) == 1 else "frame"
    same = getattr(importlib.import_module("pandas.testing"), f"assert_{kind}_equal")
    try:  # a frequency does not travel
        same(seen, wanted, **{"check_freq": False, **options})
    except AssertionError as error:
        told = str(error).replace("[left]:", "yours:").replace("[right]:", "expected:")
        fail(f"`{_cut(call)}` is not the table that is expected. {' '.join(told.split())}.")


def computed(function: Callable[[], Any], call: str) -> Any:
    """Return what is computed from an answer; an error on the way is the answer's and no fault of the check.

    `function` computes it, `call` is how a student may write it. Raises `CheckFailed` where it stops.

        total = computed(lambda: sum(submission.squares.plain(3)), "sum(squares(3))")
    """
    try:
        return function()
    except _PASSED_ON:
        raise
    except Exception as error:  # whatever an answer of another kind makes an expression trip over
        fail(
            f"`{_cut(call)}` cannot be computed from what your code returns: {type(error).__name__}: {error}."
        )


def _equal(seen: Any, wanted: Any) -> bool:
    if "pandas" in (_library(seen), _library(wanted)):  # where `==` gives a table
        return type(seen) is type(wanted) and bool(wanted.equals(seen))
    if isinstance(seen, (np.ndarray, torch.Tensor)) or isinstance(wanted, (np.ndarray, torch.Tensor)):
        try:
            return bool(np.array_equal(np.asarray(seen), np.asarray(wanted)))
        except (TypeError, ValueError, CheckFailed):
            return False
    if isinstance(wanted, (list, tuple)) and type(seen) is type(wanted):
        return len(seen) == len(wanted) and all(map(_equal, seen, wanted))
    if isinstance(wanted, dict) and type(seen) is dict:
        return seen.keys() == wanted.keys() and all(_equal(seen[key], wanted[key]) for key in wanted)
    return bool(seen == wanted)


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _close(seen: Any, wanted: Any, rtol: float, atol: float) -> bool:
    try:
        one, other = np.asarray(seen), np.asarray(wanted)
        if one.dtype.kind not in "biufc" or other.dtype.kind not in "biufc":
            return bool(np.array_equal(one, other))
        alike = one.shape == other.shape or not one.ndim or not other.ndim
        return alike and bool(np.allclose(one, other, rtol, atol, equal_nan=True))
    except (TypeError, ValueError, CheckFailed):
        return False


def _where(seen: Any, wanted: Any, is_close: bool) -> str:
    """Return the first place where two values differ, if they are long and that helps."""
    if seen is None and wanted is not None:
        return " Is a `return` missing?"
    if not is_close and type(seen) is not type(wanted) and _told(seen) == _told(wanted):
        return f" The one is of type {type(wanted).__name__}, the other {type(seen).__name__}."
    if is_close or not isinstance(seen, (list, tuple, str)) or type(seen) is not type(wanted):
        return ""
    if len(seen) != len(wanted):
        return f" It has {len(seen)} parts and not {len(wanted)}."
    at = next((at for at, pair in enumerate(zip(seen, wanted, strict=True)) if not _equal(*pair)), None)
    if at is None or len(seen) < 4:
        return ""
    return f" They differ first at index {at}: {_told(wanted[at])} and {_told(seen[at])}."


def _told(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.what
    return f"`{_repr(value)}`"


def _repr(value: Any) -> str:
    return _cut(repr(value.item() if isinstance(value, np.generic) else value))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"
