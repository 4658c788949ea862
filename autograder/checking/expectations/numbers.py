"""Expectations of plain numbers: counts, and numbers with a fraction."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words


def expect_count(seen: Any, wanted: int, *, name: str, known: Iterable[tuple[int, str]] = ()) -> None:
    """Expect a whole number, an `int`, and this one.

    `name` begins the message, as in "The number of parameters". `known` are numbers that mistakes give, each
    with a sentence about it, which is told only where no other sentence belongs to the same number. Raises
    `CheckFailed` for anything else, `True` and a float without a fraction among it.

        seen = submission.count_weights(3, 4)
        expect_count(seen, 12, name="The number of weights", known=[(7, "Is something added?")])
    """
    expect_whole(seen)
    if seen == wanted:
        return
    told = {sentence for number, sentence in known if number == seen}
    why = f" {told.pop()}" if len(told) == 1 else ""
    fail(f"{name} is {seen}, too {'few' if seen < wanted else 'many'}.{why}")


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


def expect_number(seen: Any, wanted: float, *, name: str, tolerance: float = 1e-6) -> None:
    """Expect a plain number, an `int` or a `float`, and this one but for a relative `tolerance`.

    `name` begins the message, as in "The perplexity". Raises `CheckFailed` for anything else; a tensor of one
    number is told apart from other things.

        expect_number(submission.perplexity(2.0), math.exp(2.0), name="The perplexity")
    """
    if isinstance(seen, torch.Tensor) and seen.numel() == 1:
        fail("Expected a plain number; you returned a tensor that holds one. `.item()` takes it out.")
    if isinstance(seen, bool) or not isinstance(seen, (int, float)):
        why = " Is a `return` missing?" if seen is None else ""
        fail(f"Expected a plain number; you returned {_told(seen)}.{why}")
    if math.isclose(seen, wanted, rel_tol=tolerance, abs_tol=1e-12):
        return
    if not math.isfinite(seen):
        fail(f"{name} is {seen}, which is not a finite number.")
    fail(f"{name} is {seen:.6g}, too {'small' if seen < wanted else 'large'}.")


def _told(seen: Any) -> str:
    return "nothing (`None`)" if seen is None else in_words(seen)
