"""The results of a class: the verdicts on record, who is missing, and the points that count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace
from nbgrader.api import Student
from sqlalchemy import select

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.judging.blank import blank_verdict
from autograder.grading.records.handing_in import with_findings
from autograder.grading.records.ready import require_readable
from autograder.grading.records.scores import Counting, NobodyGraded, read_marks
from autograder.grading.records.store import load_verdict
from autograder.verdict import Finding, Verdict


@dataclass(frozen=True)
class Result:
    """One student's verdict, and the points that count; `None` if the gradebook has none."""

    verdict: Verdict
    mark: Counting | None

    def as_json(self) -> dict[str, Any]:
        return {**self.verdict.as_json(), "mark": to_builtins(self.mark)}


def results(course: Course, assignment: str) -> list[Result]:
    """Return the result of every submission judged, and of every student who handed in nothing.

    Raises `UserError` if nothing has been graded. Submissions that wait to be graded
    are left out. Nothing is written.
    """
    found = read_verdicts(course, assignment)
    return with_marks(course, assignment, found.everybody, found.statuses)


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a class, in the order of the students' names."""

    everybody: Sequence[Verdict]
    """Those on record, and one for every student who handed in nothing."""
    statuses: Mapping[str, str]
    """The statuses of those on record, by student."""


def read_verdicts(course: Course, assignment: str) -> Verdicts:
    """Return the verdicts of a class. Raises `UserError` as `results` does."""
    bundle = course.bundle(assignment)
    found: dict[str, Verdict] = {}
    folder = course.verdict_path("x", assignment).parent
    require_readable(course, assignment, folder.parent, folder)
    for path in sorted(folder.glob("*.json")):
        require_readable(course, assignment, path)
        kept = load_verdict(course, path.stem, assignment)
        if kept is not None:
            found[path.stem] = kept.verdict
    if not found:
        raise UserError(f"Nothing has been graded yet: run `autograder grade {assignment}` first.")
    statuses = {student: verdict.status for student, verdict in found.items()}
    submitted = set(course.students(assignment))
    with course.gradebook() as gradebook:
        enrolled = list(gradebook.db.scalars(select(Student.id)))
    seed = next(iter(found.values())).seed  # the same for all
    nothing = (Finding("missing", "Nothing was submitted."),)
    blank = blank_verdict("", bundle, seed)
    notebooks = tuple(replace(each, status="missing") for each in blank.notebooks)
    blank = replace(blank, status="missing", findings=nothing, notebooks=notebooks)
    for student in enrolled:
        if student not in found and student not in submitted:
            found[student] = replace(blank, student=student)
    everybody = with_findings(course, assignment, (found[student] for student in sorted(found)))
    return Verdicts(everybody, statuses)


def with_marks(
    course: Course,
    assignment: str,
    verdicts: Iterable[Verdict],
    statuses: Mapping[str, str] | None = None,
) -> list[Result]:
    """Return each verdict with the points that count; `statuses` as `read_marks` takes them."""
    try:
        marks = read_marks(course, assignment, statuses)
    except NobodyGraded:  # the machine failed at every one
        return [Result(verdict, None) for verdict in verdicts]
    return [Result(verdict, marks.of(verdict.student)) for verdict in verdicts]
