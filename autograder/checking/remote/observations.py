"""What is seen of a student's objects besides the values they return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from autograder.checking.remote.errors import StudentError
from autograder.protocol.events import Event


@dataclass(frozen=True)
class Gradients:
    """Gradients of one call: for each floating input in order, and for each parameter by name."""

    inputs: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]
    attached: bool


@dataclass(frozen=True)
class Placed:
    """One call made on a device: what it answered, where things ended up, and what was seen on the way.

    All but the values is the student's word. `error` is what stopped the call, if anything did.
    """

    device: str
    """Where the call was made, as `cuda:7`."""
    value: Any
    places: tuple[str, ...]
    """The device of each tensor of the value, in order."""
    stayed: tuple[str, ...]
    """The parameters and buffers that `.to()` did not move, by name."""
    inputs: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]
    gradient_places: tuple[str, ...]
    events: tuple[Event, ...]
    memory: tuple[int, ...]
    """Bytes in use on a real GPU after each of the further calls that were asked for."""
    error: StudentError | None


@dataclass(frozen=True)
class Module:
    """What a module registers, by name."""

    is_module: bool
    type: str
    shapes: dict[str, tuple[int, ...]]
    """Those of its parameters."""
    trainable: tuple[str, ...]
    leaves: tuple[str, ...]
    """The parameters that are part of no graph."""
    modules: dict[str, str]
    kinds: tuple[str, ...]
    saved: tuple[str, ...]
    """The names in its `state_dict()`."""
    shared: tuple[tuple[str, ...], ...]
    """The parameters, two or more, that begin at one place in memory."""
