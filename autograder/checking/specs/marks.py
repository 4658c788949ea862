"""The keywords that every check of a specification takes, and the function that it becomes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TypedDict

from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.submission import Submission
from autograder.checking.runner import marks
from autograder.protocol.without import Without

CheckFunction = Callable[[Submission, Sizes, Draw], None]
"""A check, as pytest calls it."""


class Marks(TypedDict, total=False):
    """The marks of a check, as keywords: what docstring and decorators say of a plain function."""

    title: str
    points: float
    needs: Sequence[str | Callable[..., None]]
    hidden: str
    teaching_only: bool


def as_check(
    method: str, body: CheckFunction, usual_title: str, told: Marks, without: Without | None = None
) -> CheckFunction:
    """Return the body, which pytest collects under the name it is assigned to, marked as a check.

    `method` is the method of the specification, which has its rule; the title becomes the docstring. Raises
    `TypeError` or `ValueError` where a mark makes no sense.
    """
    unknown = set(told) - set(Marks.__annotations__)
    if unknown:
        raise TypeError(
            f"{unknown.pop()!r} is no mark of a check: these are {', '.join(Marks.__annotations__)}"
        )
    if isinstance(told.get("needs"), str):
        raise TypeError(f"`needs` takes a list of checks: [{told['needs']!r}]")
    made: Any = body
    made.__doc__ = told.get("title", usual_title)
    made.autograder_written_at = _authors_line()
    marks.rule(marks.RULE_OF_METHOD[method])(made)
    marks.points(told.get("points", 0))(made)
    marks.needs(*told.get("needs", ()))(made)
    if "hidden" in told:
        marks.hidden(told["hidden"])(made)
    if told.get("teaching_only"):
        marks.teaching_only(made)
    if without is not None:
        marks.without(without)(made)
    return body


def stated_dimensions() -> Dimensions:
    """Return the `DIMENSIONS` of the file whose statement is running, or those where a file states none."""
    stated = authors_frame().f_globals.get("DIMENSIONS", RECURRENT)
    if not isinstance(stated, Dimensions):
        raise TypeError(
            f"`DIMENSIONS` has to be `Dimensions(…)`, not an object of type {type(stated).__name__}"
        )
    return stated


def _authors_line() -> tuple[str, int]:
    """Return the file and line of the statement that makes a check."""
    frame = authors_frame()
    return frame.f_code.co_filename, frame.f_lineno


def authors_frame() -> FrameType:
    """Return the first frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame
