"""Right answers in other styles, which must lose nothing: a course keeps them in `solutions/variants/`."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

from autograder.grading.bundle import Bundle
from autograder.grading.course import Course
from autograder.grading.errors import UserError

Variants = Mapping[str, Mapping[str, str]]
"""Right answers in other styles: for each task, the sources of its cell by the name of the style."""


def right_answers(course: Course, bundle: Bundle) -> Variants:
    """The course's right answers to an assignment; none where it keeps none."""
    path = course.root / "tests" / "variants" / f"{bundle.notebook}.py"
    if not path.is_file():
        return {}
    with _importable(course.root):
        try:
            correct: Variants = runpy.run_path(str(path))["CORRECT"]
        except Exception as error:  # the course's own code: anything may happen in it
            raise UserError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    unknown = [task for task in correct if task not in bundle.tasks]
    if unknown:
        raise UserError(f"{path} has answers to `{unknown[0]}`, which is no task of {bundle.assignment}.")
    return correct


def mixtures_of(variants: Variants) -> Iterator[dict[str, str]]:
    """Notebooks as a class has them: each takes one right answer of every task, until all are used."""
    for names in zip_longest(*variants.values()):
        yield {task: name for task, name in zip(variants, names, strict=True) if name is not None}


def mixed(bundle: Bundle, variants: Variants, mixture: Mapping[str, str]) -> bytes:
    """The solved notebook with some right answers of other styles in it, by task."""
    answers = {task: variants[task][name] for task, name in mixture.items()}
    return bundle.with_answers({**bundle.solution, **answers})


@contextmanager
def _importable(root: Path) -> Iterator[None]:
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
