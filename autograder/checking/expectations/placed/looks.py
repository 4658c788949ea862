"""The one rule for looking at numbers: what is returned may not depend on it, and then it costs nothing.

A call that looked (`print`, `assert`, `.item()`, `.tolist()`, `.cpu()`, `if`) is made again, and its looks
are answered otherwise (worker/tracing/looks.py). Where it then returns something else, or cannot go on,
numbers that Python has read are a part of the result. A guard that raises has done what guards are for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograder.checking.remote.observations import Placed
from autograder.protocol.events import Event, Line
from autograder.protocol.looks import AS_IT_IS, WAYS

Again = Callable[[int, Sequence[Line | None] | None], Placed]
"""Makes the call once more: the way to answer looks, and at which lines; at all with `None`."""

CLOSE = {torch.float64: (1e-7, 1e-9), torch.float32: (1e-4, 1e-5)}
"""The tolerances, relative and absolute, within which nothing has changed."""


def counting(looks: Sequence[Event], again: Again) -> Event | None:
    """The first of a call's looks that what it returns depends on; `None` if there is none."""
    if not looks:
        return None
    lines = list(dict.fromkeys(event.line for event in looks))
    true = again(AS_IT_IS, None)
    if true.error is not None:
        return looks[0]
    told: set[Line | None] = set()
    ended: set[Line | None] = set()
    together, alone = lines, list[Line | None]()
    """The lines that can be looked into together, and those whose guards would stop before the others."""
    for way in range(WAYS):
        seen = again(way, together)
        found = [(line, again(way, [line])) for line in alone]
        if seen.error is None and same(true, seen):
            told |= _lines_deceived(seen)
            ended |= _lines_deceived(seen)
        elif len(together) == 1:
            found.append((together[0], seen))
        else:
            for line in together:
                found.append((line, again(way, [line])))
                if _counts(true, found[-1][1]):
                    return _at(line, looks)
            alone += [line for line, one in found if _guarded(one) and line not in alone]
            together = [line for line in lines if line not in alone] or lines[:1]
        for line, one in found:
            if _counts(true, one):
                return _at(line, looks)
            told |= _lines_deceived(one)
            if one.error is None or _guarded(one):
                ended |= _lines_deceived(one)
        if _counts(true, seen):  # only all of them together change it, as in `if a and b`
            return looks[0]
    return next((event for event in looks if event.line in told - ended), None)


def _counts(true: Placed, seen: Placed) -> bool:
    """Return whether a call that ended returned something else."""
    return seen.error is None and not same(true, seen)


def _lines_deceived(seen: Placed) -> set[Line | None]:
    """The lines whose looks got to see other numbers."""
    return {event.line for event in seen.events if event.kind == "told"}


def _at(line: Line | None, looks: Sequence[Event]) -> Event:
    return next(event for event in looks if event.line == line)


def _guarded(seen: Placed) -> bool:
    """Return whether the student's own code stopped the call."""
    return any(event.kind == "guard" for event in seen.events)


def same(one: Placed, other: Placed) -> bool:
    """Return whether two calls that ended returned the same, gradients too, and left the same behind."""
    return _alike(
        [one.value, one.inputs, one.parameters, one.places],
        [other.value, other.inputs, other.parameters, other.places],
    )


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and one.dtype is other.dtype and _close(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, (bool, int, str, type(None))):
        return type(one) is type(other) and one == other
    if isinstance(one, float) and isinstance(other, float):
        return _close(torch.tensor(one, dtype=torch.float64), torch.tensor(other, dtype=torch.float64))
    return type(one) is type(other)  # an object that stays where it is


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    rtol, atol = CLOSE.get(one.dtype, (1e-3, 1e-4))
    return torch.allclose(one, other, rtol, atol, equal_nan=True)
