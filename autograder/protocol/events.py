"""Events of a call, as a worker has seen them: the student's word, like all that comes across the wall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_LONGEST = 300
"""Characters of a text that a person reads."""


@dataclass(frozen=True)
class Line:
    """A line of a cell: its number, from 1, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.text}"

    def as_data(self) -> tuple[int, str]:
        return self.number, self.text

    @classmethod
    def from_data(cls, told: Any) -> Line | None:
        """Read what `as_data` gives; `None` for anything else."""
        if not isinstance(told, (tuple, list)) or [type(part) for part in told] != [int, str]:
            return None
        number, text = told
        return cls(number, _readable(text))


@dataclass(frozen=True)
class Event:
    """One thing that was seen. Its `kind` says which of the fields there are (worker/tracing)."""

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

    def as_data(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "operation": self.operation,
            "line": self.line.as_data() if self.line else None,
            "made": self.made.as_data() if self.made else None,
            "name": self.name,
            "held": self.held,
            "dtype": self.dtype,
        }

    @classmethod
    def from_data(cls, told: Any) -> Event:
        """Read an event as a worker tells it, in lengths that a person reads; what is none has no kind."""
        fields = told if isinstance(told, dict) else {}
        return cls(
            kind=_readable(fields.get("kind")),
            operation=_readable(fields.get("operation")),
            line=Line.from_data(fields.get("line")),
            made=Line.from_data(fields.get("made")),
            name=_readable(fields.get("name")),
            held=fields.get("held") is True,
            dtype=_readable(fields.get("dtype")),
        )


def _readable(told: Any) -> str:
    text = told if isinstance(told, str) else ""
    return "".join(character for character in text[:_LONGEST] if character.isprintable())
