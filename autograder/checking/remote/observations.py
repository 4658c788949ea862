"""Observations of a student's objects besides the values they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from msgspec.structs import replace

from autograder.checking.remote.errors import StudentError
from autograder.protocol.events import Event, Line


class Elsewhere(Line, frozen=True):
    """A line of another cell than the task's: one that is given, or of another task."""


def placed(events: Sequence[Event], own: str) -> tuple[Event, ...]:
    """Return events whose lines say so where they are of another cell than `own`, the task's source."""
    return tuple(
        replace(event, line=_placed(event.line, own), made=_placed(event.made, own)) if own else event
        for event in events
    )


def _placed(line: Line | None, own: str) -> Line | None:
    if line is None or line.text in own:
        return line
    return Elsewhere(line.number, line.text)


@dataclass(frozen=True)
class Gradients:
    """Gradients of one call: for each floating input in order, and for each parameter by name."""

    inputs: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]
    attached: bool
    frozen: tuple[str, ...] = ()
    """The parameters that ask for no gradient."""


@dataclass(frozen=True)
class Probed:
    """One call made on a device: what it answered, where things ended up, and what was seen on the way.

    All but the values is the student's word. `error` is what stopped the call, if anything did.
    """

    device: str
    """The device of the call, as `cuda:7`."""
    value: Any
    places: tuple[str, ...]
    """The device of each tensor of the value, in order."""
    stayed: tuple[str, ...]
    """The parameters and buffers that `.to()` did not move, by name."""
    inputs: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]
    gradient_places: tuple[str, ...]
    events: tuple[Event, ...]
    error: StudentError | None
