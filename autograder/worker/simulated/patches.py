"""Names that have another meaning while a call on the pretend device is looked at.

Torch's modes see calls that take tensors. They do not see how a generator of random numbers is made, that
autocast is asked for, or what `type(x)` says; so these names stand for something else meanwhile.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from autograder.protocol.values import ByName, Keywords, tree_leaves
from autograder.worker.simulated.ledger import Ledger
from autograder.worker.simulated.tensor import DEVICE, LABEL, MixedDevices, SimulatedTensor

_Plain = torch.Generator
_GENERATORS: Any = type(_Plain)  # torch declares none


class _There(_Plain):
    """The CPU's generator under the pretend device's name."""

    def __new__(cls) -> _There:
        return super().__new__(cls)

    def __init__(self) -> None:
        """Nothing: torch's own wants to know a device."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # nobody can set torch's own either
        return DEVICE


@contextmanager
def other_names(gpu: Ledger, notebook: ByName) -> Iterator[None]:
    """While this lasts the names mean the other thing, in torch and in the student's notebook."""
    patched: Any = torch
    init, enter = torch.autocast.__init__, torch.autocast.__enter__
    generator, types = _generator(gpu), _TYPE
    kept = {name: value for name, value in notebook.items() if value is _Plain}
    notebook.update(dict.fromkeys(kept, generator))
    hidden = "type" not in notebook
    notebook.setdefault("type", types)

    def made(self: torch.autocast, device_type: str, *args: Any, **named: Any) -> None:
        init(self, device_type, *args, **named)
        enabled = named.get("enabled", args[1] if len(args) > 1 else True)
        self.asked_for = bool(enabled)  # type: ignore[attr-defined]  # torch sets its own to what it can do

    def entered(self: torch.autocast) -> Any:
        if getattr(self, "asked_for", self._enabled):
            gpu.event("autocast", self.device)
        return enter(self)

    patched.Generator = generator
    patched.autocast.__init__, patched.autocast.__enter__ = made, entered
    try:
        yield
    finally:
        patched.Generator = _Plain
        patched.autocast.__init__, patched.autocast.__enter__ = init, enter
        notebook.update(kept)
        if hidden and notebook.get("type") is types:
            del notebook["type"]


def refuse_other_generators(gpu: Ledger, func: Any, args: Any, kwargs: Keywords) -> None:
    """Stop a draw whose generator is of another device than its numbers, as torch does."""
    generator = kwargs.get("generator")
    if generator is None:
        return
    asked = kwargs.get("device")
    there = (
        any(isinstance(leaf, SimulatedTensor) for leaf in tree_leaves(args))
        if asked is None
        else asked == LABEL
    )
    if isinstance(generator, _There) == there:
        return
    gpu.event("generator", getattr(func, "__name__", ""))
    wanted, found = (DEVICE.type, "cpu") if there else ("cpu", DEVICE.type)
    raise MixedDevices(f"Expected a '{wanted}' device type for generator but found '{found}'")


def _generator(gpu: Ledger) -> type:
    """A maker of generators, of the pretend device, too."""

    class Kind(_GENERATORS):
        def __call__(cls, device: Any = "cpu") -> torch.Generator:
            return _There() if gpu.place_of(device) == LABEL else _Plain(device)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, _Plain)

    class Generator(_Plain, metaclass=Kind):
        """The `torch.Generator` that the student's code finds."""

    return Generator


def _type() -> type:
    """`type`, for which a tensor of the pretend device is a tensor like any other."""

    class Kind(builtins.type):
        def __call__(cls, value: Any, *more: Any, **named: Any) -> Any:
            if isinstance(value, SimulatedTensor):
                return nn.Parameter if isinstance(value, nn.Parameter) else torch.Tensor
            return builtins.type(value, *more, **named)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, builtins.type)

    return Kind("type", (), {})


_TYPE = _type()
