"""Marks for other systems: Canvas, Moodle, or a plain table.

Every number comes from the gradebook, persons' grades and late penalties included. Who has no score gets
an empty field, never a 0: what an empty field costs is for the other system's policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nbgrader.api import Assignment as AssignmentRow
from nbgrader.api import Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.records.scores import STATES, Enrolled, Marks, read_marks
from autograder.reporting.spreadsheet import MARK, csv_text

Row = tuple[object, ...]


@dataclass(frozen=True)
class Column:
    """One column of points: an assignment's total, one of its tasks, or the late penalty."""

    title: str
    max_score: float
    points: Mapping[str, float | None]
    """The points by student; `None` where there is no score."""


@dataclass(frozen=True)
class Export:
    """A file for another system, and what to tell the person who asked for it."""

    text: str
    """The text as programs read it, through a pipe, say."""
    mark: str
    """The beginning of a file, before `text`: `MARK`, or nothing for a system that does not take it away."""
    students: int
    empty: dict[str, int]
    """The number of empty fields for each of the `STATES`, over all assignments."""
    given: int
    """The number of marks for a submission that another member of the student's group handed in."""


def graded_assignments(course: Course) -> list[str]:
    """The assignments that somebody has a grade in, by name. Raises `UserError` if there is none."""
    query = (
        select(AssignmentRow.name)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(AssignmentRow, SubmittedAssignment.assignment_id == AssignmentRow.id)
        .distinct()
    )
    with course.gradebook() as gradebook:
        found = sorted(str(name) for name in gradebook.db.scalars(query))
    if not found:
        raise UserError("Nothing has been graded yet: run `autograder grade ASSIGNMENT` first.")
    return found


def export(course: Course, to: str, assignments: Sequence[str], *, per_task: bool = False) -> Export:
    """The marks as CSV for `to`, one of `FORMS`; of all graded assignments if none is named.

    Raises `UserError` if one is unknown or has not been graded.
    """
    found = [read_marks(course, name) for name in assignments or graded_assignments(course)]
    everybody = [mark for marks in found for mark in marks.marks.values()]
    states = Counter(mark.state for mark in everybody if mark.score is None)
    students = {student: enrolled for marks in found for student, enrolled in marks.students.items()}
    in_order = sorted(students.values(), key=lambda each: (each.last_name, each.first_name, each.student))
    return Export(
        text=csv_text(FORMS[to](found, in_order, per_task)),
        mark="" if to in _UNMARKED else MARK,
        students=len(students),
        given=sum(bool(mark.same_as) for mark in everybody if mark.score is not None),
        empty={state: states[state] for state in STATES if states[state]},
    )


def _canvas(found: Sequence[Marks], students: Sequence[Enrolled], per_task: bool) -> list[Row]:
    """Canvas's gradebook file: five columns on the student, one for each assignment, and a row of maxima.

    `ID` is Canvas's own number of the user, which nbgrader keeps as `lms_user_id` where it is known.
    """
    columns = _columns(found, per_task)
    return [
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(each.title for each in columns)),
        ("    Points Possible", "", "", "", "", *(each.max_score for each in columns)),
        *(
            (
                _sorted_name(student),
                student.lms_user_id,
                "",
                student.student,
                "",
                *(each.points[student.student] for each in columns),
            )
            for student in students
        ),
    ]


def _moodle(found: Sequence[Marks], students: Sequence[Enrolled], per_task: bool) -> list[Row]:
    """Moodle's grade import: each column is mapped to a field or a grade item when it is uploaded."""
    columns = _columns(found, per_task)
    return [
        (
            "Username",
            "ID number",
            "First name",
            "Last name",
            "Email address",
            *(each.title for each in columns),
        ),
        *(
            (
                student.student,
                student.lms_user_id,
                student.first_name,
                student.last_name,
                student.email,
                *(each.points[student.student] for each in columns),
            )
            for student in students
        ),
    ]


def _plain(found: Sequence[Marks], students: Sequence[Enrolled], per_task: bool) -> list[Row]:
    """A line for each student and assignment (and task), with why there is no score where there is none."""
    head = ("assignment", "student", "last_name", "first_name", "email", "state", "raw_score")
    last = ("late_seconds", "group", "same_as")
    rows: list[Row] = [(*head, "late_penalty", "score", "max_score", *last)]
    if per_task:
        rows = [("assignment", "task", *head[1:6], "points", "max_points", *last)]
    for marks in found:
        columns = _task_columns(marks) if per_task else []
        for student in students:
            mark = marks.marks.get(student.student)
            state = mark.state if mark is not None else "missing"
            how = (mark.late_seconds, mark.group, mark.same_as) if mark is not None else (None, "", "")
            who = (student.student, student.last_name, student.first_name, student.email, state)
            if per_task:
                for column in columns:
                    task = column.title.removeprefix(f"{marks.assignment} ")
                    points = column.points.get(student.student)
                    rows.append((marks.assignment, task, *who, points, column.max_score, *how))
            elif mark is None or mark.score is None:
                rows.append((marks.assignment, *who, None, None, None, marks.max_score, *how))
            else:
                raw = sum(points or 0.0 for points in mark.tasks.values())
                rows.append((marks.assignment, *who, raw, mark.penalty, mark.score, marks.max_score, *how))
    return rows


FORMS: dict[str, Callable[[Sequence[Marks], Sequence[Enrolled], bool], list[Row]]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "csv": _plain,
}

_UNMARKED = ("canvas",)
"""Systems that take no mark: Canvas's `GradebookImporter` reads the file as it is, mark and all. Moodle's
`csv_import_reader` takes the mark away."""


def _columns(found: Sequence[Marks], per_task: bool) -> list[Column]:
    everybody = {student for marks in found for student in marks.students}
    columns = [each for marks in found for each in (_task_columns(marks) if per_task else [_total(marks)])]
    return [
        Column(each.title, each.max_score, {student: each.points.get(student) for student in everybody})
        for each in columns
    ]


def _total(marks: Marks) -> Column:
    scores = {student: mark.score for student, mark in marks.marks.items()}
    return Column(marks.assignment, marks.max_score, scores)


def _task_columns(marks: Marks) -> list[Column]:
    """A column for each task, and one of the late penalty, so that a row adds up to the score."""
    scored = {student: mark for student, mark in marks.marks.items() if mark.score is not None}
    tasks = [
        Column(f"{marks.assignment} {task}", worth, {s: mark.tasks.get(task) for s, mark in scored.items()})
        for task, worth in marks.max_scores.items()
    ]
    late = {
        student: (mark.score or 0.0) - sum(points or 0.0 for points in mark.tasks.values())
        for student, mark in scored.items()
    }
    return [*tasks, Column(f"{marks.assignment} late penalty", 0.0, late)]


def _sorted_name(student: Enrolled) -> str:
    """The name as Canvas writes it, `Last, First`; the name in the course where there is no other."""
    return ", ".join(filter(None, (student.last_name, student.first_name))) or student.student
