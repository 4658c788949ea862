"""Right answers in other styles, which must lose nothing: a course keeps them in `solutions/variants/`."""

from __future__ import annotations

import runpy
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course

Variants = Mapping[str, Mapping[str, str]]
"""Right answers in other styles: for each task, the sources of its cell by the name of the style."""


def right_answers(course: Course, bundle: Bundle) -> Variants:
    """The course's right answers to an assignment, none where it keeps none.

    Raises `UserError` for a file that cannot be read or has answers to no task.
    """
    path, older = kept_in(course, bundle.assignment), course.root / "tests" / "variants"
    if path.is_file():
        found = _read(path)
    elif (older / f"{bundle.notebook}.py").is_file():
        path = older / f"{bundle.notebook}.py"
        found = _run(path, course.root)
    else:
        return {}
    for task, answers in found.items():
        if task not in bundle.tasks:
            raise UserError(f"{path} has answers to `{task}`, which is no task of {bundle.assignment}.")
        if not isinstance(answers, dict) or not all(isinstance(text, str) for text in answers.values()):
            raise UserError(f"{path}: `{task}` must be a table with the text of a cell for each style.")
    return found


def kept_in(course: Course, assignment: str) -> Path:
    """Return the file in which the right answers to an assignment are written."""
    return course.folder("solution", ".", "variants") / f"{assignment}.toml"


def mixtures_of(variants: Variants) -> Iterator[dict[str, str]]:
    """Notebooks as a class has them: each takes one right answer of every task, until all are used."""
    for names in zip_longest(*variants.values()):
        yield {task: name for task, name in zip(variants, names, strict=True) if name is not None}


def mixed(bundle: Bundle, variants: Variants, mixture: Mapping[str, str]) -> bytes:
    """The solved notebook with some right answers of other styles in it, by task."""
    answers = {task: variants[task][name] for task, name in mixture.items()}
    return bundle.with_answers({**bundle.solution, **answers})


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML that can be read: {error}.") from error


def _run(path: Path, root: Path) -> dict[str, Any]:
    """The `CORRECT` of a Python file, the older form, in which answers may be computed."""
    with _importable(root):
        try:
            return dict(runpy.run_path(str(path))["CORRECT"])
        except Exception as error:  # the course's own code: anything may happen in it
            raise UserError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


@contextmanager
def _importable(root: Path) -> Iterator[None]:
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
