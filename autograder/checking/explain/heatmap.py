"""The picture of a wrong result: which two of its dimensions show a pattern, and how far off it is where.

There is one only where it says more than a sentence: some part is right and some is not, and the
wrong numbers stand together. Scattered ones, or all of them, make no picture.
"""

from __future__ import annotations

from itertools import combinations

import torch

from autograder.checking.explain.evidence import Axis, Difference
from autograder.checking.inputs.sizes import Sizes

ROWS, COLUMNS = 12, 24
"""Cells that a picture has at most, either way."""
_STEPS = (0.1, 0.5)
"""Above which parts of the largest difference a level is 2 and 3."""


def difference(
    name: str, seen: torch.Tensor, wanted: torch.Tensor, apart: torch.Tensor, dims: str, sizes: Sizes
) -> Difference | None:
    """The picture of a difference, `None` where there is no pattern to show.

    `apart` is true where the two, of one shape with the dimensions `dims`, as `"B T 2H"`, do not agree.
    """
    letters = dims.split()
    known = sizes.dimensions
    axes = [at for at, dim in enumerate(letters) if dim[-1] in known and seen.shape[at : at + 1] > (1,)]
    if len(letters) != apart.dim() or not apart.any():
        return None
    best: tuple[int, int] | None = None
    for pair in combinations(axes, 2):
        mask = _over_others(apart, pair)
        if _shows_a_pattern(mask) and (best is None or _right(mask) > _right(_over_others(apart, best))):
            best = pair
    if best is None:
        return None
    goes_across = letters[best[0]] in known and known[letters[best[0]]].across
    row, column = best[::-1] if goes_across else best
    levels = _over_others(_levels(seen, wanted, apart), best)
    levels = levels if row < column else levels.T
    rows, columns = (
        _axis(letters[row], levels.shape[0], ROWS, sizes),
        _axis(letters[column], levels.shape[1], COLUMNS, sizes),
    )
    cells = tuple(
        tuple(
            int(levels[_cut(rows, here)][:, _cut(columns, there)].max())
            for there in range(len(columns.starts))
        )
        for here in range(len(rows.starts))
    )
    return Difference(name, rows, columns, cells)


def _over_others(values: torch.Tensor, pair: tuple[int, int]) -> torch.Tensor:
    """The largest value along every dimension but two."""
    others = [at for at in range(values.dim()) if at not in pair]
    return values.amax(dim=others) if others else values


def _right(mask: torch.Tensor) -> float:
    return float((~mask).double().mean())


def _shows_a_pattern(mask: torch.Tensor) -> bool:
    """Return whether some is right, some is wrong, and along one side the wrong ones stand together.

    A handful of cells is no picture: the message has said it.
    """
    if mask.all() or max(mask.shape) < 4:
        return False
    return any(
        lines.shape[1] > 2 and bool((lines.int().diff(dim=1, prepend=_zeros(lines)).eq(1).sum(1) <= 1).all())
        for lines in (mask, mask.T)
    )


def _zeros(lines: torch.Tensor) -> torch.Tensor:
    return torch.zeros(lines.shape[0], 1, dtype=torch.int)


def _levels(seen: torch.Tensor, wanted: torch.Tensor, apart: torch.Tensor) -> torch.Tensor:
    far = (seen.detach().to(torch.float64) - wanted.detach().to(torch.float64)).abs()
    finite = torch.isfinite(far)
    largest = far[finite & apart].max() if (finite & apart).any() else torch.tensor(1.0)
    part = torch.where(finite, far / largest, 1.0)
    return torch.where(apart, 1 + sum((part > step).int() for step in _STEPS), 0)


def _axis(dim: str, size: int, most: int, sizes: Sizes) -> Axis:
    """The dimension's cells; each stands for as many indices of one block as it takes to have few enough."""
    blocks = int(dim[:-1] or 1)
    length = size // blocks
    together = 1
    while blocks * -(-length // together) > most and together < length:
        together += 1
    starts = [block * length + at for block in range(blocks) for at in range(0, length, together)]
    one = sizes.dimensions[dim[-1]].one if blocks == 1 else ""
    return Axis(sizes.spell(dim), size, blocks, tuple(starts), one)


def _cut(axis: Axis, cell: int) -> slice:
    covered = axis.covered(cell)
    return slice(covered.start, covered.stop)
