"""Looks for the right numbers times a factor, moved by an amount, or rounded."""

from __future__ import annotations

import torch

from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.wrong import Wrong

_POWERS = {
    1.0: "the size of {}",
    -1.0: "1 divided by the size of {}",
    -0.5: "1 divided by the square root of the size of {}",
}
"""Factors that come from a size, by its power."""
_MOST_DECIMALS = 6
"""Decimals that rounded numbers may have: more are within the tolerance."""
_MOST_TIMES = 30
"""A whole factor up to which it is told of a single number: a larger one may fit by chance."""
_LEAST = 1e-6
"""The difference from which on two factors are not the same."""


def rounded(wrong: Wrong) -> str:
    """Recognize the right numbers with a few decimals. Zeros alone are no sign of that."""
    least = 0 if wrong.are_many else 2  # a single number may have so few by chance
    fitting = [
        decimals
        for decimals in range(least, _MOST_DECIMALS + 1)
        if wrong.seen.any() and wrong.alike(wrong.seen, wrong.right.round(decimals=decimals))
    ]
    if not fitting:
        return _cut_off(wrong)
    places = {0: "whole numbers", 1: "one decimal"}.get(fitting[0], f"{fitting[0]} decimals")
    one = wrong.seen.numel() == 1
    they = "It is the right number" if one else "They are the right numbers"
    return f"{they} rounded to {places if len(fitting) == 1 else 'a few decimals'}."


def _cut_off(wrong: Wrong) -> str:
    """Recognize right numbers without what stands behind the point."""
    if not wrong.are_many or not wrong.seen.any():
        return ""
    if wrong.alike(wrong.seen, wrong.right.floor()):
        return "They are the right numbers rounded down to whole numbers: is something divided with `//`?"
    if wrong.alike(wrong.seen, wrong.right.trunc()):
        return "They are the right numbers without their decimals: do you use `.long()` or `int(…)`?"
    return ""


def multiplied(wrong: Wrong) -> str:
    """Recognize one number, or a few, as the right ones times a whole number, or divided by one."""
    seen, right = wrong.seen, wrong.right
    if wrong.are_many or not right.all() or not seen.any():
        return ""  # of more numbers any factor can be told
    one = seen.numel() == 1
    verb, it = ("It is", "it") if one else ("They are", "they")
    if wrong.alike(-seen, right):
        return f"{verb} right but for the sign."
    for times in range(2, _MOST_TIMES + 1):
        for factor, told in ((float(times), f"{times} times"), (1 / times, f"1/{times} of")):
            if wrong.alike(seen / factor, right):
                return f"{verb} {told} what {it} should be{as_size(factor, wrong.sizes)}."
    return ""


def scaled(wrong: Wrong) -> str:
    """Recognize the right numbers times a factor, or with the same number added to each."""
    if not wrong.are_many:
        return ""
    factor = factor_of(wrong.seen, wrong.right)
    if factor and wrong.alike(wrong.seen / factor, wrong.right):
        if abs(factor + 1) < _LEAST:
            return "They are the right numbers with the opposite sign."
        return f"Each is the right number times {factor:.3g}{as_size(factor, wrong.sizes)}."
    apart = float((wrong.seen - wrong.right).mean())
    if wrong.alike(wrong.seen - apart, wrong.right):
        return f"Each is too {'large' if apart > 0 else 'small'} by the same {abs(apart):.3g}."
    return ""


def factor_of(seen: torch.Tensor, right: torch.Tensor) -> float:
    """Return the factor by which `right` comes nearest to `seen`, 0 where `right` is all zero."""
    return float((seen * right).sum() / right.square().sum()) if right.any() else 0.0


def as_size(factor: float, sizes: Sizes) -> str:
    """Say which size, or one divided by it, a factor is, if it is only one's.

    A factor of two or a half is more often one that somebody wrote than a size.
    """
    of_sizes = [(size, sizes.spell(letter)) for letter, size in sizes.by_letter().items()]
    for power, told in _POWERS.items():
        found = [name for size, name in of_sizes if size > 2 and abs(factor - size**power) < _LEAST]
        if len(found) == 1:
            return f", {told.format(found[0])}"
    return ""
