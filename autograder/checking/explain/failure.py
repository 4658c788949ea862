"""Failures of a check: the answer is not what it asks for, or cannot be used as what it should be."""

from __future__ import annotations

from autograder.checking.explain.evidence import Evidence


class CheckFailed(AssertionError):
    """The answer is not what the check asks for. The text is for the student.

    `earned` is the part of the check's points, from 0 to below 1, that the answer is worth all the same.
    `evidence` is what a page can show besides the text, which is complete without it.
    `accused` is the name of what must not be used and is: of a kernel that ran, or a function in the source.
    """

    def __init__(
        self, message: str, earned: float = 0.0, evidence: Evidence | None = None, accused: str = ""
    ) -> None:
        if not 0 <= earned < 1:
            raise ValueError(f"a failed check earns a part of its points, not {earned}")
        self.earned, self.evidence, self.accused = earned, evidence, accused
        self.is_special = False
        """True if it was an input that the check gave a name to, as "without a state"."""
        super().__init__(message)


class NotWritten(CheckFailed):
    """The student has left the task as it was released."""


class NoSuchAttribute(CheckFailed, AttributeError):
    """An answer was asked for what a tensor has. `hasattr`, and `getattr` with a default, understand it."""


class NoSuchName(CheckFailed, KeyError):
    """A parameter was asked for that is not there."""

    __str__ = Exception.__str__  # a KeyError's text is quoted


class NotOneOfSeveral(CheckFailed, TypeError):
    """An answer was taken apart that has no parts."""
