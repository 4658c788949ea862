"""How a request to a student's objects can end otherwise than with an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class StudentError(Exception):
    """The student's code raised: type, message and the student's own lines, as data."""

    def __init__(self, raised: Mapping[str, Any]) -> None:
        self.type = str(raised.get("type", "Exception"))
        self.message = str(raised.get("message", ""))
        self.lines = tuple(str(line) for line in raised.get("lines", ()))
        self.case = ""
        """Which of a check's inputs it was, in words, where the check said so."""
        super().__init__(f"{self.type}: {self.message}")

    @property
    def out_of_memory(self) -> bool:
        """Whether it was an allocation that was refused: Python's own error, or torch's on the CPU."""
        return self.type == "MemoryError" or "can't allocate memory" in self.message


class NoAnswer(Exception):
    """Data that cannot be read as an answer: the student's process was made to send it."""


@contextmanager
def reading() -> Iterator[None]:
    """Take it for `NoAnswer` when what a process sent trips up those who read it here."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise NoAnswer(type(error).__name__) from error


class NotDefined(Exception):
    """The name that a task asks for does not exist in the submission."""


class WorkerLost(Exception):
    """The student's process is gone or silent; `reason` is `timeout`, `crashed` or `out_of_memory`."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)
