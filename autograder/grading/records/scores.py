"""A class's marks from the gradebook: scores with persons' grades and late penalties, and who has none.

A score of 0 is one that was given. Who handed in nothing, whose file could not be read and what waits
for a person has no score here, whatever number the gradebook adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import nbformat
from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Row, Select, select

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_task
from autograder.grading.course.course import Course
from autograder.grading.course.times import seconds_late
from autograder.grading.records.handing_in import Sent, read_sent
from autograder.grading.records.store import load_verdict, not_in_gradebook

UNGRADABLE = ("missing", "corrupt", "infra_error")
"""Verdicts that say nothing about what the student can do."""

STATES = {
    "graded": "scored, late penalty taken off",
    "look_again": "scored, but judged again after a person had given points, or nothing of it ran: "
    "somebody should look",
    "needs_manual_grade": "a cell waits for a person's points",
    "missing": "nothing was handed in, or nothing that is this notebook",
    "corrupt": "the file handed in cannot be read",
    "infra_error": "the grading machine failed, or a check has a fault: grade it again",
    "not_graded": "handed in and not graded yet",
}

WAITING = ("needs_manual_grade", "look_again", *UNGRADABLE)
"""The states in which a person has points to give, or to look at again."""


class NobodyGraded(UserError):
    """An error: nobody has a mark in the assignment."""


@dataclass(frozen=True)
class Enrolled:
    """A student as the gradebook knows them; what it does not know is `""`."""

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Mark:
    """One student's points in one assignment."""

    student: str
    state: str
    """One of `STATES`."""
    tasks: Mapping[str, float | None]
    """Points of each graded cell, by task; `None` where nobody has given any."""
    penalty: float
    """The points that the late policy takes off."""
    score: float | None
    """The sum less the penalty, never below 0; `None` in every state but `graded` and `look_again`."""
    by_hand: frozenset[str] = frozenset()
    """The tasks of which a person gave the points, or some of them."""
    notebook_id: str = ""
    """nbgrader's name of the submission in formgrader's addresses; `""` if the gradebook has none."""
    late_seconds: float | None = None
    """The seconds after the due date, with the student's extension, 0 for in time; `None` where not known."""
    group: str = ""
    """The group whose submission it is; `""` for a student on their own."""
    same_as: str = ""
    """The member of the group whose submission it is; `""` where it is the student's own."""


@dataclass(frozen=True)
class TaskPoints:
    """The points of one task that count; `None` while they wait for a person."""

    task: str
    points: float | None
    max_points: float
    by_hand: bool


@dataclass(frozen=True)
class Counting:
    """The points of one student that count, as docs/verdict.md describes them."""

    state: str
    score: float | None
    max_score: float
    penalty: float
    tasks: tuple[TaskPoints, ...]
    late_seconds: float | None
    group: str
    same_as: str


@dataclass(frozen=True)
class Marks:
    """A class's marks in one assignment, one for each student that is known, by name."""

    assignment: str
    max_scores: Mapping[str, float]
    """The points that each graded cell is worth, by task, in the notebook's order."""
    students: Mapping[str, Enrolled]
    marks: Mapping[str, Mark]

    @property
    def max_score(self) -> float:
        return sum(self.max_scores.values())

    def of(self, student: str) -> Counting | None:
        """Return the points of one student that count; `None` if the gradebook has none."""
        mark = self.marks.get(student)
        if mark is None:
            return None
        tasks = tuple(
            TaskPoints(task, mark.tasks.get(task), worth, task in mark.by_hand)
            for task, worth in self.max_scores.items()
        )
        return Counting(
            mark.state,
            mark.score,
            self.max_score,
            mark.penalty,
            tasks,
            mark.late_seconds,
            mark.group,
            mark.same_as,
        )


def read_marks(course: Course, assignment: str, statuses: Mapping[str, str] | None = None) -> Marks:
    """The marks of everybody enrolled and everybody who handed in.

    `statuses` are those of all verdicts on record, by student, if they have been read already. Raises
    `UserError` if the assignment is unknown, and `NobodyGraded` if nobody has a mark in the gradebook.
    """
    bundle = course.bundle(assignment)
    submitted = course.students(assignment)
    with course.gradebook() as gradebook:
        max_scores = _max_scores(course, gradebook, bundle)
        students = enrolled(gradebook)
        names = task_names(bundle)
        handed_in, sent = set(submitted), read_sent(course, assignment)

        def mark(student: str, rows: list[Row[Any]]) -> Mark:
            status = _status(course, student, assignment) if statuses is None else statuses.get(student)
            how = sent.get(student, Sent())
            made = _mark(student, status, rows, names, student in handed_in)
            return replace(made, group=how.group, same_as=how.same_as) if how.group else made

        # One student's rows after the other's, so that no more of them are held than that.
        rows = gradebook.db.execute(grades_of(assignment).execution_options(yield_per=1000))
        by_student = groupby(rows, key=lambda row: str(row.student))
        found = {student: mark(student, list(mine)) for student, mine in by_student}
    if not found:
        raise NobodyGraded(f"Nothing has been graded yet: run `autograder grade {assignment}` first.")
    everybody = sorted({*students, *submitted, *found})
    marks = {student: found.get(student) or mark(student, []) for student in everybody}
    known = {student: students.get(student, Enrolled(student)) for student in everybody}
    return Marks(assignment, max_scores, known, marks)


def enrolled(gradebook: Gradebook) -> dict[str, Enrolled]:
    """Return the students whom the gradebook knows."""
    columns = (Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    rows = gradebook.db.execute(select(*columns))
    return {str(row[0]): Enrolled(*(str(value or "") for value in row)) for row in rows}


def _status(course: Course, student: str, assignment: str) -> str | None:
    kept = load_verdict(course, student, assignment)
    return kept.verdict.status if kept is not None else None


def grades_of(assignment: str) -> Select[Any]:
    """Return the query for all grades of an assignment, one student's after the other's."""
    return (
        select(
            SubmittedAssignment.student_id.label("student"),
            SubmittedNotebook.id.label("notebook_id"),
            Notebook.name.label("notebook"),
            SubmittedNotebook.late_submission_penalty.label("penalty"),
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
            BaseCell.name.label("cell"),
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == assignment)
        .order_by(SubmittedAssignment.student_id, Notebook.name)
    )


def _max_scores(course: Course, gradebook: Gradebook, bundle: Bundle) -> dict[str, float]:
    worth: dict[Cell, float] = {}
    for part in bundle.parts:
        try:
            notebook = gradebook.find_notebook(part.notebook, bundle.assignment)
        except MissingEntry:
            raise not_in_gradebook(course, bundle.assignment) from None
        cells = [*notebook.grade_cells, *notebook.task_cells]
        worth |= {(part.notebook, cell.name): float(cell.max_score) for cell in cells}
    ordered = {task: worth.pop(cell) for cell, task in task_names(bundle).items() if cell in worth}
    # Cells that the release no longer has come last.
    return ordered | {name: points for (_, name), points in worth.items()}


Cell = tuple[str, str]
"""A notebook's name and the `grade_id` of a cell in it."""


def task_names(bundle: Bundle) -> dict[Cell, str]:
    """Return the task of each graded cell: itself, if it is no `check("…")`."""
    return {
        (part.notebook, grade_id(cell)): bundle.named(part, check_task(cell) or grade_id(cell))
        for part in bundle.parts
        for cell in nbformat.reads(part.released, as_version=4).cells
        if is_grade(cell) or is_task(cell)
    }


def _mark(
    student: str, status: str | None, rows: list[Row[Any]], names: Mapping[Cell, str], submitted: bool
) -> Mark:
    task_of = {row: names.get((row.notebook, row.cell), row.cell) for row in rows}
    by_hand = frozenset(task_of[row] for row in rows if row.manual_score is not None or row.extra_credit)
    if not rows:
        if status in UNGRADABLE:
            return Mark(student, str(status), {}, 0.0, None)
        return Mark(student, "not_graded" if submitted else "missing", {}, 0.0, None)
    tasks = {task_of[row]: _points(row) for row in rows}
    penalty = sum({row.notebook: float(row.penalty or 0.0) for row in rows}.values())
    notebook_id = str(rows[0].notebook_id)
    late = seconds_late(rows[0].timestamp, rows[0].duedate, rows[0].extension)
    known = (by_hand, notebook_id, None if late is None else max(late, 0.0))
    if status in UNGRADABLE and not by_hand:
        return Mark(student, str(status), dict.fromkeys(tasks), penalty, None, *known)
    if None in tasks.values():
        unseen = all(row.auto_score is None and row.manual_score is None for row in rows)
        state = "not_graded" if unseen and status is None else "needs_manual_grade"
        return Mark(student, state, tasks, penalty, None, *known)
    score = max(0.0, sum(points for points in tasks.values() if points is not None) - penalty)
    state = "look_again" if any(row.needs_manual_grade for row in rows) else "graded"
    return Mark(student, state, tasks, penalty, score, *known)


def _points(row: Row[Any]) -> float | None:
    given = row.manual_score if row.manual_score is not None else row.auto_score
    return None if given is None else float(given) + float(row.extra_credit or 0.0)
