"""Expectation of an exception, where a call makes no sense."""

from __future__ import annotations

from typing import Any

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words
from autograder.checking.remote.connection import Request
from autograder.checking.remote.errors import StudentError

_NO_REFUSAL = ("NotImplementedError", "Unavailable")
"""Exceptions that no check asks for: of a task that is not written, and of what must not be used."""


def expect_raises(request: Request[Any], *errors: type[Exception]) -> None:
    """Expect a call to stop with an exception of one of these classes, or of one derived from them.

    `request` describes the call; nothing else may go in the same exchange, since what stops ends it. Raises
    `CheckFailed` where the call returns or stops with another exception, `StudentError` where the task is not
    written yet.

        with case("with a state of another batch"):
            expect_raises(submission.gru_cell.request(x, draw("1 H")), ValueError)
    """
    wanted = " or ".join(f"`{each.__name__}`" for each in errors)
    try:
        answer = request.ask()
    except StudentError as error:
        if error.type in _NO_REFUSAL:
            raise
        if {error.type, *error.bases} & {each.__name__ for each in errors}:
            return
        where = f" ({error.lines[-1]})" if error.lines else ""
        fail(
            f"The call must raise {wanted}; it stops with {error.type}: {error.message}{where}. Look at the "
            "arguments before you compute with them, and raise the exception yourself."
        )
    fail(
        f"The call must raise {wanted}; it returns {in_words(answer)}. Look at the arguments before "
        "you compute."
    )
