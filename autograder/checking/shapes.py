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
    slip = _slip(seen, wanted, dims)
    return f"{said} {slip}" if slip else said


def _both(shape: tuple[int, ...], dims: str, sizes: Sizes, *, known: bool = False) -> str:
    words = f"({', '.join(spell(dim) for dim in dims.split())})" if known else sizes.name(shape, dims)
    return f"{words} = {tuple(shape)}" if words != f"({', '.join(map(str, shape))})" else f"{tuple(shape)}"


def spell(dim: str) -> str:
    """`4H` as `4·hidden`."""
    if dim.isdigit():
        return dim
    return f"{dim[:-1]}·{NAMES[dim[-1]]}" if dim[:-1] else NAMES[dim[-1]]


def _slip(seen: tuple[int, ...], wanted: tuple[int, ...], dims: str) -> str:
    names = [spell(dim) for dim in dims.split()]
    if len(seen) == len(wanted) and sorted(seen) == sorted(wanted):
        return (
            "The dimensions are all there, in another order: swap them with `permute` or `transpose` "
            "(a `reshape` would mix the numbers)."
        )
    if len(seen) == len(wanted) - 1:
        for position in range(len(wanted)):
            if wanted[:position] + wanted[position + 1 :] == seen:
                return (
                    f"The {names[position]} dimension is missing: was it squeezed, summed, or indexed away?"
                )
        for position in range(len(wanted) - 1):
            merged = wanted[position] * wanted[position + 1]
            if (*wanted[:position], merged, *wanted[position + 2 :]) == seen:
                return (
                    f"{names[position].capitalize()} and {names[position + 1]} have run together into one "
                    "dimension: `stack` makes a new dimension, `cat` lengthens one that is there."
                )
    if len(seen) == len(wanted) + 1:
        for position in range(len(seen)):
            if seen[:position] + seen[position + 1 :] == wanted:
                extra = f"an extra dimension of size {seen[position]} at position {position}"
                return f"There is {extra}: index it away or do not create it."
    if len(seen) == len(wanted) and math.prod(seen) == math.prod(wanted):
        return (
            "As many numbers as expected, but arranged otherwise: along which dimension are the parts joined?"
        )
    if not seen:
        return "You returned a single number: look for a sum or mean over everything."
    return ""
