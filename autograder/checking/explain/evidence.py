"""Evidence of a failure besides its text: the shapes seen and expected, and where values differ.

The text says everything by itself; this is for pages that can show it better. Nothing here holds an
expected number: a difference tells where and how far, in four steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it imports torch, which reading a verdict does not need
    from autograder.protocol.values import Json


@dataclass(frozen=True)
class Dimension:
    """One dimension of a shape; `name` is `""` where the size is that of no dimension known."""

    name: str
    size: int


@dataclass(frozen=True)
class Shape:
    """The shape of a result, dimension by dimension; `of` is the result's name."""

    of: str
    dimensions: tuple[Dimension, ...]

    def __str__(self) -> str:
        """`(batch, hidden) = (5, 7)`, or the numbers alone where none has a name."""
        numbers = str(tuple(dimension.size for dimension in self.dimensions))
        if not any(dimension.name for dimension in self.dimensions):
            return numbers if self.dimensions else f"(a single number) = {numbers}"
        return f"({', '.join(d.name or str(d.size) for d in self.dimensions)}) = {numbers}"

    def as_json(self) -> Json:
        return {"name": self.of, "shape": [[each.name, each.size] for each in self.dimensions]}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Shape:
        return cls(told["name"], tuple(Dimension(name, size) for name, size in told["shape"]))


@dataclass(frozen=True)
class Axis:
    """One side of the picture of a difference: a dimension, its indices put together where they are many."""

    name: str
    starts: tuple[int, ...]
    """The index that each cell begins with."""
    size: int
    """The number of indices that the dimension has."""
    blocks: int = 1
    """The number of equal parts that it consists of: of `2·hidden`, two."""
    one: str = ""
    """The word for one index, as "sequence"; `""` where there is none."""

    def covered(self, cell: int) -> range:
        """The indices that a cell stands for."""
        end = self.starts[cell + 1] if cell + 1 < len(self.starts) else self.size
        return range(self.starts[cell], end)

    def as_json(self) -> Json:
        return {
            "name": self.name,
            "size": self.size,
            "blocks": self.blocks,
            "starts": list(self.starts),
            "one": self.one,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Axis:
        return cls(told["name"], tuple(told["starts"]), told["size"], told["blocks"], told.get("one", ""))


@dataclass(frozen=True)
class Difference:
    """The places where a result is wrong: the largest difference along all other dimensions.

    A level is 0 where all is right, 1 to 3 by how far it is off, relative to the largest difference.
    """

    of: str
    rows: Axis
    columns: Axis
    levels: tuple[tuple[int, ...], ...]

    def as_json(self) -> Json:
        return {
            "name": self.of,
            "rows": self.rows.as_json(),
            "columns": self.columns.as_json(),
            "levels": [list(row) for row in self.levels],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Difference:
        rows, columns = Axis.from_json(told["rows"]), Axis.from_json(told["columns"])
        return cls(told["name"], rows, columns, tuple(map(tuple, told["levels"])))


@dataclass(frozen=True)
class Evidence:
    """The evidence of a failure: two shapes, or a difference."""

    seen: Shape | None = None
    expected: Shape | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class Prints:
    """The output of a student's code in one call: the call, in words, and the lines that it printed."""

    call: str
    text: str

    def as_json(self) -> dict[str, str]:
        return {"call": self.call, "text": self.text}


def shapes_told(seen: Shape, expected: Shape) -> str:
    """The sentence that the two shapes stand for."""
    return f"`{seen.of}` has shape {seen}; expected {expected}."
