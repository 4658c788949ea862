"""The state of each assignment of a course, from what lies in its folders. Nothing is written or run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Row, case, func, select

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.records.scores import UNGRADABLE
from autograder.grading.records.store import (
    Kept,
    Key,
    assignment_seed,
    has_seed,
    load_verdict,
    not_in_gradebook,
)
from autograder.reporting.overview.built import CHANGED, NO, built, released


@dataclass(frozen=True)
class Standing:
    """The state of an assignment: what is built and released, counts of submissions, and what is next."""

    assignment: str
    built: str
    """The state of release/: `no` if not built, `yes` if made from the source as it is, else `changed`."""
    released: str
    """The state of the exchange's copy of release/, likewise; `""` if the course uses no exchange."""
    handed_in: int
    graded: int
    to_grade: int
    """Submissions without a verdict, or handed in again since."""
    out_of_date: int
    """Submissions judged with other checks, another release, seed or version than there are now."""
    for_a_person: int
    """Submissions without some points or any score, or judged again after a person gave points."""
    problem: str
    """The reason why it cannot be graded as it is; `""` if it can."""
    release_after: tuple[str, ...]
    """The assignments to collect before it is released, as long as it is not: it holds answers of theirs."""
    next: str
    """The command to type next; `""` if there is nothing to do."""


def standings(course: Course) -> list[Standing]:
    """The state of every assignment that has a source, a release or a submission, in order."""
    rows = _graded_rows(course)
    return [_standing(course, name, rows.get(name, {})) for name in _assignments(course)]


def _assignments(course: Course) -> list[str]:
    release = course.folder("release", ".", ".")
    released = [folder.name for folder in release.glob("*") if any(folder.glob("*.ipynb"))]
    return sorted({*course.assignments(), *released})


def _standing(course: Course, assignment: str, rows: Mapping[str, Row[Any]]) -> Standing:
    students, problem, bundle = course.students(assignment), "", None
    made = built(course, assignment)
    if made != NO:
        try:
            bundle = course.bundle(assignment)
        except UserError as error:
            problem = str(error)
    conditions = _conditions(course, bundle) if bundle and students else ()
    count: Counter[str] = Counter()
    for student in students:
        kept = load_verdict(course, student, assignment)
        files = course.handed_in(student, bundle) if bundle else None
        recorded = kept if student in rows else None
        count[_group(recorded, files, conditions)] += 1
        count["lost"] += recorded is not kept
        count["for_a_person"] += _waits(kept, rows.get(student))
    if count["lost"] and not rows:
        problem = str(not_in_gradebook(course, assignment))
    exchanged = released(course, assignment) if made != NO else ""
    return Standing(
        assignment=assignment,
        built=made,
        released=exchanged,
        handed_in=len(students),
        graded=count["graded"],
        to_grade=count["to_grade"],
        out_of_date=count["out_of_date"],
        for_a_person=count["for_a_person"],
        problem=problem,
        release_after=()
        if exchanged not in (NO, "") or students
        else tuple(course.release_after(assignment)),
        next=_next(assignment, made, exchanged, count),
    )


def _conditions(course: Course, bundle: Bundle) -> tuple[str, ...]:
    """The conditions under which a verdict of today would be formed, without a GPU and with one."""
    if not has_seed(course):
        return ()  # a new one would be drawn
    digest, seed = bundle.digest(), assignment_seed(course, bundle.assignment)
    return tuple(Key.of(None, told, seed).conditions for told in (digest, f"{digest} on a GPU"))


def _group(kept: Kept | None, files: HandedIn | None, conditions: tuple[str, ...]) -> str:
    """The name of the count in `Standing` to which a submission belongs."""
    if kept is None or kept.verdict.status == "infra_error" or kept.file != Key.of(files, "", 0).file:
        return "to_grade"
    return "graded" if kept.conditions in conditions else "out_of_date"


def _waits(kept: Kept | None, row: Row[Any] | None) -> bool:
    """Return whether a person has something to do about a submission, besides grading it."""
    by_hand = row is not None and row.by_hand
    ungradable = kept is not None and kept.verdict.status in UNGRADABLE
    return bool((row is not None and row.open and kept is not None) or (ungradable and not by_hand))


def _graded_rows(course: Course) -> dict[str, dict[str, Row[Any]]]:
    """Counts by assignment and student: cells `open` for a person, and cells with points `by_hand`."""
    unscored = Grade.auto_score.is_(None) & Grade.manual_score.is_(None)
    query = (
        select(
            Assignment.name.label("assignment"),
            SubmittedAssignment.student_id.label("student"),
            func.sum(case((Grade.needs_manual_grade | unscored, 1), else_=0)).label("open"),
            func.count(Grade.manual_score).label("by_hand"),
        )
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .group_by(Assignment.name, SubmittedAssignment.student_id)
    )
    if not course.has_gradebook:
        return {}
    with course.gradebook() as gradebook:
        found: dict[str, dict[str, Row[Any]]] = {}
        for row in gradebook.db.execute(query):
            found.setdefault(row.assignment, {})[row.student] = row
        return found


def _next(assignment: str, made: str, exchanged: str, count: Mapping[str, int]) -> str:
    if made in (NO, CHANGED):
        return f"autograder build {assignment}"
    if count["to_grade"] or count["out_of_date"]:
        return f"autograder grade {assignment}"
    if exchanged == CHANGED:
        return f"nbgrader release_assignment {assignment} --force"
    if exchanged == NO and not count["graded"]:
        return f"nbgrader release_assignment {assignment}"
    return f"autograder report {assignment}" if count["for_a_person"] else ""


def totals(found: Iterable[Standing]) -> dict[str, int]:
    """The counts over all assignments."""
    each = list(found)
    names = ("handed_in", "graded", "to_grade", "out_of_date", "for_a_person")
    return {name: sum(getattr(standing, name) for standing in each) for name in names}
