"""Evidence of a failure besides its text: the shapes seen and expected, and where values differ.

The text says everything by itself; this is for pages that can show it better. Nothing here holds an
expected number: a difference tells where and how far, in four steps.
"""

from __future__ import annotations

from msgspec import Struct, field


class Dimension(Struct, frozen=True, array_like=True):
    """One dimension of a shape; `name` is `""` where the size is that of no dimension known."""

    name: str
    size: int


class Shape(Struct, frozen=True):
    """The shape of a result, dimension by dimension."""

    of: str = field(name="name")
    """The result's name."""
    dimensions: tuple[Dimension, ...] = field(name="shape")

    def __str__(self) -> str:
        """`(batch, hidden) = (5, 7)`, or the numbers alone where none has a name."""
        numbers = str(tuple(dimension.size for dimension in self.dimensions))
        if not any(dimension.name for dimension in self.dimensions):
            return numbers if self.dimensions else f"(a single number) = {numbers}"
        return f"({', '.join(d.name or str(d.size) for d in self.dimensions)}) = {numbers}"


class Axis(Struct, frozen=True):
    """One side of the picture of a difference: a dimension, its indices put together where they are many."""

    name: str
    size: int
    """The number of indices that the dimension has."""
    blocks: int
    """The number of equal parts that it consists of: of `2·hidden`, two."""
    starts: tuple[int, ...]
    """The index that each cell begins with."""
    one: str = ""
    """The word for one index, as "sequence"; `""` where there is none."""

    def covered(self, cell: int) -> range:
        """The indices that a cell stands for."""
        end = self.starts[cell + 1] if cell + 1 < len(self.starts) else self.size
        return range(self.starts[cell], end)


class Difference(Struct, frozen=True):
    """The places where a result is wrong: the largest difference along all other dimensions.

    A level is 0 where all is right, 1 to 3 by how far it is off, relative to the largest difference.
    """

    of: str = field(name="name")
    rows: Axis
    columns: Axis
    levels: tuple[tuple[int, ...], ...]


class Evidence(Struct, frozen=True):
    """The evidence of a failure: two shapes, or a difference."""

    seen: Shape | None = None
    expected: Shape | None = None
    difference: Difference | None = None


class Prints(Struct, frozen=True):
    """The output of a student's code in one call: the call, in words, and the lines that it printed."""

    call: str
    text: str


def shapes_told(seen: Shape, expected: Shape) -> str:
    """The sentence that the two shapes stand for."""
    return f"`{seen.of}` has shape {seen}; expected {expected}."
