"""The result of a test cell that an instructor wrote: asserts that ran beside the student's code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from msgspec.structs import replace
from nbformat import NotebookNode

from autograder.checking.remote.errors import StudentError
from autograder.checking.runner.check import Outcome
from autograder.grading.assignment.rebuild import conflict_line
from autograder.protocol.text import one_line
from autograder.verdict import CheckVerdict, TaskVerdict

HIDDEN_FAILED = "A hidden test failed."
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_DEFINES = r"^\s*(?:(?:def|class)\s+{0}\b|{0}\s*=(?!=))"
"""A line that defines a name, also in a cell that does not parse."""
_LINE = re.compile(r"line (\d+): (.*)")
"""A line of a traceback, as the worker tells it."""
_INSTEAD = re.compile(r"\s*#+\s*HIDDEN:\s*(.+)")
"""A comment among hidden tests, which students read where one below it fails."""


def own_test(
    name: str, cell: NotebookNode, released: str, error: StudentError | None, cause: str = ""
) -> TaskVerdict:
    """The task that a test cell with its outputs is. An error is the cell's own, shown or not.

    What fails in a line that is not in the `released` source is hidden from students. `cause` is a sentence
    about where the error comes from.
    """
    most = float(cell["metadata"]["nbgrader"]["points"])
    earned = earned_points(cell) if error is None else 0.0
    outcome: Outcome = "passed" if error is None and earned == most else "failed"
    message, instead = "", ""
    if error is not None:
        lines = cell["source"].split("\n")
        hidden = _hidden(lines, released.split("\n"))
        places = lines_met(error.lines, lines, hidden)
        message = _message(error, lines, places, hidden)
        message = f"{message.rstrip('.')}. {cause}" if cause else message
        if hidden and (not places or set(places) & hidden):
            instead = _instead(lines, hidden, max(set(places) & hidden, default=len(lines)))
    elif earned < most:
        message = f"The tests give {earned:g} of {most:g} points."
    title = f"The tests in the cell {name}"
    check = CheckVerdict(name, "error", title, outcome, earned, most, message)
    if instead:
        check = replace(check, hidden=True, instead=instead)
    return TaskVerdict(name, most, (check,))


def cause_of(
    error: StudentError | None, answers: Mapping[str, str], errors: Mapping[str, StudentError]
) -> str:
    """Name the answer that stopped, where a test misses a name that it would define; else `""`.

    `answers` are the sources of the answers' cells, by name.
    """
    missed = _UNDEFINED.match(error.message) if error is not None and error.type == "NameError" else None
    for name, source in answers.items():
        if missed and name in errors and re.search(_DEFINES.format(missed[1]), source, re.MULTILINE):
            stopped, defines = errors[name], f"The cell `{name}`"
            if missed[1] != name:
                defines += f", which defines `{missed[1]}`,"
            if conflict_line(source):
                return f"{defines} holds the marks of a merge conflict: keep one of the two versions."
            return (
                f"{defines} stops: {stopped} ({stopped.lines[-1]})." if stopped.lines else f"{defines} stops."
            )
    return ""


def earned_points(cell: NotebookNode) -> float:
    """Return the points of a test cell that ran to its end: the number it ends with, as in nbgrader, or all.

    Unlike in nbgrader a warning takes none away, and a number beyond the cell's points gives just those.
    """
    most = float(cell["metadata"]["nbgrader"]["points"])
    shown = (each["data"] for each in cell["outputs"] if each["output_type"] == "execute_result")
    try:
        earned = float(next((data.get("text/plain", "") for data in shown), ""))
    except ValueError:
        return most
    return min(earned, most) if earned >= 0 else most


def lines_met(told: Sequence[str], lines: Sequence[str], hidden: Set[int]) -> list[int]:
    """Return the numbers, from 1, of a cell's lines that a traceback leads through, the outermost first.

    A line that is `hidden` is found by its text alone.
    """
    named = (found for line in told if (found := _LINE.search(line)))
    return [
        number
        for found in named
        for number, line in enumerate(lines, 1)
        if one_line(line.strip(), 200) == found[2] and (number == int(found[1]) or number in hidden)
    ]


def _hidden(lines: Sequence[str], released: Sequence[str]) -> set[int]:
    """The numbers of the lines that nbgrader took out of a cell when it was released."""
    hidden, at = set(), 0
    for number, line in enumerate(lines, 1):
        if at < len(released) and line.rstrip() == released[at].rstrip():
            at += 1
        else:
            hidden.add(number)
    return hidden


def _instead(lines: Sequence[str], hidden: set[int], failed: int) -> str:
    """The text in place of a hidden test: of the last comment for it above the line that failed."""
    above = (_INSTEAD.match(lines[number - 1]) for number in sorted(hidden) if number <= failed)
    return next((found[1].strip() for found in reversed([*above]) if found), HIDDEN_FAILED)


def _message(error: StudentError, lines: Sequence[str], places: Sequence[int], hidden: Set[int]) -> str:
    """Say which line of the cell stopped, as students count them, why, and in which line of theirs."""
    why = error.type if not error.message else f"{error.type}: {error.message}"
    if not places:
        return why
    code = one_line(lines[places[0] - 1].strip(), 200)
    asserted = error.type == "AssertionError"
    if asserted:
        why = error.message
    number = places[0] if places[0] in hidden else places[0] - sum(each < places[0] for each in hidden)
    said = f"Line {number}, `{code}`, " + ("fails" if asserted else "stops") + (f": {why}" if why else ".")
    last = error.lines[-1]
    return said if lines_met([last], lines, {*places}) else f"{said.rstrip('.')}. In your code, {last}"
