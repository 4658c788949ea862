"""Sizes that tell every dimension from every other, and shapes in words."""

from __future__ import annotations

import random
from typing import Any

from autograder.checking.inputs.dimensions import Dimensions, spelled
from autograder.checking.inputs.recurrent import RECURRENT


class Sizes:
    """Sizes of the dimensions: `sizes.B` is the batch's, as `draw("B T")` uses it.

    The letters are those of the file's `DIMENSIONS`; where it states none, `B` batch, `T` time, `D` features,
    `H` hidden, `L` layers and `V` vocabulary. A check gets them as `sizes`: all different, so
    that a wrong shape can be read by name. A letter that there is not raises `AttributeError`.

        one = sizes.but(B=1)
        x = draw.at(one)("B T D")
        assert one.shape("L B 4H") == (one.L, 1, 4 * one.H)
    """

    __slots__ = ("_sizes", "dimensions", "letters")

    def __init__(self, dimensions: Dimensions = RECURRENT, /, **sizes: int) -> None:
        if sizes.keys() != dimensions.keys():
            raise ValueError(
                f"there is a size for each of {', '.join(dimensions)}, not for {', '.join(sizes)}"
            )
        self.dimensions: Dimensions
        """The dimensions that the letters stand for."""
        self._sizes: dict[str, int]
        self.letters: frozenset[str]
        """The letters whose names messages may use: all, or those of one task."""
        object.__setattr__(self, "dimensions", dimensions)
        object.__setattr__(self, "letters", frozenset(dimensions))
        object.__setattr__(self, "_sizes", {letter: sizes[letter] for letter in dimensions})

    @classmethod
    def drawn(cls, source: random.Random, time: int = 5, dimensions: Dimensions = RECURRENT) -> Sizes:
        """Draw sizes; `time` is that of what is carried on from index to index."""
        return cls(dimensions, **dimensions.drawn(source, time))

    def __getattr__(self, letter: str) -> int:
        if letter.startswith("_") or letter not in self._sizes:
            raise AttributeError(f"no dimension {letter!r}")
        return self._sizes[letter]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"sizes are not changed: sizes.but({name}={value!r}) gives others")

    def by_letter(self) -> dict[str, int]:
        """Return the sizes by their letters."""
        return dict(self._sizes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sizes) and self._sizes == other._sizes

    def __hash__(self) -> int:
        return hash(tuple(self._sizes.items()))

    def __repr__(self) -> str:
        return f"Sizes({', '.join(f'{letter}={size}' for letter, size in self._sizes.items())})"

    def but(self, **sizes: int) -> Sizes:
        """Return the same sizes but for the ones given, as in `sizes.but(B=1)`."""
        return Sizes(self.dimensions, **{**self._sizes, **sizes}).of(self.letters)

    def of(self, letters: frozenset[str]) -> Sizes:
        """Return the same sizes, of which messages name the dimensions with these letters only."""
        other = Sizes(self.dimensions, **self._sizes)
        object.__setattr__(other, "letters", letters)
        return other

    def shape(self, dims: str) -> tuple[int, ...]:
        """Return the shape of dimensions written as `"L B H"` or `"4H D"`; a plain number stands for itself.

        Raises `ValueError`, which names the letters, for anything else.
        """
        try:
            return tuple(map(self._size, dims.split()))
        except KeyError as unknown:
            raise ValueError(_unknown(unknown.args[0], dims, self.dimensions)) from None

    def _size(self, dim: str) -> int:
        if dim.isdecimal():  # `²`, too, is a digit
            return int(dim)
        factor, letter = dim[:-1], dim[-1]
        if letter not in self._sizes or not (factor.isdecimal() or not factor):
            raise KeyError(dim)
        return (int(factor) if factor else 1) * self._sizes[letter]

    def name(self, shape: tuple[int, ...], expected: str) -> str:
        """Return a shape in words, `names` in brackets."""
        return f"({', '.join(self.names(shape, expected))})" if shape else "(a single number)"

    def names(self, shape: tuple[int, ...], expected: str) -> list[str]:
        """Return each size of a shape as the name of the only dimension that has it, else as a number."""
        dims = zip(self.dims(shape, expected), shape, strict=True)
        return [self.spell(dim) if dim else str(size) for dim, size in dims]

    def spell(self, dim: str) -> str:
        """Return a dimension in words: `4H` as `4·hidden`, a plain number as it stands."""
        return spelled(dim, self.dimensions)

    def dims(self, shape: tuple[int, ...], expected: str) -> list[str]:
        """Return each size of a shape as the only dimension that has it, as in `"4H"`, else as `""`."""
        written = {dim[-1] for dim in expected.split() if not dim.isdigit()}
        # More or fewer dimensions: one that says little in a shape of the right rank may have been added.
        other_rank = len(shape) != len(expected.split())
        known: dict[int, set[str]] = {}
        for letter, each in self.dimensions.items():
            if letter not in written and letter not in self.letters:
                continue
            if each.incidental and letter not in written and not (other_rank and each.multiples):
                continue
            may_repeat = letter in written or not each.incidental
            for factor in ("", *map(str, each.multiples)) if may_repeat else ("",):
                known.setdefault(self._size(factor + letter), set()).add(factor + letter)
        return [next(iter(known[size])) if len(known.get(size, ())) == 1 else "" for size in shape]


def spell(dim: str) -> str:
    """Return a dimension of recurrent networks in words: `4H` as `4·hidden`, a plain number as it stands.

    `dim` is one dimension, as `dims` have several; `sizes.spell` knows others. Raises `KeyError` for an
    unknown letter.

        fail(f"Expected the shape ({', '.join(map(spell, 'B T 4H'.split()))}).")  # (batch, time, 4·hidden)
    """
    return spelled(dim, RECURRENT)


def _unknown(dim: str, dims: str, dimensions: Dimensions) -> str:
    letters = [f"{letter} ({each.name})" for letter, each in dimensions.items()]
    told = letters[0] if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"
    return (
        f"There is no dimension `{dim}` in {dims!r}. The letters are {told}; a number may stand before one, "
        "as in `2H`, or alone"
    )
