"""Reads wrong shapes by name, and says which operation would explain them."""

from __future__ import annotations

import math

from autograder.checking.draw import NAMES, Sizes


def explain_shape(name: str, seen: tuple[int, ...], dims: str, sizes: Sizes) -> str:
    """Say what shape was seen and expected, in names where sizes tell, with the likely slip."""
    wanted = sizes.shape(dims)
    said = (
        f"`{name}` has shape {_both(seen, dims, sizes)}; expected {_both(wanted, dims, sizes, known=True)}."
    )
    slip = _slip(seen, dims, sizes)
    return f"{said} {slip}" if slip else said


def _both(shape: tuple[int, ...], dims: str, sizes: Sizes, *, known: bool = False) -> str:
    words = f"({', '.join(spell(dim) for dim in dims.split())})" if known else sizes.name(shape, dims)
    return f"{words} = {tuple(shape)}" if words != f"({', '.join(map(str, shape))})" else f"{tuple(shape)}"


def spell(dim: str) -> str:
    """`4H` as `4·hidden`."""
    if dim.isdigit():
        return dim
    return f"{dim[:-1]}·{NAMES[dim[-1]]}" if dim[:-1] else NAMES[dim[-1]]


def _slip(seen: tuple[int, ...], dims: str, sizes: Sizes) -> str:
    """The operation that would explain the shape, and what to look for; `""` if none is known."""
    wanted, names = sizes.shape(dims), [_called(dim) for dim in dims.split()]
    if not seen:
        return "You returned a single number: look for a sum or mean over everything."
    difference = len(seen) - len(wanted)
    if difference == 0:
        return _reordered(seen, wanted, names) or _longer(seen, wanted, names)
    if difference == -1:
        return _lost(seen, wanted, names) or _merged(seen, wanted, names)
    if difference == 1:
        return _gained(seen, wanted, dims, sizes)
    if difference < 0 and seen == tuple(size for size in wanted if size != 1):
        return (
            "Every dimension of size 1 is gone: `squeeze()` without a dimension takes them all, whatever "
            "they mean. Name the one that is to go."
        )
    return ""


def _called(dim: str) -> str:
    return f"size-{dim}" if dim.isdigit() else spell(dim)


def _reordered(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    if seen == wanted or sorted(seen) != sorted(wanted):
        return ""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) == 2:
        said = f"The {names[apart[0]]} and {names[apart[1]]} dimensions have changed places"
    else:
        said = "The dimensions are all there, in another order"
    return (
        f"{said}: `transpose` or `permute` puts them right (a `reshape` would give the shape and mix "
        "the numbers)."
    )


def _longer(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    """One dimension has another size, or two share a product."""
    apart = [position for position in range(len(wanted)) if seen[position] != wanted[position]]
    if len(apart) == 1:
        position = apart[0]
        got, right, name = seen[position], wanted[position], names[position]
        if right > 1 and got == right - 1:
            return (
                f"One is missing along {name}: does a loop or a slice end, or begin, one too early or late?"
            )
        if got == right + 1:
            return f"There is one too many along {name}: was the start, or the end, put in as well?"
        if right > 1 and got and got % right == 0:
            return (
                f"Along {name} there are {got // right} times as many as there should be: parts were joined "
                "there with `cat`, or never taken apart."
            )
        if got > 1 and right % got == 0:
            return (
                f"Along {name} there is one part of {right // got}: are the others still to be joined to it?"
            )
        if got == 1:
            return f"Along {name} there is only one: was one taken, or a mean, where all are asked for?"
    if apart and math.prod(seen) == math.prod(wanted):
        return (
            "As many numbers as expected, but arranged otherwise: along which dimension are the parts joined?"
        )
    return ""


def _lost(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    gone = [p for p in range(len(wanted)) if wanted[:p] + wanted[p + 1 :] == seen]
    if not gone:
        return ""
    if len(gone) > 1 or wanted[gone[0]] == 1:
        return (
            f"The {names[gone[0]]} dimension is missing, which has size {wanted[gone[0]]} here: `squeeze()` "
            "takes away dimensions of size 1, and so does an index."
        )
    return f"The {names[gone[0]]} dimension is missing: was it squeezed, summed, or indexed away?"


def _merged(seen: tuple[int, ...], wanted: tuple[int, ...], names: list[str]) -> str:
    for position in range(len(wanted) - 1):
        merged = wanted[position] * wanted[position + 1]
        if (*wanted[:position], merged, *wanted[position + 2 :]) == seen:
            return (
                f"{names[position].capitalize()} and {names[position + 1]} have run together into one "
                "dimension: `stack` makes a new dimension, `cat` lengthens one that is there."
            )
    return ""


def _gained(seen: tuple[int, ...], wanted: tuple[int, ...], dims: str, sizes: Sizes) -> str:
    for position in range(len(seen)):
        if seen[:position] + seen[position + 1 :] == wanted:
            size = seen[position]
            name = sizes.name((size,), dims).strip("(,)") if size > 1 else "1"
            if name.isdigit():
                extra = f"an extra dimension of size {size} at position {position}"
                return f"There is {extra}: index it away or do not create it."
            return (
                f"There is an extra {name} dimension at position {position}: one of its {size} is asked for, "
                "or something of all of them."
            )
    return ""
