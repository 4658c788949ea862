"""Seeded inputs, and sizes that tell every dimension from every other."""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from autograder.checking.inputs.dimensions import Dimensions, spelled
from autograder.checking.inputs.recurrent import RECURRENT

Module = TypeVar("Module", bound=nn.Module)
Drawn = TypeVar("Drawn")
Other = tuple[torch.Tensor, torch.Tensor]
"""A drawn tensor, and the one of its shape and dtype to be given in its place."""


class Sizes:
    """Sizes of the dimensions: `sizes.B` is the batch's, as `draw("B T")` uses it.

    The letters are those of the file's `DIMENSIONS`; where it states none, `B` batch, `T` time, `D` features,
    `H` hidden, `L` layers and `V` vocabulary. A check gets them as `sizes`: small numbers, all different, so
    that a wrong shape can be read by name. A letter that there is not raises `AttributeError`.

        one = sizes.but(B=1)
        x = draw.at(one)("B T D")
        assert one.shape("L B 4H") == (one.L, 1, 4 * one.H)
    """

    __slots__ = ("_sizes", "dimensions")

    def __init__(self, dimensions: Dimensions = RECURRENT, /, **sizes: int) -> None:
        if sizes.keys() != dimensions.keys():
            raise ValueError(
                f"there is a size for each of {', '.join(dimensions)}, not for {', '.join(sizes)}"
            )
        self.dimensions: Dimensions
        """The dimensions that the letters stand for."""
        self._sizes: dict[str, int]
        object.__setattr__(self, "dimensions", dimensions)
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
        return Sizes(self.dimensions, **{**self._sizes, **sizes})

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


class Draw:
    """Inputs for one check: the same seed and check give the same inputs, on every machine.

    A check gets it as `draw`. Calling it draws a tensor of dimensions, of float64, normally distributed
    around 0. After `again` it gives what it gave before: the very same tensors, so that a class of hundreds
    costs the drawing once, and what was computed from them can be known by them. One that a check has written
    into meanwhile is drawn anew. Raises `ValueError` for an unknown dimension.

        x, w = draw("B T D"), draw("4H D", spread=0.5)
        tokens, steps = draw.ints("B T", sizes.V), draw.size(30, 45)
        parameters = draw.named({"W": (sizes.D, sizes.H), "b": (sizes.H,)}, spread=0.5)
        gru = draw.module(nn.GRU, sizes.D, sizes.H, sizes.L, batch_first=True)
    """

    def __init__(self, seed: int, label: str, sizes: Sizes) -> None:
        self.sizes = sizes
        digest = hashlib.blake2b(f"{seed}:{label}".encode(), digest_size=7).digest()
        self._numbers = _Numbers(int.from_bytes(digest, "big"))
        self.letters: set[str] = set()
        """The dimensions of everything drawn so far."""

    def again(self) -> Draw:
        """Begin from the first number."""
        self._numbers.begin()
        self.letters.clear()
        return self

    def with_others(self, others: Sequence[Other]) -> Draw:
        """Begin from the first number, and give other tensors in place of those that are equal to some.

        A module comes as a copy then, so that its parameters can be others.
        """
        self.again()
        self._numbers.others = tuple(others)
        return self

    def has_drawn(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor is equal to one that was drawn."""
        return self._numbers.has(tensor)

    def at(self, sizes: Sizes) -> Draw:
        """Return a draw from the same source of numbers at other sizes."""
        other = Draw.__new__(Draw)
        other.sizes, other._numbers, other.letters = sizes, self._numbers, self.letters
        return other

    def __call__(self, dims: str, *, dtype: torch.dtype = torch.float64, spread: float = 1.0) -> torch.Tensor:
        """Return normally distributed values of the shape written in dimensions, as `draw("B T D")`.

        `spread` is their standard deviation.
        """
        self.letters.update(dims)
        return self.like(self.sizes.shape(dims), dtype=dtype, spread=spread)

    def like(
        self, shape: tuple[int, ...] | torch.Size, *, dtype: torch.dtype = torch.float64, spread: float = 1.0
    ) -> torch.Tensor:
        """Return normally distributed values of a shape in numbers; `spread` is their standard deviation."""

        shape = tuple(shape)
        return self._numbers.give(
            (shape, dtype, spread), lambda generator: _normal(generator, shape, dtype, spread)
        )

    def named(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        *,
        dtype: torch.dtype = torch.float64,
        spread: float = 1.0,
    ) -> dict[str, torch.Tensor]:
        """Return values as `like` does, for every name its own: parameters of a module of the student's."""
        every = tuple(shapes.items())

        def drawn(generator: torch.Generator) -> dict[str, torch.Tensor]:
            return {name: _normal(generator, shape, dtype, spread) for name, shape in every}

        return dict(self._numbers.give((every, dtype, spread), drawn))

    def strided(self, dims: str, *, dtype: torch.dtype = torch.float64, spread: float = 1.0) -> torch.Tensor:
        """Return values as a call does, laid out in memory with the dimensions in reverse: not contiguous."""
        reverse = " ".join(reversed(dims.split()))
        return self(reverse, dtype=dtype, spread=spread).permute(*reversed(range(len(dims.split()))))

    def ints(self, dims: str, high: int) -> torch.Tensor:
        """Return whole numbers in [0, high), int64."""
        self.letters.update(dims)
        shape = self.sizes.shape(dims)
        return self._numbers.give(
            (shape, high), lambda generator: torch.randint(high, shape, generator=generator)
        )

    def size(self, low: int, high: int) -> int:
        """Draw one whole number, from `low` to `high`: a size of its own, for a look at one thing."""
        drawn = self._numbers.give(
            (low, high), lambda generator: torch.randint(low, high + 1, (), generator=generator)
        )
        return int(drawn)

    def module(
        self, build: Callable[..., Module], *args: Any, dtype: torch.dtype = torch.float64, **kwargs: Any
    ) -> Module:
        """Return one of torch's modules with every parameter drawn: no bias is zero, no two are alike."""

        def drawn(generator: torch.Generator) -> Module:
            made = build(*args, **kwargs).to(dtype)
            with torch.no_grad():
                for parameter in made.parameters():
                    values = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                    parameter.copy_(values.to(dtype) * 0.5)
            return made

        return self._numbers.give((build, args, kwargs, dtype), drawn)


def _normal(
    generator: torch.Generator, shape: tuple[int, ...], dtype: torch.dtype, spread: float
) -> torch.Tensor:
    values = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    return values if spread == 1 else values * spread


class _Numbers:
    """The numbers drawn from one seed, in order."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generator = torch.Generator().manual_seed(seed)
        self._drawn: list[_Drawn[Any]] = []
        self._next = 0
        self.others: tuple[Other, ...] = ()

    def begin(self) -> None:
        self._next, self.others = 0, ()

    def has(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor is equal to one of those that were drawn."""
        return any(_same(each, tensor) for kept in self._drawn for each in _tensors(kept.value))

    def give(self, what: Any, draw: Callable[[torch.Generator], Drawn]) -> Drawn:
        """The next of the numbers. `what` says all that `draw` depends on besides the generator."""
        value = self._give(what, draw)
        return _with_others(value, self.others) if self.others else value

    def _give(self, what: Any, draw: Callable[[torch.Generator], Drawn]) -> Drawn:
        if self._next < len(self._drawn):
            kept = self._drawn[self._next]
            if kept.what == what and kept.seen == _seen(kept.value):
                self._next += 1
                return kept.value
            self._drop_the_rest()
        value = draw(self._generator)
        self._drawn.append(_Drawn(what, draw, value, _seen(value)))
        self._next += 1
        return value

    def _drop_the_rest(self) -> None:
        """Forget what comes after this point, and bring the generator to where it was."""
        del self._drawn[self._next :]
        self._generator.manual_seed(self._seed)
        for kept in self._drawn:
            kept.draw(self._generator)


@dataclass(frozen=True)
class _Drawn(Generic[Drawn]):
    """A tensor, tensors by name or a module, as they were drawn."""

    what: Any
    draw: Callable[[torch.Generator], Drawn]
    value: Drawn
    seen: Any
    """Its state when it was drawn: by this it is known that nobody has changed it since."""


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def _tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors of what was drawn; a module's are its parameters."""
    if isinstance(value, nn.Module):
        return list(value.parameters())
    return [value] if isinstance(value, torch.Tensor) else list(value.values())


def _with_others(value: Any, others: Sequence[Other]) -> Any:
    """Return what was drawn with other tensors for those that are equal to some; the same if none are."""
    given = [next((new for old, new in others if _same(each, old)), None) for each in _tensors(value)]
    if all(new is None for new in given):
        return value
    if isinstance(value, nn.Module):
        value = copy.deepcopy(value)
        with torch.no_grad():
            for parameter, new in zip(value.parameters(), given, strict=True):
                parameter.copy_(parameter if new is None else new)
        return value
    if isinstance(value, torch.Tensor):
        return given[0]
    return {
        name: each if new is None else new for (name, each), new in zip(value.items(), given, strict=True)
    }


def _seen(value: Any) -> Any:
    """Return what changes when a tensor, or a module, is written into, trained, or put to other use."""
    if isinstance(value, torch.Tensor):
        return value._version, value.requires_grad
    if isinstance(value, dict):
        return list(map(_seen, value.values()))
    return (
        value.training,
        [(id(tensor), *_seen(tensor), id(tensor.grad)) for tensor in value.parameters()],
        [(id(tensor), *_seen(tensor)) for tensor in value.buffers()],
        {name: id(part) for name, part in vars(value).items()},
    )
