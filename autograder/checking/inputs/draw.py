"""Seeded inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from autograder.checking.inputs.sizes import Sizes

Module = TypeVar("Module", bound=nn.Module)
Drawn = TypeVar("Drawn")


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

    def begin(self) -> None:
        self._next = 0

    def give(self, what: Any, draw: Callable[[torch.Generator], Drawn]) -> Drawn:
        """Return the next of the numbers. `what` says all that `draw` depends on besides the generator."""
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
