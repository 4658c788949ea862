"""Ways in which a request to a student's objects can end without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from autograder.checking.inputs.sizes import Sizes
    from autograder.protocol.answers import Raised

Loss = Literal["timeout", "crashed", "out_of_memory", "infra_error"]


class StudentError(Exception):
    """An exception of the student's code, as data: type, message and the student's own lines.

    Every call of a student's code raises it where that stops. A check leaves it alone, unless an exception is
    what it asks for (`expect_raises`): `type` and `message` are texts, those of the exception.

        try:
            losses = submission.fit(model, x, y)
        except StudentError as error:
            fail(f"With a loss that is infinite your code stops ({error.type}); it may go on.")
    """

    def __init__(self, raised: Raised) -> None:
        self.type, self.message, self.lines = raised.type, raised.message, raised.lines
        self.owners = raised.owners
        """For each line the function or class that it is in, where the worker says so."""
        self.bases = raised.bases
        """The names of the classes that the exception's class is derived from."""
        self.case = ""
        """The check's input that it was, in words, where the check said so."""
        self.sizes: Sizes | None = None
        """The sizes of that input, where the check said so."""
        self.help = ""
        """Words beside it: what its numbers are, what it usually means."""
        super().__init__(f"{self.type}: {self.message}")

    @property
    def out_of_memory(self) -> bool:
        """Return whether an allocation was refused: by Python's own error, or torch's on the CPU."""
        return self.type == "MemoryError" or "can't allocate memory" in self.message


class NoAnswer(Exception):
    """Data that is no answer to what was asked: the student's process was made to send it."""


class NotDefined(Exception):
    """The name that a task asks for does not exist in the submission."""


class WorkerLost(Exception):
    """The student's process is gone or silent."""

    def __init__(self, reason: Loss, message: str) -> None:
        self.reason: Loss = reason
        super().__init__(message)
