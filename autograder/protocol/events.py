"""Events of a call, as a worker has seen them: the student's word, like all that comes across the wall."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from autograder.protocol.text import one_line

_LONGEST = 300
"""Characters of a text that a person reads."""


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a cell: its number, from 1, and its text."""

    number: int
    text: str

    def __post_init__(self) -> None:
        force_setattr(self, "text", one_line(self.text, _LONGEST))

    def __str__(self) -> str:
        return f"line {self.number}: {self.text}"


class Event(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that was seen. Its `kind` says which of the fields there are (worker/portability)."""

    kind: str
    operation: str = ""
    line: Line | None = None
    """The student's line that was running."""
    made: Line | None = None
    """The line that made the tensor which does not fit."""
    name: str = ""
    """The name of that tensor there, as `self.mask`."""
    held: bool = False
    """True if that tensor was there before the call."""
    dtype: str = ""

    def __post_init__(self) -> None:
        for field in ("kind", "operation", "name", "dtype"):
            force_setattr(self, field, one_line(getattr(self, field), _LONGEST))
