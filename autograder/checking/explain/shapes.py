"""Reads wrong shapes by name, and says which operation would explain them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from autograder.checking.explain.evidence import Dimension, Shape, shapes_told
from autograder.checking.inputs.dimensions import plural
from autograder.checking.inputs.sizes import Sizes


class Elsewhere(NamedTuple):
    """The shape that the same result had at other sizes."""

    shape: tuple[int, ...]
    sizes: Sizes


def explain_shape(
    name: str, seen: tuple[int, ...], dims: str, sizes: Sizes, elsewhere: Elsewhere | None = None
) -> str:
    """Say what shape was seen and expected, in names where sizes tell, with the likely slip.

    With what was seen `elsewhere` only the names and the slip are told that hold there, too: two sizes may
    be alike by chance.
    """
    said = shapes_told(*read_shapes(name, seen, dims, sizes, elsewhere))
    slips = _slips(seen, dims, sizes, products=elsewhere is not None)
    if elsewhere is not None:
        there = {
            _without_numbers(slip) for slip in _slips(elsewhere.shape, dims, elsewhere.sizes, products=True)
        }
        slips = [slip for slip in slips if _without_numbers(slip) in there]
    return f"{said} {slips[0]}" if slips else said


def read_shapes(
    name: str, seen: tuple[int, ...], dims: str, sizes: Sizes, elsewhere: Elsewhere | None = None
) -> tuple[Shape, Shape]:
    """The shape seen and the one expected, each dimension with its name where the size tells it."""
    read = _read(seen, dims, sizes)
    if elsewhere is not None and len(elsewhere.shape) == len(seen):
        there = _read(elsewhere.shape, dims, elsewhere.sizes)
        read = [one if one == other else "" for one, other in zip(read, there, strict=True)]
    return (
        Shape(name, _dimensions(read, seen, sizes)),
        Shape(name, _dimensions(dims.split(), sizes.shape(dims), sizes)),
    )


def _without_numbers(slip: str) -> str:
    return re.sub(r"\d+", "", slip)


def _dimensions(dims: Sequence[str], shape: tuple[int, ...], sizes: Sizes) -> tuple[Dimension, ...]:
    return tuple(
        Dimension(sizes.spell(dim) if dim and not dim.isdigit() else "", size)
        for dim, size in zip(dims, shape, strict=True)
    )


def _read(shape: tuple[int, ...], dims: str, sizes: Sizes) -> list[str]:
    """Return the shape's dimensions, `""` for those that a size has by chance: 4 steps are no `2·features`.

    Only hidden units and layers come in multiples; a size that is half, or one off, is the expected one,
    miscounted.
    """
    if not shape:
        return []
    wanted = sizes.shape(dims)
    letters = dims.split()
    apart = [p for p in range(len(wanted)) if len(shape) == len(wanted) and shape[p] != wanted[p]]
    near = {p: (0, 1, wanted[p] - 1, wanted[p] + 1, wanted[p] // 2) for p in apart}
    off = {p for p in apart if len(apart) == 1 and shape[p] in near[p]}
    read = sizes.dims(shape, dims)
    for position in range(len(read)):
        if len(shape) == len(wanted) and position not in apart:
            read[position] = letters[position]
        elif position in off or (position in apart and _by_chance(read[position], letters[position], sizes)):
            read[position] = ""
    return read


def _by_chance(read: str, wanted: str, sizes: Sizes) -> bool:
    """Return whether a size is a multiple of a dimension by chance: it is where a single one is wanted."""
    return bool(read[:-1]) and wanted in sizes.dimensions and not sizes.dimensions[wanted].multiples


def _slips(seen: tuple[int, ...], dims: str, sizes: Sizes, *, products: bool) -> list[str]:
    """The operations that would explain the shape, with what to look for, the likeliest first.

    With `products` a size may be that of two dimensions together, which is often so by chance.
    """
    wanted, names = sizes.shape(dims), [_called(dim, sizes) for dim in dims.split()]
    if not wanted and set(seen) == {1}:
        return [
            "The single number that is expected is there, with a dimension of size 1 around it: look for a "
            "`keepdim`, a `view` or an `unsqueeze`, or for a sum or a mean over too few dimensions."
        ]
    if not wanted:
        return ["A single number is expected: is a sum or a mean missing?"]
    if not seen:
        if set(wanted) == {1}:
            return ["It has lost all its dimensions: a `squeeze()` or an index removed too many."]
        return ["You returned a single number: look for a sum, a mean or an index too many."]
    told: list[str] = []
    match len(seen) - len(wanted):
        case 0:
            told = [
                _reordered(seen, wanted, names),
                _counted_along(seen, wanted, dims, sizes),
                _product(seen, wanted, names, dims, sizes) if products else "",
                _longer(seen, wanted, names, dims, sizes),
                _only_one(seen, wanted, names),
            ]
        case -1:
            told = [
                _lost(seen, wanted, names),
                _lost_and_moved(seen, wanted, names),
                _merged(seen, wanted, names),
            ]
        case 1:
            told = [_gained(seen, wanted, dims, sizes), _split(seen, wanted)]
        case _ if seen == tuple(size for size in wanted if size != 1):
            told = [
                "Every dimension of size 1 is gone: `squeeze()` without a dimension removes all of them, "
                "whatever they mean. Name the one you want to remove."
            ]
    return [slip for slip in told if slip]


def _called(dim: str, sizes: Sizes) -> str:
    return f"size-{dim}" if dim.isdigit() else sizes.spell(dim)


def _reordered(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    if seen == wanted or sorted(seen) != sorted(wanted):
        return ""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) == 2:
        said = f"The {names[apart[0]]} and {names[apart[1]]} dimensions are swapped"
    else:
        said = "The dimensions are all there, in another order"
    told = (
        f"{said}. Is there a line that changes their order, perhaps long before the last one, or one that "
        "makes a tensor in this order? Or is the line missing that should change it?"
    )
    if any(names[position].startswith("size-") for position in apart):
        return told  # made by a `reshape`, perhaps, which then had its sizes in another order
    return (
        f"{told} `transpose` and `permute` swap dimensions; `reshape` and `view` swap none: they cut the "
        "numbers anew, to the sizes that they are given."
    )


def _counted_along(seen: tuple[int, ...], wanted: tuple[int, ...], dims: str, sizes: Sizes) -> str:
    """Say that another dimension is counted than the independent one, as time steps in place of sequences."""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) != 1 or seen[apart[0]] == 1:
        return ""
    known, size = sizes.dimensions, seen[apart[0]]
    right = known.get(dims.split()[apart[0]])
    if right is None or not right.independent or not right.one:
        return ""
    others = [
        each.one
        for letter, each in known.items()
        if each.ordered and letter in sizes.letters and _is_of(size, letter, sizes)
    ]
    if len(others) != 1 or not others[0]:
        return ""
    given, meant = plural(others[0]), plural(right.one)
    return f"It counts {given} where it should count {meant}: was one dimension taken for another?"


def _is_of(size: int, letter: str, sizes: Sizes) -> bool:
    """Return whether a size is this dimension's, or twice that where it has two for each index."""
    (one,) = sizes.shape(letter)
    return size == one or (sizes.dimensions[letter].innermost and size == 2 * one)


def _longer(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str], dims: str, sizes: Sizes) -> str:
    """One dimension has another size, or two share a product."""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) == 1:
        position = apart[0]
        got, right, name = seen[position], wanted[position], names[position]
        if right > 1 and got == right - 1:
            return f"One is missing along {name}: does a loop or a slice start too late, or stop too early?"
        if got == right + 1:
            return f"There is one too many along {name}: did you include the start or the end as well?"
        if right > 1 and got and got % right == 0:
            return (
                f"Along {name} there are {got // right} times as many as there should be: do you join parts "
                "there with `cat`, forget to split them, or collect in a list that has two names, or that is "
                "there since the call before?"
            )
        if got > 1 and right % got == 0:
            return (
                f"Along {name} there is one part of {right // got}: do you still have to join the others to "
                "it, or does a loop end too early?"
            )
        read = _read(seen, dims, sizes)
        other = read[position]
        if other in sizes.dimensions and read.count(other) == 1:
            return (
                f"It has the {sizes.spell(other)} dimension where the {name} dimension should be: is a size "
                "taken from the wrong tensor, or something indexed or summed along the wrong dimension?"
            )
        if 1 < got < right:
            return f"Along {name} there are {got} where there should be {right}: which are missing, and why?"
    if len(apart) == 2:
        for cut, whole in (apart, apart[::-1]):
            parts, rest = divmod(seen[whole], wanted[whole]) if wanted[whole] else (0, 0)
            halves = (wanted[cut] // parts, -(-wanted[cut] // parts)) if 1 < parts <= wanted[cut] else ()
            if not rest and wanted[cut] % max(parts, 1) and seen[cut] in halves:
                return (
                    f"Along {names[cut]} it has been cut into {parts} parts, along {names[whole]} it is "
                    "whole: functions that cut or join take a `dim`."
                )
    if apart and math.prod(seen) == math.prod(wanted):
        return "The right number of values, arranged differently: along which dimension do you join or split?"
    return ""


def _only_one(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    """One dimension has a single index."""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) != 1 or seen[apart[0]] != 1:
        return ""
    return (
        f"Along {names[apart[0]]} there is only one where there should be {wanted[apart[0]]}: is only one "
        "kept, or does a loop end too early?"
    )


def _product(
    seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str], dims: str, sizes: Sizes
) -> str:
    """One dimension has its size times that of another."""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) != 1 or wanted[apart[0]] < 2:
        return ""
    at = apart[0]
    times, rest = divmod(seen[at], wanted[at])
    own = dims.split()[at]
    others = [letter for letter, size in sizes.by_letter().items() if size == times > 1 and letter != own]
    if rest or len(others) != 1:
        return ""
    other = sizes.spell(others[0])
    return (
        f"Along {names[at]} there are {seen[at]}, which is {names[at]} · {other}: has the {other} dimension "
        "been joined into it, or been counted with it?"
    )


def _lost(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    gone = [p for p in range(len(wanted)) if wanted[:p] + wanted[p + 1 :] == seen]
    if not gone:
        return ""
    if len(gone) == 1 and names[gone[0]] == "size-1":
        return "The size-1 dimension is missing: `unsqueeze` makes one, an index or `squeeze()` removes one."
    if len(gone) > 1 or wanted[gone[0]] == 1:
        return (
            f"The {names[gone[0]]} dimension is missing, which has size {wanted[gone[0]]} here: `squeeze()` "
            "removes dimensions of size 1, and so does an index."
        )
    return f"The {names[gone[0]]} dimension is missing: was it squeezed, summed, or indexed away?"


def _lost_and_moved(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    for position, size in enumerate(wanted):
        if size == 1 and sorted(seen) == sorted(wanted[:position] + wanted[position + 1 :]):
            return (
                f"The {names[position]} dimension is missing, which has size 1 here: `squeeze()` removes "
                "dimensions of size 1, and the dimensions after it are then renumbered."
            )
    return ""


def _merged(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    for position in range(len(wanted) - 1):
        merged = wanted[position] * wanted[position + 1]
        if (*wanted[:position], merged, *wanted[position + 2 :]) == seen:
            return (
                f"{names[position].capitalize()} and {names[position + 1]} have merged into one dimension: "
                "`stack` creates a new dimension, `cat` lengthens an existing one."
            )
    return ""


def _split(seen: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    for position in range(len(seen) - 1):
        joined = (*seen[:position], seen[position] * seen[position + 1], *seen[position + 2 :])
        if joined == wanted:
            return (
                f"Two dimensions, at positions {position} and {position + 1}, stand where one is expected: "
                "`stack` creates a new dimension, `cat` lengthens an existing one."
            )
    return ""


def _gained(seen: tuple[int, ...], wanted: tuple[int, ...], dims: str, sizes: Sizes) -> str:
    for position in range(len(seen)):
        if seen[:position] + seen[position + 1 :] == wanted:
            size = seen[position]
            dim = sizes.dims((size,), dims)[0] if size > 1 else ""
            if not dim:
                extra = f"an extra dimension of size {size} at position {position}"
                return f"There is {extra}: remove it with an index, or do not create it."
            if dim in dims.split():
                word = sizes.spell(dim)
                return (
                    f"There are two {word} dimensions: each of the {size} is combined with all {size}. "
                    "Combine each only with itself, or remove one of the two dimensions."
                )
            return (
                f"There is an extra {sizes.spell(dim)} dimension at position {position}: the task wants one "
                f"of its {size} entries, or one result of them all."
            )
    return ""
