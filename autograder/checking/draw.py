"""Seeded inputs, and sizes that tell every dimension from every other."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import nn

Module = TypeVar("Module", bound=nn.Module)

NAMES = {"B": "batch", "T": "time", "D": "features", "H": "hidden", "L": "layers", "V": "vocabulary"}
"""The course's letters for dimensions, and how they are called in messages."""


@dataclass(frozen=True)
class Sizes:
    """One size for each dimension, all different, so that a wrong shape can be read by name."""

    B: int
    T: int
    D: int
    H: int
    L: int
    V: int

    @classmethod
    def drawn(cls, source: random.Random, time: int = 5) -> Sizes:
        """Distinct primes: none is a multiple of another, so no two dimensions can be mistaken.

        Three layers always: two would not tell "the next layer" from "the last one". `time` is 2 or 5.
        """
        batch, features, hidden = source.sample([size for size in (2, 5, 7, 11) if size != time], 3)
        return cls(B=batch, T=time, D=features, H=hidden, L=3, V=source.choice((13, 17, 19)))

    def but(self, **sizes: int) -> Sizes:
        """The same sizes but for the ones given, as in `sizes.but(B=1)`."""
        return replace(self, **sizes)

    def shape(self, dims: str) -> tuple[int, ...]:
        """The shape of dimensions written as `"L B H"` or `"4H D"`; a plain number stands for itself."""
        return tuple(self._size(dim) for dim in dims.split())

    def _size(self, dim: str) -> int:
        if dim.isdigit():
            return int(dim)
        factor, letter = dim[:-1], dim[-1]
        return (int(factor) if factor else 1) * int(getattr(self, letter))

    def name(self, shape: tuple[int, ...], expected: str) -> str:
        """The shape in words where every size is one of the known dimensions, else in numbers."""
        asked = {dim[-1] for dim in expected.split() if not dim.isdigit()}
        if len(shape) != len(expected.split()):
            asked.add("L")  # a state of every layer in place of one; in a shape of the right rank, a chance
        known: dict[int, set[str]] = {}
        for letter in sorted(asked | {"B", "T", "D", "H"}):
            # Only hidden units, and a state's layers, come in multiples: twice one sequence is no size.
            for factor in ("", "2", "4") if letter == "H" or (letter == "L" and "L" in expected) else ("",):
                word = f"{factor}·{NAMES[letter]}" if factor else NAMES[letter]
                known.setdefault(self._size(factor + letter), set()).add(word)
        words = [next(iter(known[size])) if len(known.get(size, ())) == 1 else str(size) for size in shape]
        return f"({', '.join(words)})" if words else "(a single number)"


class Draw:
    """Inputs for one check: the same seed and check give the same inputs, on every machine."""

    def __init__(self, seed: int, label: str, sizes: Sizes, generator: torch.Generator | None = None) -> None:
        self.sizes = sizes
        self.seed = int.from_bytes(hashlib.blake2b(f"{seed}:{label}".encode(), digest_size=7).digest(), "big")
        self._generator = generator or torch.Generator().manual_seed(self.seed)
        self.letters: set[str] = set()
        """The dimensions of everything drawn so far."""

    def at(self, sizes: Sizes) -> Draw:
        """The same source of numbers at other sizes."""
        other = Draw.__new__(Draw)
        other.sizes, other.seed, other._generator = sizes, self.seed, self._generator
        other.letters = self.letters
        return other

    def __call__(self, dims: str, *, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Normally distributed values of the shape written in dimensions, as `draw("B T D")`."""
        self.letters.update(dims)
        return self.like(self.sizes.shape(dims), dtype=dtype)

    def like(
        self, shape: tuple[int, ...] | torch.Size, *, dtype: torch.dtype = torch.float64
    ) -> torch.Tensor:
        """Normally distributed values of a shape given in numbers."""
        return torch.randn(tuple(shape), generator=self._generator, dtype=torch.float64).to(dtype)

    def strided(self, dims: str, *, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """As a call, but laid out in memory with its dimensions in reverse: not contiguous."""
        reverse = " ".join(reversed(dims.split()))
        return self(reverse, dtype=dtype).permute(*reversed(range(len(dims.split()))))

    def ints(self, dims: str, high: int) -> torch.Tensor:
        """Whole numbers in [0, high), int64."""
        self.letters.update(dims)
        return torch.randint(high, self.sizes.shape(dims), generator=self._generator)

    def module(
        self, build: Callable[..., Module], *args: Any, dtype: torch.dtype = torch.float64, **kwargs: Any
    ) -> Module:
        """One of torch's modules with every parameter drawn: no bias is zero, no two are alike."""
        made = build(*args, **kwargs).to(dtype)
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.copy_(self.like(parameter.shape, dtype=dtype) * 0.5)
        return made
