"""The known mistakes that a class made, the most frequent first, each with one student's cell."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from autograder.verdict import Verdict

EXCERPT_LINES, EXCERPT_WIDTH = 40, 160
"""The most lines of a cell that are shown, and characters of a line; students may write more."""

MOST_READ = 500
"""The most answers that are looked at to find a short one."""

Answers = Mapping[str, Mapping[str, str]]
"""Each student's solution cells, by `grade_id`."""


@dataclass(frozen=True)
class Example:
    """The part of one student's answer to a task that is shown."""

    student: str
    cell: str


@dataclass(frozen=True)
class CommonMistake:
    """A known mistake that somebody made."""

    task: str
    mistake: str
    hint: str
    """The hint that its students were given."""
    checks: tuple[str, ...]
    """The titles of the checks it failed, of all its students."""
    students: tuple[str, ...]
    example: Example


def common_mistakes(verdicts: Iterable[Verdict], answers: Answers) -> list[CommonMistake]:
    """The known mistakes in a class, the most frequent first; a student counts once for each."""
    titles: dict[tuple[str, str], dict[str, None]] = {}
    hints: dict[tuple[str, str], str] = {}
    students: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in verdicts:
        for task in verdict.tasks:
            for check in task.checks:
                if check.diagnosis:
                    key = (task.task, check.diagnosis.mistake)
                    hints[key] = check.diagnosis.hint
                    titles.setdefault(key, {})[check.title] = None
                    students.setdefault(key, {})[verdict.student] = None
    most_first = sorted(students, key=lambda key: (-len(students[key]), key))
    return [
        CommonMistake(
            task=task,
            mistake=mistake,
            hint=hints[task, mistake],
            checks=tuple(titles[task, mistake]),
            students=tuple(students[task, mistake]),
            example=shortest(task, students[task, mistake], answers),
        )
        for task, mistake in most_first
    ]


def shortest(task: str, students: Iterable[str], answers: Answers) -> Example:
    """The shortest answer of some students, or of the first of many, to a task: what is read fastest."""
    few = islice(students, MOST_READ)
    cells = {student: answers.get(student, {}).get(task, "") for student in few}
    student = min(cells, key=lambda student: (not cells[student], len(cells[student]), student))
    return Example(student, excerpt(cells[student]))


def own_words(cell: str, released: str) -> str:
    """A cell without the docstrings that it was released with: everybody has read them."""
    for docstring in _docstrings(released):
        cell = cell.replace(f"{docstring}\n", "")
    return cell


def excerpt(cell: str) -> str:
    """The beginning of a cell, and the number of lines left out."""
    lines = cell.rstrip("\n").split("\n")
    shown = [_shortened(line) for line in lines[:EXCERPT_LINES]]
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"… {left} more lines"] if left else [])])


def _shortened(line: str) -> str:
    return line if len(line) <= EXCERPT_WIDTH else f"{line[:EXCERPT_WIDTH]}…"


@functools.cache
def _docstrings(source: str) -> tuple[str, ...]:
    """The docstrings of several lines, each as the lines it stands on."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    strings = [node.value for node in nodes if isinstance(node, ast.Expr)]
    long = [node for node in strings if isinstance(node, ast.Constant) and "\n" in str(node.value)]
    found = [ast.get_source_segment(source, node, padded=True) for node in long]
    return tuple(filter(None, found))
