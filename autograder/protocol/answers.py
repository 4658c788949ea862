"""Answers to the messages of `messages.py`, one to each that was done.

What a worker sends is read as one of these, field by field, or refused. All that they say beyond the values
is the word of the student's process.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from autograder.protocol.events import Event
from autograder.protocol.messages import OfObjects
from autograder.protocol.text import plain_text
from autograder.protocol.values import ByName

MAX_PRINTED = 10_000
"""Characters of what one call printed; a worker keeps fewer, unless a student has replaced what does."""


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="is"):
    """An answer to one message."""

    printed: str = ""
    """The output of the student's code meanwhile."""

    def __post_init__(self) -> None:
        if len(self.printed) > MAX_PRINTED:
            force_setattr(self, "printed", self.printed[:MAX_PRINTED])


class Done(Answer, frozen=True, tag="done"):
    """An answer without content: the request was carried out."""


class Missing(Answer, frozen=True, tag="missing"):
    """The name that a check is about is not there. Nothing after it is done."""


class Raised(Answer, frozen=True, tag="raised"):
    """The student's code raised, in lengths that a person reads. Nothing after it is done."""

    type: str
    message: str
    lines: tuple[str, ...] = ()
    """The student's own lines that led to it, the last ones."""
    owners: tuple[str, ...] = ()
    """For each of these lines the function or class of its cell that it is in, `""` for none."""
    bases: tuple[str, ...] = ()
    """The names of the classes that the exception's class is derived from."""

    def __post_init__(self) -> None:
        super().__post_init__()
        force_setattr(self, "type", plain_text(self.type, 100) or "Exception")
        force_setattr(self, "message", plain_text(self.message, 2000))
        force_setattr(self, "lines", tuple([plain_text(line, 300) for line in self.lines[-5:]]))
        force_setattr(self, "owners", tuple([plain_text(name, 100) for name in self.owners[-5:]]))
        force_setattr(self, "bases", tuple([plain_text(name, 100) for name in self.bases[:20]]))


class NoModule(Answer, frozen=True, tag="made"):
    """A class made something else than a module. Nothing after it is done."""

    value: Any


class Late(Answer, frozen=True, tag="late"):
    """The student's code did not return and was stopped. Nothing after it is done.

    Only a notebook stops code itself: of a worker that says so nobody believes it.
    """

    seconds: float
    line: str
    """The line at which it was stopped, as `line 7: x = 1`, or `""`."""


class Value(Answer, frozen=True, tag="value"):
    """An object as it travels."""

    value: Any


class Called(Answer, frozen=True, tag="called"):
    """The value that a call returned, and what was seen of the call."""

    value: Any
    attached: tuple[bool, ...]
    """For each tensor of the value, whether it belongs to a graph."""
    arguments: tuple[Any, ...] = ()
    """The arguments as the call left them."""
    left: tuple[str | tuple[int, str], ...] = ()
    """The settings of torch left otherwise, by name, and `(position, what)` of modules given to it.

    `"inference"` where a tensor of the value was made in `torch.inference_mode()`.
    """


class Gradients(Answer, frozen=True, tag="gradients"):
    """Gradients of one call: for each floating input in order, and for each parameter by name."""

    inputs: tuple[Any, ...]
    parameters: ByName
    attached: bool
    frozen: tuple[str, ...] = ()
    """The parameters that ask for no gradient."""


class Registered(Answer, frozen=True, tag="registered"):
    """The names that a module registers; of what is no module only the type is told."""

    is_module: bool
    type: str
    shapes: dict[str, tuple[int, ...]] = {}
    """Those of its parameters."""
    trainable: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    """The parameters that are part of no graph."""
    modules: dict[str, str] = {}
    kinds: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    """The names in its `state_dict()`."""
    shared: tuple[tuple[str, ...], ...] = ()
    """The parameters, two or more, that begin at one place in memory."""


class ParameterValues(Answer, frozen=True, tag="parameters"):
    """A module's parameters by name."""

    parameters: ByName


class Probed(Answer, frozen=True, tag="ran"):
    """Observations of a call on a device."""

    device: str
    """The device of the call, as `cuda:7`."""
    value: Any = None
    places: tuple[str, ...] = ()
    """The device of each tensor of the value, in order."""
    stayed: tuple[str, ...] = ()
    """The parameters and buffers that `.to()` did not move, by name."""
    inputs: tuple[Any, ...] = ()
    parameters: ByName = {}
    """The gradients, as in `Gradients`."""
    gradient_places: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    error: Raised | None = None
    """The exception that stopped the call, if any; all that was seen until then is told."""


class CellRan(Answer, frozen=True, tag="cell"):
    """A cell's outputs, in nbformat's shape, and the exception that stopped it."""

    outputs: list[Any]
    error: Raised | None = None
    missed: bool = False
    """True if the cell has called something that this worker lacks."""


class Refused(Answer, frozen=True, tag="refused"):
    """The machine would not do it, in its own words."""

    message: str


Stop = Missing | Raised | NoModule | Late
"""The answers after which nothing more of a batch is done."""

AnyAnswer = (
    Done | Stop | Value | Called | Gradients | Registered | ParameterValues | Probed | CellRan | Refused
)

Exchange = tuple[OfObjects, AnyAnswer]
"""A message to a student's objects and the answer to it."""


class Reply(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one message of the batch with this number."""

    number: int
    answer: AnyAnswer
