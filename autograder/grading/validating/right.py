"""Right answers in other styles, which must lose nothing: a course keeps them in `solutions/variants/`."""

from __future__ import annotations

import runpy
import sys
import tomllib
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.toml_lines import line_unread
from autograder.grading.course.course import Course
from autograder.grading.course.places import toml_place

Variants = Mapping[str, Mapping[str, str]]
"""Right answers in other styles: for each task, the sources of its cell by the name of the style."""


def right_answers(course: Course, bundle: Bundle) -> Variants:
    """The course's right answers to an assignment, none where it keeps none.

    Raises `UserError` for a file that cannot be read or has answers to no task.
    """
    path = _file(course, bundle)
    if not path.is_file():
        return {}
    found = _read(path, course.told(path)) if path.suffix == ".toml" else _run(path, course)
    tasks = {task for part in bundle.parts for task in part.tasks}
    for task, answers in found.items():
        place = toml_place(course, path, task)
        if task not in tasks:
            raise UserError(f"{place}: `{task}` is no task of {bundle.assignment}.")
        if not isinstance(answers, dict) or not all(isinstance(text, str) for text in answers.values()):
            raise UserError(f"{place}: `{task}` must be a table with the text of a cell for each style.")
    return found


def place_of(course: Course, bundle: Bundle, task: str, style: str) -> str:
    """Return the place of a right answer: its file and, where that is TOML, its line."""
    return toml_place(course, _file(course, bundle), task, style)


def _file(course: Course, bundle: Bundle) -> Path:
    """Return the file that the right answers are read from: Python only where there is no TOML."""
    path = course.right_answers_path(bundle.assignment)
    older = course.root / "tests" / "variants" / f"{bundle.notebook}.py"
    return older if older.is_file() and not path.is_file() else path


def mixtures_of(variants: Variants) -> Iterator[dict[str, str]]:
    """Notebooks as a class has them: each takes one right answer of every task, until all are used."""
    for names in zip_longest(*variants.values()):
        yield {task: name for task, name in zip(variants, names, strict=True) if name is not None}


def mixed(bundle: Bundle, variants: Variants, mixture: Mapping[str, str]) -> bytes:
    """The solved notebook with some right answers of other styles in it, by task."""
    answers = {task: variants[task][name] for task, name in mixture.items()}
    return bundle.with_answers({**bundle.solution, **answers})


def _read(path: Path, shown: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{shown}: is no text in UTF-8 (byte {error.start}).") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_unread(text, error)
        raise UserError(f"{shown}, line {line}: is not TOML that can be read: {error}.") from error


def _run(path: Path, course: Course) -> dict[str, Any]:
    """The `CORRECT` of a Python file, the older form, in which answers may be computed."""
    with _importable(course.root):
        try:
            return dict(runpy.run_path(str(path))["CORRECT"])
        except Exception as error:  # the course's own code: anything may happen in it
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                     if frame.filename == str(path)]  # fmt: skip
            if isinstance(error, SyntaxError) and error.filename == str(path):
                lines = [error.lineno]
            where = course.told(path) + (f", line {lines[-1]}" if lines else "")
            raise UserError(f"{where}: cannot be read: {type(error).__name__}: {error}") from error


@contextmanager
def _importable(root: Path) -> Iterator[None]:
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
