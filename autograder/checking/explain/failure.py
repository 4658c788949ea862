"""Failures of a check: the answer is not what it asks for, or cannot be used as what it should be."""

from __future__ import annotations

from autograder.checking.explain.evidence import Evidence


class CheckFailed(AssertionError):
    """A failed check: the answer is not what it asks for. The text is for the student.

    `earned` is the part of the check's points, from 0 to below 1, that the answer is worth all the same.
    `evidence` is what a page can show besides the text, which is complete without it. `accused` is the name
    of what must not be used and is: of a kernel that ran, or a function in the source. `fail` and `expect…`
    raise it; a check that catches it to say more hands on what it holds. Raises `ValueError` for another
    `earned`.

        try:
            expect(answer, right, names="h", dims="B T H", sizes=sizes)
        except CheckFailed as error:
            hint = "Step 0 is right: does each later step get the state of the step before?"
            raise CheckFailed(f"{error} {hint}", error.earned, error.evidence) from None
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
    """A failed check of a task that the student has left as it was released.

    Raised where a check sees that nothing is written yet, so that the card says so and names no mistake. It
    is a `CheckFailed`, and takes the same.

        if all(answer is None for answer in answers.values()):
            raise NotWritten("Not written yet: no claim is answered.")
    """


class Rounded(CheckFailed):
    """A failed check of dtypes: numbers go through a coarser dtype than the input's and stay rounded."""


class NoSuchAttribute(CheckFailed, AttributeError):
    """An answer was asked for what a tensor has. `hasattr`, and `getattr` with a default, understand it."""


class NoSuchName(CheckFailed, KeyError):
    """A parameter was asked for that is not there."""

    __str__ = Exception.__str__  # a KeyError's text is quoted


class NotOneOfSeveral(CheckFailed, TypeError):
    """An answer was taken apart that has no parts."""
