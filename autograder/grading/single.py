"""Judging one notebook, without a gradebook."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path

from autograder.checking.remote.errors import WorkerLost
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import MAX_BYTES
from autograder.grading.building.as_built import tried_as_built
from autograder.grading.building.examine import examine, notebooks_of
from autograder.grading.course.course import Course
from autograder.grading.course.problem import Unfit
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge
from autograder.grading.records.known import tried_when_needed
from autograder.grading.records.store import assignment_seed, has_seed
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import Verdict


def check_notebook(course: Course, notebook: Path, assignment: str | None, workers: ForkServer) -> Verdict:
    """Judge one notebook file as the batch would.

    The seed is the course's; where none is drawn yet, one for this run alone. Of a source notebook of the
    course, built or not, the solution in it is judged. The assignment is the one whose notebook has the
    file's name, unless it is named. The verdict's student is the file's name.
    """
    if not notebook.is_file():
        raise UserError(f"There is no notebook {notebook}.")
    if notebook.stat().st_size > MAX_BYTES:
        raise UserError(
            f"{notebook} is larger than {MAX_BYTES >> 20} MB, which no notebook of this course is."
        )
    source = _source_assignment(course, notebook)
    if source is not None:
        from autograder.grading.build import source_bundle  # it imports all of nbgrader's applications

        problems = examine(course, [source], catalogue=False)
        if problems:
            raise Unfit(problems)
        bundle = _part(source_bundle(course, source), notebook)
        raw = bundle.with_answers(bundle.solution)
    else:
        bundle = _part(course.bundle(assignment or _assignment_by_name(course, notebook)), notebook)
        raw = notebook.read_bytes()
    seed = assignment_seed(course, bundle.assignment) if has_seed(course) else secrets.randbits(48)
    workers.warm(bundle.preload)

    tried = tried_when_needed if source is None else partial(tried_as_built, course)
    try:
        with checks_of(bundle) as checks:
            return judge(
                raw,
                bundle,
                student=notebook.stem,
                seed=seed,
                checks=checks,
                workers=workers,
                known=tried(bundle, seed, checks, workers),
            ).verdict
    except WorkerLost as lost:
        raise UserError(f"The grading machine failed, not the notebook: {lost}") from lost


def _source_assignment(course: Course, notebook: Path) -> str | None:
    """The assignment whose source notebook this is, if it is one."""
    here = notebook.resolve()
    for assignment in course.assignments():
        if here in (path.resolve() for path in notebooks_of(course, assignment)):
            return assignment
    return None


def _part(bundle: Bundle, notebook: Path) -> Bundle:
    """Return the assignment's notebook of the file's name, or its only one."""
    found = [part for part in bundle.parts if part.notebook == notebook.stem] or [*bundle.parts]
    if len(found) > 1:
        names = ", ".join(f"{part.notebook}.ipynb" for part in found)
        raise UserError(
            f"{bundle.assignment} has several notebooks ({names}), and {notebook.name} is called like none "
            "of them: give the file the name of the one that it is."
        )
    return found[0]


def _assignment_by_name(course: Course, notebook: Path) -> str:
    for assignment in course.assignments():
        if (course.folder("source", ".", assignment) / notebook.name).is_file():
            return assignment
    raise UserError(
        f"No assignment of {course.root} has a notebook called {notebook.name}: "
        "name the assignment with `--assignment`."
    )
