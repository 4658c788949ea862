"""The guesses of a class before a notebook's demonstrations, beside what happened in the solved notebook."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.cell_source import parse_cell
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.records.answers import graded_code
from autograder.guesses import HAPPENED, is_guess, is_right, plain


@dataclass(frozen=True)
class Guessed:
    """The guesses of a class for one entry of a notebook's `guess` cells."""

    entry: str
    happened: Any
    """The value in the solved notebook."""
    guessed: int
    right: int
    commonest_wrong: Any
    """The wrong guess that most students had; `None` without one."""
    had_by: int
    """The number of students who had that guess."""


def guesses(course: Course, bundle: Bundle, students: Sequence[str]) -> list[Guessed]:
    """The guesses of a class, entry by entry in the order of the notebook; none where a notebook has none."""
    folder = course.folder("solution", ".", bundle.assignment)
    happened = dict(each for part in bundle.parts for each in _happened(folder / f"{part.notebook}.ipynb"))
    if not happened:
        return []
    made: dict[str, list[Any]] = {entry: [] for entry in happened}
    for student in students:
        for entry, value in _own(graded_code(course, student, bundle)).items():
            if entry in made:
                made[entry].append(value)
    return [_line(entry, seen, made[entry]) for entry, seen in happened.items()]


def _line(entry: str, seen: Any, values: Sequence[Any]) -> Guessed:
    # `True` and 1 are equal, and are not the same guess.
    wrong = Counter((type(value), value) for value in values if not is_right(value, seen))
    commonest, count = wrong.most_common(1)[0] if wrong else ((None, None), 0)
    return Guessed(entry, seen, len(values), len(values) - wrong.total(), commonest[1], count)


def _happened(solved: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a solved notebook's demonstrations, and what happened."""
    try:
        cells = json.loads(solved.read_bytes())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for output in outputs:
        found = output.get("data", {}).get(HAPPENED, {})
        yield from ((entry, plain(value)) for entry, value in found.items())


def _own(sources: Iterable[str]) -> dict[str, Any]:
    """A student's guesses by entry, read from the text of the cells; no cell is run."""
    found: dict[str, Any] = {}
    for source in sources:
        tree = parse_cell(source) if "guess" in source else None
        for node in tree.body if tree else ():
            match node:
                case ast.Assign(targets=[ast.Name(id="guess")], value=ast.Dict() as value):
                    for key, each in zip(value.keys, value.values, strict=True):
                        entry, guess = _literal(key), plain(_literal(each))
                        if isinstance(entry, str) and is_guess(guess):
                            found[entry] = guess
    return found


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
