"""Names for checks that did not pass, and the words that the student reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autograder.cell_source import bound_names, parse_cell
from autograder.checking.explain.failure import CheckFailed, NotWritten
from autograder.checking.explain.stopped import explain_error
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import Outcome

FINDINGS = (CheckFailed, NoAnswer, NotDefined, StudentError, WorkerLost)
"""The exceptions of a check that found something. Any other exception is a fault of the check itself."""


def _makes(submission: Submission, cell: str, task: str) -> bool:
    """Return whether a cell is a task's: by its name, or by what is written in it."""
    tree = parse_cell(submission.sources.get(cell, ""))
    return cell == task or (tree is not None and task in bound_names(tree.body))


def read_failure(error: BaseException, task: str, submission: Submission) -> tuple[Outcome, str]:
    """Return outcome and message for a finding, the exception a check ended with; anything else is raised."""
    own = submission.sources.get(task, "")
    match error:
        case CheckFailed():
            return "failed", str(error)
        case NotDefined():
            told = next(
                (error for cell, error in submission.cell_errors.items() if _makes(submission, cell, task)),
                None,
            )
            if told is not None:
                code = told.lines[-1] if told.lines else ""
                told.help = explain_error(told.message, None, set(), code=code)
                return "error", f"Your cell for `{task}` stopped: {_raised_in_words(told, '')}"
            return (
                "error",
                f"Nothing is called `{task}` here. If you renamed it, give it back its name.",
            )
        case StudentError() if is_left_over(error, own):
            return (
                "failed",
                f"Delete the line `raise NotImplementedError()` ({_number(error)}): your code below it never "
                "runs.",
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
    if error.type == "BdbQuit":
        return "it waits for a debugger: delete `breakpoint()`, or what else starts one."
    where = f" ({_place(error, own)})" if error.lines else ""
    if error.out_of_memory:
        return f"it asked for more memory than a submission may use{where}"
    if "detach().numpy()" in error.message:
        # What torch recommends there would be the next mistake.
        where += ". Detaching would cut the gradient: use torch's own operations"
    return sentences(f"{error.type}: {error.message}{where}", error.help)


def sentences(first: str, second: str) -> str:
    """Return two sentences, the first alone where the second is `""`."""
    return f"{first}{'' if first.endswith(('.', '?')) else '.'} {second}" if second else first


def is_left_over(error: BaseException, own: str) -> bool:
    """Return whether the line that the task was released with stands above code of the student's.

    `own` is the source of the task's cell.
    """
    if not isinstance(error, StudentError) or not is_unwritten(error) or not error.lines:
        return False
    tree = parse_cell(own) if _is_in(error.lines[-1], own.splitlines()) else None
    blocks = [getattr(node, "body", None) for node in ast.walk(tree)] if tree is not None else []
    return any(
        isinstance(statement, ast.Raise) and f"line {statement.lineno}" == _number(error)
        for block in blocks
        if isinstance(block, list)
        for statement in block[:-1]
    )


def _number(error: StudentError) -> str:
    return error.lines[-1].partition(":")[0]


def _place(error: StudentError, own: str) -> str:
    """Return the last line of all; one of another cell with its name, and the task's own that led to it."""
    lines, written = error.lines, own.splitlines()
    mine = [line for line in lines if _is_in(line, written)]
    if not written or mine[-1:] == [lines[-1]]:
        return lines[-1]
    owner = error.owners[-1] if error.owners else ""
    there = f"in the cell `{owner}`, {lines[-1]}" if owner else f"in another cell, {lines[-1]}"
    return f"{there}, called from your {mine[-1]}" if mine else there


def _is_in(line: str, written: Sequence[str]) -> bool:
    number, _, text = line.removeprefix("line ").partition(": ")
    return number.isdecimal() and 0 < int(number) <= len(written) and text in written[int(number) - 1]
