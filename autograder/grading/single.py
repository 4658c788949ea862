"""One notebook, no gradebook."""

from __future__ import annotations

import secrets
from pathlib import Path

from autograder.checking.session import with_checks
from autograder.checking.submission import WorkerLost
from autograder.grading.bundle import Bundle
from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.judge import judge
from autograder.grading.rebuild import MAX_BYTES
from autograder.grading.verdict import Verdict
from autograder.grading.workers import WarmParent
from autograder.worker.confine import Level


def check_notebook(
    course: Course, notebook: Path, assignment: str | None = None, *, unsafe: bool = False
) -> Verdict:
    """Judge one notebook file as the batch would, with inputs drawn for this one run.

    The assignment is the one whose notebook has the file's name, unless it is named. The verdict's
    student is the folder's name where the file lies in a `submitted/` tree, else the file's own.
    """
    if not notebook.is_file():
        raise UserError(f"There is no notebook {notebook}.")
    if notebook.stat().st_size > MAX_BYTES:
        raise UserError(
            f"{notebook} is larger than {MAX_BYTES >> 20} MB, which no notebook of this course is."
        )
    bundle = course.bundle(assignment) if assignment else _bundle_by_name(course, notebook)
    try:
        folder = bundle.exercise
    except FileNotFoundError as error:
        raise UserError(f"{bundle.assignment} cannot be graded: {error}.") from error
    raw = notebook.read_bytes()
    with WarmParent(level=Level.NONE if unsafe else None) as workers:
        try:
            return with_checks(
                folder,
                lambda checks: (
                    judge(
                        raw,
                        bundle,
                        student=notebook.stem,
                        seed=secrets.randbits(48),
                        checks=checks,
                        workers=workers,
                    ).verdict
                ),
            )
        except WorkerLost as lost:
            raise UserError(f"The grading machine failed, not the notebook: {lost}") from lost


def _bundle_by_name(course: Course, notebook: Path) -> Bundle:
    for assignment in course.assignments():
        if (course.folder("source", ".", assignment) / notebook.name).is_file():
            return course.bundle(assignment)
    raise UserError(
        f"No assignment of {course.root} has a notebook called {notebook.name}: "
        "name the assignment with `--assignment`."
    )
