"""Looks for the right numbers in other places."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checking.recognition.wrong import Wrong

_MOST_PLACES = 12
"""Indices of a dimension that are told apart."""
_FEW_PLACES = 5
"""Indices that are told one by one: of more, the first ones show the pattern."""


def constant(wrong: Wrong) -> str:
    """Recognize numbers that are all zero, or the same along a dimension where the right ones are not."""
    seen = wrong.seen
    if seen.numel() == 1 and not seen.any():
        return "It is 0, and the right number is not: do you round it, or is nothing ever added to it?"
    if seen.numel() < 2:
        return ""
    if not seen.any():
        return "They are all 0: do you ever write to the result, or to what it is computed from?"
    for at, size in enumerate(seen.shape):
        if size > 1 and _is_constant(wrong, seen, at) and not _is_constant(wrong, wrong.right, at):
            return f"They do not change along {wrong.called(at)}, but they should."
    return ""


def moved(wrong: Wrong) -> str:
    """Recognize the right numbers in another order along one dimension, or with two dimensions exchanged."""
    seen, right = wrong.seen, wrong.right
    for at in range(seen.dim()):
        if told := _reordered(wrong, at):
            return told
    for first in range(seen.dim()):
        for second in range(first + 1, seen.dim()):
            if seen.shape[first] == seen.shape[second] and wrong.alike(seen.transpose(first, second), right):
                return f"They are the right numbers with dimensions {first} and {second} swapped."
    return ""


def scattered(wrong: Wrong) -> str:
    """Recognize the right numbers in other places altogether."""
    in_order = (values.reshape(-1).sort().values for values in (wrong.seen, wrong.right))
    if wrong.seen.dim() > 1 and wrong.alike(*in_order):
        return (
            "All the right numbers are there, in the wrong places: put there by an index, by `flip`, or by "
            "`reshape` or `view`? Those two never swap dimensions; `transpose` and `permute` do."
        )
    return ""


def _is_constant(wrong: Wrong, values: torch.Tensor, at: int) -> bool:
    return wrong.alike(values, values.narrow(at, 0, 1).expand_as(values))


def _reordered(wrong: Wrong, at: int) -> str:
    seen, right, alike = wrong.seen, wrong.right, wrong.alike
    size, name, letter = seen.shape[at], wrong.called(at), wrong.letters[at]
    if size < 2:
        return ""
    if size > 2 and alike(seen.flip(at), right):
        return f"They are the right numbers in reverse order along {name}."
    blocks = int(letter[:-1] or 1) if letter[-1] in wrong.sizes.dimensions else 1
    if blocks > 1:
        order = _order(wrong, at, blocks)
        if order:
            return (
                f"They are the right numbers with the {blocks} blocks of {name} in another order, "
                f"{_where(order)}."
            )
    order = _order(wrong, at, size) if blocks == 1 and size <= _MOST_PLACES else []
    if order:
        return f"They are the right numbers in another order along {name}, {_where(order)}."
    if size > 2 and alike(seen.narrow(at, 1, size - 1), right.narrow(at, 0, size - 1)):
        return f"Along {name} each place holds the number that belongs one place before it."
    if size > 2 and alike(seen.narrow(at, 0, size - 1), right.narrow(at, 1, size - 1)):
        return f"Along {name} each place holds the number that belongs one place after it."
    return ""


def _order(wrong: Wrong, at: int, parts: int) -> list[int]:
    """Return which of the right parts stands in each place, `[]` unless each stands somewhere once."""
    theirs, ours = wrong.right.chunk(parts, at), wrong.seen.chunk(parts, at)
    order = [next((n for n, other in enumerate(theirs) if wrong.alike(mine, other)), -1) for mine in ours]
    return order if sorted(order) == list(range(parts)) else []


def _where(order: Sequence[int]) -> str:
    """Say which of the right parts stand in which places; of many places, in the first ones."""
    shown = order[:_FEW_PLACES]
    more = ", …" if len(shown) < len(order) else ""
    places, there = ", ".join(map(str, range(len(shown)))), ", ".join(map(str, shown))
    return f"{there}{more} in place of {places}{more}"
