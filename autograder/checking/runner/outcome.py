"""Names for checks that did not pass, and the words that the student reads."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checking.explain.failure import CheckFailed, NotWritten
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import Outcome

FINDINGS = (CheckFailed, NoAnswer, NotDefined, StudentError, WorkerLost)
"""The exceptions of a check that found something. Any other exception is a fault of the check itself."""


def read_failure(error: BaseException, task: str, submission: Submission) -> tuple[Outcome, str]:
    """Return outcome and message for a finding, the exception a check ended with; anything else is raised."""
    match error:
        case CheckFailed():
            return "failed", str(error)
        case NotDefined():
            own = submission.sources.get(task, "")
            told = submission.cell_errors.get(task)
            if told is not None:
                return "error", f"Your cell for `{task}` stopped: {_raised_in_words(told, '')}"
            return (
                "error",
                f"`{task}` is not defined. Run its cell; if you renamed it, give it back its name.",
            )
        case StudentError() if is_unwritten(error):
            return (
                "failed",
                f"Not written yet: `{task}`, or something it uses, still raises NotImplementedError.",
            )
        case StudentError(type="Unavailable"):
            where = f" ({error.lines[-1]})" if error.lines else ""
            return "failed", f"{error.message}{where}"
        case StudentError():
            own = submission.sources.get(task, "")
            return (
                "error",
                f"{error.case}: your code stopped: {_raised_in_words(error, own)}"
                if error.case
                else f"Your code stopped: {_raised_in_words(error, own)}",
            )
        case WorkerLost(reason="infra_error"):
            raise error
        case WorkerLost():
            return ("timeout" if error.reason == "timeout" else "crashed"), str(error)
        case NoAnswer():
            return "error", "Your code returned something that cannot be read as an answer."
        case _:
            raise error


def is_unwritten(error: BaseException) -> bool:
    """Return whether the finding is that the student has left the task as it was released.

    Torch raises the same exception where a kernel is missing: with a message, at a line without its name.
    """
    if isinstance(error, StudentError) and error.type == "NotImplementedError":
        return not error.message or any("NotImplementedError" in line for line in error.lines[-1:])
    return isinstance(error, NotWritten)


def was_judged(error: BaseException) -> bool:
    """Return whether the check failed on answers: a task that is not written or not there gave none."""
    return not isinstance(error, (NoAnswer, NotDefined, WorkerLost)) and not is_unwritten(error)


def _raised_in_words(error: StudentError, own: str) -> str:
    """Return an error in words; `own` is the source of the task's cell."""
    where = f" ({_place(error.lines, own)})" if error.lines else ""
    if error.out_of_memory:
        return f"it asked for more memory than a submission may use{where}"
    if "detach().numpy()" in error.message:
        # What torch recommends there would be the next mistake.
        where += ". Detaching would cut the gradient: use torch's own operations"
    told = f"{error.type}: {error.message}{where}"
    return f"{told}{'' if told.endswith('.') else '.'} {error.help}" if error.help else told


def _place(lines: Sequence[str], own: str) -> str:
    """Return the last line of the task's own cell, and the last one of all where that is of another cell."""
    written = own.splitlines()
    mine = [line for line in lines if _is_in(line, written)]
    if not mine or mine[-1] == lines[-1]:
        return lines[-1]
    return f"{mine[-1]}, which calls code of another cell that stopped at {lines[-1]}"


def _is_in(line: str, written: Sequence[str]) -> bool:
    number, _, text = line.removeprefix("line ").partition(": ")
    return number.isdecimal() and 0 < int(number) <= len(written) and text in written[int(number) - 1]
