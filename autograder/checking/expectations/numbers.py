"""Expectations of plain numbers: counts, and numbers with a fraction."""

from __future__ import annotations

from typing import Any

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words


def expect_count(seen: Any, wanted: int, *, name: str) -> None:
    """Expect a whole number, an `int`, and this one.

    `name` begins the message, as in "The number of parameters". Raises `CheckFailed` for anything else,
    `True` and a float without a fraction among it.

        seen = submission.count_weights(3, 4)
        expect_count(seen, 12, name="The number of weights")
    """
    expect_whole(seen)
    if seen == wanted:
        return
    fail(f"{name} is {seen}, too {'few' if seen < wanted else 'many'}.")


def expect_whole(seen: Any) -> None:
    """Expect a whole number, an `int`, whichever it is.

    Raises `CheckFailed` for anything else, `True` and a float without a fraction among it.

        expect_whole(submission.count_weights(3, 4))
    """
    if type(seen) is int:
        return
    if type(seen) is float:
        fail(
            f"Expected an `int`; you returned the float {seen:.4g}. `/` and `math.pow` make floats; `//` and "
            "`**` keep whole numbers whole."
        )
    why = " Is a `return` missing?" if seen is None else ""
    fail(f"Expected an `int`; you returned {_told(seen)}.{why}")


def _told(seen: Any) -> str:
    return "nothing (`None`)" if seen is None else in_words(seen)
