"""Says where two tensors differ: from which index on, in which of a dimension's indices, halves or blocks."""

from __future__ import annotations

import torch

from autograder.checking.inputs.dimensions import Dimension, Dimensions

_FILLED = 0.9
"""The least share of wrong numbers in slices that a message names: a few are right by chance."""


def located(apart: torch.Tensor, dims: str, dimensions: Dimensions) -> str:
    """Say where a mask is true, along the dimensions that it does not fill; `""` if it fills them all.

    `dims` names its dimensions, as `"B T 2H"`; a dimension with a factor is looked at block by block.
    """
    letters = dims.split()
    if len(letters) != apart.dim() or not apart.numel() or not _fills_slices(apart):
        return ""
    places = [
        _along(apart, position, dim[:-1], dimensions[dim[-1]])
        if dim[-1] in dimensions
        else _of_a_few(apart, position)
        for position, dim in enumerate(letters)
        if dim[-1] in dimensions or dim.isdigit()
    ]
    told = "; ".join(place for place in places if place)
    return f" ({told})" if told else ""


def ends_early(apart: torch.Tensor, dims: str, dimensions: Dimensions) -> bool:
    """Return whether a mask is true in the last index alone of a dimension that is ordered."""
    letters = dims.split()
    if len(letters) != apart.dim():
        return False
    for position, dim in enumerate(letters):
        known = dimensions.get(dim)
        if known is not None and known.ordered and not known.incidental and apart.shape[position] > 2:
            *earlier, last = _wrong_along(apart, position)
            if last and not any(earlier):
                return True
    return False


def _fills_slices(apart: torch.Tensor) -> bool:
    """Return whether a mask is true nearly everywhere in the slices that it touches."""
    touched = torch.ones_like(apart)
    for position in range(apart.dim()):
        others = [dim for dim in range(apart.dim()) if dim != position]
        touched &= apart.any(dim=others, keepdim=True) if others else apart
    return int(apart.sum()) >= _FILLED * int(touched.sum())


def _wrong_along(apart: torch.Tensor, position: int) -> list[bool]:
    """Return for each index along a dimension whether anything is wrong there."""
    others = [dim for dim in range(apart.dim()) if dim != position]
    found: list[bool] = (apart.any(dim=others) if others else apart).tolist()
    return found


def _of_a_few(apart: torch.Tensor, position: int) -> str:
    """Say where a mask is true along a dimension that has no name, as the 2 of two directions."""
    wrong = _wrong_along(apart, position)
    where = [str(index) for index, bad in enumerate(wrong) if bad]
    if len(where) == len(wrong) or len(where) > 2:
        return ""
    return f"only at index {' and '.join(where)} of dimension {position}"


def _along(apart: torch.Tensor, position: int, factor: str, dimension: Dimension) -> str:
    wrong = _wrong_along(apart, position)
    if all(wrong):
        return ""
    blocks = int(factor or 1)
    if blocks > 1:
        return _blocks(wrong, blocks, dimension)
    where = [index for index, bad in enumerate(wrong) if bad]
    if dimension.ordered and len(wrong) > 2 and where == [len(wrong) - 1]:
        return f"only in the last {dimension.one or dimension.name}, {where[0]}"
    if dimension.ordered and len(wrong) > 2 and where == list(range(len(wrong) - 1)):
        return f"in every {dimension.one or f'{dimension.name} index'} but the last"
    if dimension.ordered and len(where) > 1 and where == list(range(where[0], len(wrong))):
        return f"from {dimension.index(where[0])} on"
    if dimension.ordered and len(where) > 1 and where == list(range(where[-1] + 1)):
        return f"only until {dimension.index(where[-1])}"
    name = dimension.one or f"{dimension.name} index"
    right = [index for index, bad in enumerate(wrong) if not bad]
    if len(where) > len(right):
        return f"in every {name} but {', '.join(map(str, right))}" if len(right) <= 2 else ""
    listed = f"{', '.join(map(str, where[:4]))}{' …' if len(where) > 4 else ''}"
    plural = "s" if len(where) > 1 and dimension.one else ""
    return f"only in {name}{plural} {listed}"


def _blocks(wrong: list[bool], blocks: int, dimension: Dimension) -> str:
    """Name the blocks that are wrong: of `2H` the halves, of `2L` those of each layer."""
    size = len(wrong) // blocks
    if dimension.innermost:
        where = [index for index, bad in enumerate(wrong) if bad]
        rows = ", ".join(
            f"{index} ({dimension.index(index // blocks)}, part {index % blocks})" for index in where[:4]
        )
        return f"only in row{'s' if len(where) > 1 else ''} {rows}{' …' if len(where) > 4 else ''}"
    bad = [block for block in range(blocks) if any(wrong[block * size : (block + 1) * size])]
    if len(bad) == blocks:
        return ""
    if blocks == 2:
        half = ("first", "second")[bad[0]]
        called = f": {dimension.halves[bad[0]]}" if dimension.halves else ""
        return f"only in the {half} half of {dimension.name}{called}"
    return f"only in block{'s' if len(bad) > 1 else ''} {', '.join(map(str, bad))} of {blocks}"
