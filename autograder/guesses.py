"""`reveal`: what a reader guessed before a demonstration ran, beside what happened. Nothing is graded."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from numbers import Number
from typing import Any

HAPPENED = "application/vnd.autograder.happened+json"
"""The MIME type of what happened in a demonstration's output: the report reads it in the solved notebook."""


def reveal(guess: Any, happened: Mapping[str, Any]) -> None:
    """Show a line for each entry of `happened`: what was guessed, and what it is.

    `guess` is the dict of the cell above, entry by entry `True` or `False`, a number or a shape, `None` for
    no guess. A number is right that is within a tenth of what happened. An entry that is missing, or a
    `guess` that is no dict, counts as no guess: no guess stops a cell.

        guess = {"the loss falls below 0.1": None, "steps until then": 40}
        reveal(guess, {"the loss falls below 0.1": True, "steps until then": 125})
    """
    guesses = guess if isinstance(guess, Mapping) else {}
    width = max(map(len, happened), default=0)
    lines = []
    for entry, value in happened.items():
        mine, seen = plain(guesses.get(entry)), plain(value)
        told = "no guess"
        if is_guess(mine):
            told = f"you thought {_words(mine)}: {'right' if is_right(mine, seen) else 'a surprise'}"
        lines.append(f"{entry:{width}}  {_words(seen):>10}   ({told})")
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        from IPython.display import display

        values = {entry: plain(value) for entry, value in happened.items()}
        display({"text/plain": "\n".join(lines), HAPPENED: values}, raw=True)
    else:
        print("\n".join(lines))


def is_guess(value: Any) -> bool:
    """Return whether a value is `True` or `False`, a number that can be printed, or a tuple of some."""
    if isinstance(value, tuple):
        return len(value) <= 9 and all(map(is_guess, value))
    if isinstance(value, int):
        return value.bit_length() <= 64
    return isinstance(value, float) and math.isfinite(value)


def is_right(mine: Any, seen: Any) -> bool:
    """Return whether a guess is what happened, a number within a tenth of it; `True` is no number."""
    if isinstance(mine, bool) or isinstance(seen, bool) or not _are_numbers(mine, seen):
        return type(mine) is type(seen) and bool(mine == seen)
    return bool(mine == seen or abs(mine - seen) <= 0.1 * abs(seen))


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, Number) and not isinstance(value, complex) for value in values)


def plain(value: Any) -> Any:
    """Return a scalar of torch's or numpy's as Python's, a list or a shape as a tuple."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return value.item()
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def _words(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
