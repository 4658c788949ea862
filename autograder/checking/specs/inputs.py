"""Inputs of a task as a specification writes them, drawn for one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission


@dataclass(frozen=True)
class Handed:
    """An input that is one of torch's modules, its parameters drawn.

    The reference gets the same one as the task. `kind` is the class, then come its arguments; those that name
    a dimension (`"H"`, `"4H"`) stand for its size. A module that is none of torch's is made by `kind` on this
    side, and by the class of the same name that `source` defines on the student's. Raises nothing; what
    `kind` does not take is a fault of the check.

        task = FunctionSpec(
            "residual",
            inputs={"x": "B D", "layer": Handed(nn.Linear, "D", "D", bias=False)},
            outputs={"y": "B D"},
            reference=lambda x, layer: x + layer(x),
        )
    """

    kind: Callable[..., nn.Module]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    source: str | None

    def __init__(
        self, kind: Callable[..., nn.Module], *args: Any, source: str | None = None, **kwargs: Any
    ) -> None:
        for name, value in (("kind", kind), ("args", args), ("kwargs", kwargs), ("source", source)):
            object.__setattr__(self, name, value)

    def drawn(self, draw: Draw) -> Given:
        """Draw a module of the draw's sizes."""
        args = tuple(size_of(each, draw.sizes) for each in self.args)
        kwargs = {name: size_of(each, draw.sizes) for name, each in self.kwargs.items()}
        return Given(draw.module(self.kind, *args, **kwargs), args, kwargs, self.source)


@dataclass(frozen=True)
class Given:
    """A drawn module, and what it was made with."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    source: str | None = None

    def hand_over(self, submission: Submission) -> Handle:
        """Return the same module on the student's side."""
        dtype = next(self.module.parameters()).dtype
        kind, state = type(self.module).__name__, self.module.state_dict()
        return submission.given(kind, *self.args, source=self.source, state=state, dtype=dtype, **self.kwargs)


@dataclass(frozen=True)
class Optimizer:
    """An input that is one of torch's optimizers over the parameters of another input, a `Handed` module.

    `kind` is the class, `of` the module's name among the inputs, then come the options. Raises `TypeError`
    for a class that `torch.optim` does not have; a specification raises `ValueError` for a name that is no
    module's.

        task = FunctionSpec(
            "train_step",
            inputs={
                "model": Handed(nn.Linear, "D", "H"),
                "optimizer": Optimizer(torch.optim.SGD, "model", lr=0.1, momentum=0.9),
                "x": "B D",
                "y": "B H",
            },
            outputs={"loss": ""},
            changes=["model"],
            reference=train_step,
        )
    """

    kind: Callable[..., torch.optim.Optimizer]
    of: str
    options: Mapping[str, Any]

    def __init__(self, kind: Callable[..., torch.optim.Optimizer], of: str, **options: Any) -> None:
        if getattr(torch.optim, getattr(kind, "__name__", ""), None) is not kind:
            raise TypeError(f"{kind!r} is no class of torch.optim")
        for name, value in (("kind", kind), ("of", of), ("options", options)):
            object.__setattr__(self, name, value)

    def over(self, module: nn.Module) -> torch.optim.Optimizer:
        """Return such an optimizer over a module's parameters."""
        return self.kind(module.parameters(), **self.options)

    def hand_over(self, submission: Submission, module: Handle) -> Handle:
        """Return the same optimizer on the student's side."""
        kind: Any = self.kind
        return submission.given(
            "optimizer", module, kind.__name__, source=_OPTIMIZER, dtype=None, **self.options
        )


_OPTIMIZER = """
def optimizer(module, kind, **options):
    return getattr(torch.optim, kind)(module.parameters(), **options)
"""


@dataclass(frozen=True)
class Spread:
    """An input drawn with another standard deviation than 1."""

    dims: str
    deviation: float


def weight(dims: str) -> Spread:
    """Return an input for weights: normally distributed with a standard deviation of 0.5.

    So small that sums of products do not fill a tanh or a sigmoid. `dims` are its dimensions; a specification
    raises `ValueError` for one that there is not.

        inputs = {"x": "N C W", "kernel": weight("F C K"), "bias": weight("F")}  # of a specification
    """
    return Spread(dims, 0.5)


Input = str | Spread | Handed | Optimizer | Mapping[str, "Input"] | Callable[[Draw], Any]
"""How an input is drawn: from dimensions (`"B T D"`, `weight("H D")`), as a module, an optimizer of one, a
tuple of named parts (`{"h": "B H", "c": "B H"}`), or by a function of `draw`."""


@dataclass
class Drawn:
    """The inputs of one call."""

    modules: Modules
    names: tuple[str, ...]
    values: list[Any] = field(default_factory=list)
    """For each input a value, a `Given`, an `Optimizer`, or a tuple of them."""
    floating: list[str] = field(default_factory=list)
    """The names of the floating tensors among them, in order."""

    @property
    def here(self) -> tuple[Any, ...]:
        """Return them as the reference gets them."""
        return tuple(value.module if isinstance(value, Given) else value for value in self.values)

    def there(self, submission: Submission) -> tuple[Any, ...]:
        """Return them as the task gets them, modules anew unless calls share them."""
        handed: dict[str, Any] = {}
        for name, value in zip(self.names, self.values, strict=False):  # a case leaves the last ones out
            if isinstance(value, Given):
                value = self.modules.handed_over(value, submission)
            elif isinstance(value, Optimizer):
                value = self.modules.optimizer(value, submission, handed[value.of])
            handed[name] = value
        return tuple(handed.values())


class Modules:
    """The modules that calls of one check are given: one for each call, or one for all of the same sizes."""

    def __init__(self, are_shared: bool = False) -> None:
        self._are_shared = are_shared
        self._drawn: dict[Any, Given] = {}
        self._handles: dict[int, Handle] = {}

    def drawn(self, name: str, written: Handed, draw: Draw) -> Given:
        """Draw the module that is the input of this name."""
        key = name, draw.sizes
        if not self._are_shared or key not in self._drawn:
            self._drawn[key] = written.drawn(draw)
        return self._drawn[key]

    def handed_over(self, given: Given, submission: Submission) -> Handle:
        """Return the module on the student's side."""
        if not self._are_shared:
            return given.hand_over(submission)
        return self._handles.setdefault(id(given), given.hand_over(submission))

    def optimizer(self, written: Optimizer, submission: Submission, module: Handle) -> Handle:
        """Return an optimizer of a module on the student's side."""
        if not self._are_shared:
            return written.hand_over(submission, module)
        if id(written) not in self._handles:
            self._handles[id(written)] = written.hand_over(submission, module)
        return self._handles[id(written)]


def draw_inputs(inputs: Mapping[str, Input], draw: Draw, modules: Modules, is_strided: bool = False) -> Drawn:
    """Draw the inputs of one call, in order."""
    drawn = Drawn(modules, tuple(inputs))
    for name, written in inputs.items():
        drawn.values.append(_draw(name, written, draw, drawn, is_strided))
    return drawn


def _draw(name: str, written: Input, draw: Draw, drawn: Drawn, is_strided: bool) -> Any:
    if isinstance(written, Handed):
        return drawn.modules.drawn(name, written, draw)
    if isinstance(written, Optimizer):
        return written
    if isinstance(written, Mapping):
        return tuple(_draw(part, each, draw, drawn, is_strided) for part, each in written.items())
    if isinstance(written, (str, Spread)):
        dims, spread = (written, 1.0) if isinstance(written, str) else (written.dims, written.deviation)
        drawing = draw.strided if is_strided and len(dims.split()) > 1 else draw
        value = drawing(dims, spread=spread)
    else:
        value = written(draw)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        drawn.floating.append(name)
    return value


def drawn_dims(inputs: Mapping[str, Input]) -> tuple[str, ...]:
    """Return the dimensions of the inputs that are written as such, those of nested ones among them."""
    found: list[str] = []
    for each in inputs.values():
        if isinstance(each, Mapping):
            found += drawn_dims(each)
        elif isinstance(each, (str, Spread)):
            found.append(each if isinstance(each, str) else each.dims)
    return tuple(found)


def letters_of(inputs: Mapping[str, Input], sizes: Sizes) -> frozenset[str]:
    """Return the dimensions of inputs, modules among them; functions of `draw` are called to see theirs."""
    written = list(drawn_dims(inputs))
    draw = Draw(0, "letters", sizes)
    for each in inputs.values():
        if isinstance(each, Handed):
            written += [one for one in (*each.args, *each.kwargs.values()) if size_of(one, sizes) != one]
        elif callable(each):
            with suppress(Exception):  # it says so itself when the check runs
                each(draw)
    return letters_in(written) | (draw.letters & sizes.dimensions.keys())


def letters_in(written: Iterable[str]) -> frozenset[str]:
    """Return the letters of dimensions that are written as `"B T 4H"`."""
    return frozenset(dim[-1] for dims in written for dim in dims.split() if dim[-1].isalpha())


def size_of(written: Any, sizes: Sizes) -> Any:
    """Return the size of a dimension that is written as its letter, as in `"4H"`; anything else as it is."""
    if not isinstance(written, str):
        return written
    try:
        (size,) = sizes.shape(written)
    except ValueError:
        return written  # an option such as nonlinearity="relu"
    return size


def names_of(written: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """Return the names of results or inputs, nested ones flattened."""
    if not isinstance(written, Mapping):
        return tuple(written)
    return tuple(
        inner
        for name, each in written.items()
        for inner in (names_of(each) if isinstance(each, Mapping) else (name,))
    )
