"""Recognition of wrong numbers: right ones in other places, scaled, moved by a constant, or unfinished.

Everything that is said here has been computed: done backwards, it gives the right numbers to tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import elu, gelu, hardsigmoid, hardtanh, silu, softplus, softsign

from autograder.checking.inputs.draw import Sizes

Alike = Callable[[torch.Tensor, torch.Tensor], bool]
"""Says whether two tensors of one shape agree to tolerance."""

_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "square": torch.square,
}
_OTHERS = {
    **{name: _FUNCTIONS[name] for name in ("sigmoid", "tanh", "relu")},
    "hardsigmoid": hardsigmoid,
    "hardtanh": hardtanh,
    "softsign": softsign,
    "gelu": gelu,
    "silu": silu,
    "elu": elu,
    "softplus": softplus,
}
"""Functions that may be taken for the right one."""
_POWERS = {
    1.0: "the size of {}",
    -1.0: "1 divided by the size of {}",
    -0.5: "1 divided by the square root of the size of {}",
}
"""Factors that come from a size, by its power."""
_MOST_PLACES = 12
"""Indices of a dimension that are told apart."""
_MOST_DECIMALS = 6
"""Decimals that rounded numbers may have: more are within the tolerance."""
_FEW_PLACES = 5
"""Indices that are told one by one: of more, the first ones show the pattern."""
_MOST_TIMES = 30
"""A whole factor up to which it is told of a single number: a larger one may fit by chance."""


def recognize(seen: torch.Tensor, right: torch.Tensor, dims: str, sizes: Sizes, alike: Alike) -> str:
    """Return a sentence about what turns wrong numbers into the right ones, `""` if nothing known does.

    `seen` and `right` are of one shape with the dimensions `dims`, as `"B T 2H"`, and of float64.
    """
    letters = dims.split()
    if len(letters) != seen.dim() or not torch.isfinite(seen).all() or not torch.isfinite(right).all():
        return ""
    looks = (_constant, _rounded, _moved, _multiplied, _scaled, _unfinished, _exchanged, _limited, _scattered)
    return next(filter(None, (look(seen, right, letters, sizes, alike) for look in looks)), "")


def _constant(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize numbers that are all zero, or the same along a dimension where the right ones are not."""
    if seen.numel() < 2:
        return ""
    if not seen.any():
        return "They are all 0: do you ever write to the result, or to what it is computed from?"
    along = [
        _called(letter, sizes)
        for at, letter in enumerate(letters)
        if seen.shape[at] > 1 and _is_constant(seen, at, alike) and not _is_constant(right, at, alike)
    ]
    return f"They do not change along {along[0]}, but they should." if along else ""


def _is_constant(values: torch.Tensor, at: int, alike: Alike) -> bool:
    return alike(values, values.narrow(at, 0, 1).expand_as(values))


def _rounded(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize the right numbers with a few decimals."""
    for decimals in range(_MOST_DECIMALS + 1):
        if (decimals > 1 or seen.numel() >= 4) and alike(seen, right.round(decimals=decimals)):
            places = {0: "whole numbers", 1: "one decimal"}.get(decimals, f"{decimals} decimals")
            return f"They are the right numbers rounded to {places}."
    return ""


def _moved(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize the right numbers in another order along one dimension, or with two dimensions exchanged."""
    for at, letter in enumerate(letters):
        told = _reordered(seen, right, at, letter, sizes, alike)
        if told:
            return told
    for first in range(seen.dim()):
        for second in range(first + 1, seen.dim()):
            if seen.shape[first] == seen.shape[second] and alike(seen.transpose(first, second), right):
                return f"They are the right numbers with dimensions {first} and {second} swapped."
    return ""


def _reordered(
    seen: torch.Tensor, right: torch.Tensor, at: int, letter: str, sizes: Sizes, alike: Alike
) -> str:
    size, name = seen.shape[at], _called(letter, sizes)
    if size < 2:
        return ""
    if size > 2 and alike(seen.flip(at), right):
        return f"They are the right numbers in reverse order along {name}."
    blocks = int(letter[:-1] or 1) if letter[-1] in sizes.dimensions else 1
    if blocks > 1:
        order = _order(seen, right, at, blocks, alike)
        if order:
            return (
                f"They are the right numbers with the {blocks} blocks of {name} in another order, "
                f"{_where(order)}."
            )
    order = _order(seen, right, at, size, alike) if blocks == 1 and size <= _MOST_PLACES else []
    if order:
        return f"They are the right numbers in another order along {name}, {_where(order)}."
    if size > 2 and alike(seen.narrow(at, 1, size - 1), right.narrow(at, 0, size - 1)):
        return f"Along {name} each number is one place too late."
    if size > 2 and alike(seen.narrow(at, 0, size - 1), right.narrow(at, 1, size - 1)):
        return f"Along {name} each number is one place too early."
    return ""


def _order(seen: torch.Tensor, right: torch.Tensor, at: int, parts: int, alike: Alike) -> list[int]:
    """Return which of the right parts stands in each place, `[]` unless each stands somewhere once."""
    theirs, ours = right.chunk(parts, at), seen.chunk(parts, at)
    order = [next((n for n, other in enumerate(theirs) if alike(mine, other)), -1) for mine in ours]
    return order if sorted(order) == list(range(parts)) else []


def _where(order: Sequence[int]) -> str:
    """Say which of the right parts stand in which places; of many places, in the first ones."""
    shown = order[:_FEW_PLACES]
    more = ", …" if len(shown) < len(order) else ""
    places, there = ", ".join(map(str, range(len(shown)))), ", ".join(map(str, shown))
    return f"{there}{more} in place of {places}{more}"


def _multiplied(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize one number, or a few, as the right ones times a whole number, or divided by one."""
    if seen.numel() >= 4 or not right.all() or not seen.any():
        return ""  # of more numbers any factor can be told
    one = seen.numel() == 1
    verb, it = ("It is", "it") if one else ("They are", "they")
    if alike(-seen, right):
        return f"{verb} right but for the sign."
    for times in range(2, _MOST_TIMES + 1):
        for factor, told in ((float(times), f"{times} times"), (1 / times, f"1/{times} of")):
            if alike(seen / factor, right):
                return f"{verb} {told} what {it} should be{_as_size(factor, sizes)}."
    return ""


def _scaled(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize the right numbers times a factor, or with the same number added to each."""
    if seen.numel() < 4:
        return ""  # so few fit by chance
    factor = float((seen * right).sum() / right.square().sum()) if right.any() else 0.0
    if factor and alike(seen / factor, right):
        if abs(factor + 1) < 1e-6:
            return "They are the right numbers with the opposite sign."
        return f"Each is the right number times {factor:.3g}{_as_size(factor, sizes)}."
    apart = float((seen - right).mean())
    if alike(seen - apart, right):
        return f"Each is too {'large' if apart > 0 else 'small'} by the same {abs(apart):.3g}."
    return ""


def _as_size(factor: float, sizes: Sizes) -> str:
    """Say which size, or one divided by it, a factor is, if it is only one's."""
    of_sizes = [(size, sizes.spell(letter)) for letter, size in sizes.by_letter().items()]
    for power, told in _POWERS.items():
        found = [name for size, name in of_sizes if size > 1 and abs(factor - size**power) < 1e-6]
        if len(found) == 1:
            return f", {told.format(found[0])}"
    return ""


def _unfinished(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize numbers that only a function is missing from, or that went through one too many."""
    if seen.numel() < 4:
        return ""
    for name, function in _FUNCTIONS.items():
        if alike(function(seen), right):
            return f"Applying `{name}` to them would give the right numbers."
        if name != "square" and alike(function(right), seen):
            return f"They are the right numbers after one `{name}` too many."
    for at, letter in enumerate(letters):
        if seen.shape[at] < 2:
            continue
        along = f"along {_called(letter, sizes)}"
        for name, along_one in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
            if alike(along_one(seen, at), right):
                return f"Applying `{name}` {along} to them would give the right numbers."
            if alike(along_one(right, at), seen):
                return f"They are the right numbers after one `{name}` {along} too many."
    return ""


def _exchanged(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize numbers that went through another function than the right ones."""
    if seen.numel() < 4:
        return ""
    for wanted, backwards in (("tanh", torch.atanh), ("sigmoid", torch.logit)):
        before = backwards(right)
        for name, function in _OTHERS.items() if torch.isfinite(before).all() else ():
            if name == wanted:
                continue
            through = function(before)
            if alike(through, seen):
                return f"They went through `{name}` where `{wanted}` would give the right ones."
            if alike(_FUNCTIONS[wanted](through), seen):
                return (
                    f"They went through `{name}` and then through `{wanted}`, where `{wanted}` alone would "
                    "give the right ones."
                )
    return ""


def _limited(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize numbers that are right but for a limit."""
    if seen.numel() < 4:
        return ""
    low, high = float(seen.min()), float(seen.max())
    if low < high and alike(right.clamp(low, high), seen):
        below, above = bool((right < low).any()), bool((right > high).any())
        where = [f"below {low:.4g}"] * below + [f"above {high:.4g}"] * above
        return f"Only numbers that should be {' or '.join(where)} are wrong: do you clip or limit something?"
    return ""


def _scattered(
    seen: torch.Tensor, right: torch.Tensor, letters: Sequence[str], sizes: Sizes, alike: Alike
) -> str:
    """Recognize the right numbers in other places altogether."""
    if seen.dim() > 1 and alike(seen.reshape(-1).sort().values, right.reshape(-1).sort().values):
        return (
            "All the right numbers are there, in the wrong places: put there by an index, by `flip`, or by "
            "`reshape` or `view`? Those two never swap dimensions; `transpose` and `permute` do."
        )
    return ""


def _called(letter: str, sizes: Sizes) -> str:
    return sizes.spell(letter) if letter[-1] in sizes.dimensions else f"the dimension of size {letter}"
