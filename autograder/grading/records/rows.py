"""nbgrader's rows of several submissions, written together.

nbgrader's API writes the rows of one submission one after the other and reads most of them back: 54 new
submissions a second, where 130 are recorded so (docs/performance.md). The rows are those it would write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.times import seconds_late

GRADED, COMMENTED = ("GradeCell", "TaskCell"), ("SolutionCell", "TaskCell")
"""nbgrader's kinds of cells that have a grade, and those that have a comment, in each submission."""

Penalty = Callable[[str, float, float], float | None]
"""A function from a student, a score and the seconds by which it is late to the points that are taken off."""


@dataclass(frozen=True)
class CellScore:
    """The result for one cell of a graded notebook."""

    points: float | None
    """The points; `None` if a person has to give them."""
    untouched: bool
    """True if the cell is as it was released, so that its comment says that there is no response."""


@dataclass(frozen=True)
class SubmissionRows:
    """The result of one notebook of a submission, as the gradebook keeps it."""

    student: str
    notebook: str
    handed_in: datetime | None
    cells: Mapping[str, CellScore]
    """The result by `grade_id`; a cell that is missing gets 0 points."""
    read: bool
    """False if nothing of it could be read: then no cell has points until a person gives them."""
    look_again: bool
    """True if a person should look at its points, whatever they are."""

    def points(self, cell: str) -> float | None:
        return self.cells.get(cell, CellScore(0.0, False)).points if self.read else None


def save_rows(db: Session, bundle: Bundle, submissions: Sequence[SubmissionRows], penalty: Penalty) -> None:
    """Write the rows of submissions, one for each notebook, in as many statements as one of them would take.

    Rows that are missing are made. Of those that are there, a person's points and comments stay, and the
    points are flagged for a second look. The caller commits. Raises SQLAlchemy's errors, among them
    `IntegrityError` where another program makes the same rows at the same time.
    """
    assignment = _assignment(db, bundle)
    _enrol(db, list(dict.fromkeys(one.student for one in submissions)))
    handed_in = _save_times(db, assignment.id, {one.student: one.handed_in for one in submissions})
    rows = _notebook_rows(db, assignment.notebooks, [one.id for one in handed_in.values()])
    by_row = {rows[assignment.ours[one.notebook], handed_in[one.student].id]: one for one in submissions}
    cells = _cells(db, assignment.notebooks)
    _save_grades(db, _pairs(cells, rows, GRADED), by_row)
    _save_comments(db, _pairs(cells, rows, COMMENTED), by_row)
    _save_penalties(db, assignment, handed_in, rows, penalty)


def save_time(
    db: Session, bundle: Bundle, student: str, handed_in: datetime | None, penalty: Penalty
) -> None:
    """Write when a student handed in, and the late penalty, into rows that are there."""
    assignment = _assignment(db, bundle)
    filed = _save_times(db, assignment.id, {student: handed_in})
    rows = _notebook_rows(db, assignment.notebooks, [one.id for one in filed.values()])
    _save_penalties(db, assignment, filed, rows, penalty)


@dataclass(frozen=True)
class _Assignment:
    """A row of `assignment`."""

    id: str
    due: datetime | None
    notebooks: Sequence[str]
    """The rows of its notebooks."""
    ours: Mapping[str, str]
    """The rows of those that are graded here, by name."""


@dataclass(frozen=True)
class _HandedIn:
    """A row of `submitted_assignment`."""

    id: str
    time: datetime | None
    extension: timedelta | None = None

    def seconds_late(self, due: datetime | None) -> float:
        return seconds_late(self.time, due, self.extension) or 0.0


@dataclass(frozen=True)
class _Cell:
    """A row of `base_cell`: a cell of the released notebook."""

    id: str
    name: str
    notebook: str
    kind: str


_Pairs = Mapping[tuple[str, str], str]
"""The names of cells by the row of the cell and the row of a submitted notebook."""


def _insert(db: Session, table: type, rows: list[dict[str, Any]]) -> None:
    if rows:
        db.execute(insert(table), rows)


def _update(db: Session, table: type, rows: list[dict[str, Any]]) -> None:
    """Change rows, each given as its `id` and its new values."""
    if rows:
        db.execute(update(table), rows)


def _assignment(db: Session, bundle: Bundle) -> _Assignment:
    asked = select(Assignment.id, Assignment.duedate).where(Assignment.name == bundle.assignment)
    id, due = db.execute(asked).one()
    named = select(Notebook.name, Notebook.id).where(Notebook.assignment_id == id)
    notebooks = {row.name: row.id for row in db.execute(named)}
    ours = {part.notebook: notebooks[part.notebook] for part in bundle.parts}
    return _Assignment(id, due, list(notebooks.values()), ours)


def _enrol(db: Session, students: Sequence[str]) -> None:
    there = set(db.scalars(select(Student.id).where(Student.id.in_(students))))
    _insert(db, Student, [{"id": student} for student in students if student not in there])


def _save_times(db: Session, assignment: str, times: Mapping[str, datetime | None]) -> dict[str, _HandedIn]:
    """Make or change the rows of `submitted_assignment`, and return them by student."""
    columns = (SubmittedAssignment.student_id, SubmittedAssignment.id, SubmittedAssignment.extension)
    asked = select(*columns).where(
        SubmittedAssignment.assignment_id == assignment, SubmittedAssignment.student_id.in_(times)
    )
    there = {
        student: _HandedIn(id, times[student], extension) for student, id, extension in db.execute(asked)
    }
    new = {student: _HandedIn(new_uuid(), time) for student, time in times.items() if student not in there}
    _update(db, SubmittedAssignment, [{"id": one.id, "timestamp": one.time} for one in there.values()])
    made = [
        {"id": one.id, "assignment_id": assignment, "student_id": student, "timestamp": one.time}
        for student, one in new.items()
    ]
    _insert(db, SubmittedAssignment, made)
    return there | new


def _notebook_rows(
    db: Session, notebooks: Sequence[str], submitted: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Make the rows of `submitted_notebook` that are missing; return all by notebook and submission."""
    columns = (SubmittedNotebook.notebook_id, SubmittedNotebook.assignment_id, SubmittedNotebook.id)
    asked = select(*columns).where(
        SubmittedNotebook.notebook_id.in_(notebooks), SubmittedNotebook.assignment_id.in_(submitted)
    )
    there = {(notebook, submission): id for notebook, submission, id in db.execute(asked)}
    wanted = [(notebook, submission) for notebook in notebooks for submission in submitted]
    new = {pair: new_uuid() for pair in wanted if pair not in there}
    made = [
        {"id": id, "notebook_id": notebook, "assignment_id": submission}
        for (notebook, submission), id in new.items()
    ]
    _insert(db, SubmittedNotebook, made)
    return there | new


def _cells(db: Session, notebooks: Iterable[str]) -> list[_Cell]:
    columns = (BaseCell.id, BaseCell.name, BaseCell.notebook_id, BaseCell.type)
    return [_Cell(*row) for row in db.execute(select(*columns).where(BaseCell.notebook_id.in_(notebooks)))]


def _pairs(cells: Iterable[_Cell], rows: Mapping[tuple[str, str], str], kinds: Sequence[str]) -> _Pairs:
    wanted = [cell for cell in cells if cell.kind in kinds]
    return {
        (cell.id, row): cell.name
        for (notebook, _), row in rows.items()
        for cell in wanted
        if cell.notebook == notebook
    }


def _rows_for(table: Any, pairs: _Pairs, *columns: Any) -> Any:
    """Return the query for rows of `grade` or `comment`.

    It names the cells, too: nbgrader's tables have an index by cell and notebook, and none by notebook.
    """
    asked = select(table.cell_id, table.notebook_id, table.id, *columns)
    return asked.where(
        table.cell_id.in_({cell for cell, _ in pairs}), table.notebook_id.in_({row for _, row in pairs})
    )


def _save_grades(db: Session, pairs: _Pairs, by_row: Mapping[str, SubmissionRows]) -> None:
    # Kept from others: a score that a person gives now must be seen and flagged.
    asked = _rows_for(Grade, pairs, Grade.manual_score).with_for_update(of=Grade)
    there = {(cell, row): (id, manual) for cell, row, id, manual in db.execute(asked)}
    changed, made = [], []
    for (cell, row), name in pairs.items():
        one = by_row.get(row)  # none of a notebook that is nobody's affair but nbgrader's
        id, manual = there.get((cell, row), (None, None))
        points = one.points(name) if one else None
        flagged = points is None or manual is not None or (one is not None and one.look_again)
        values = {"auto_score": points, "needs_manual_grade": flagged}
        if id is None:
            made.append({"cell_id": cell, "notebook_id": row, **values})
        elif one:
            changed.append({"id": id, **values})
    _update(db, Grade, changed)
    _insert(db, Grade, made)


def _save_comments(db: Session, pairs: _Pairs, by_row: Mapping[str, SubmissionRows]) -> None:
    there = {(cell, row): id for cell, row, id in db.execute(_rows_for(Comment, pairs))}
    changed, made = [], []
    for (cell, row), name in pairs.items():
        one = by_row.get(row)
        untouched = one is not None and one.read and name in one.cells and one.cells[name].untouched
        values = {"auto_comment": "No response." if untouched else None}
        if (cell, row) not in there:
            made.append({"cell_id": cell, "notebook_id": row, **values})
        elif one:
            changed.append({"id": there[cell, row], **values})
    _update(db, Comment, changed)
    _insert(db, Comment, made)


def _save_penalties(
    db: Session,
    assignment: _Assignment,
    handed_in: Mapping[str, _HandedIn],
    rows: Mapping[tuple[str, str], str],
    penalty: Penalty,
) -> None:
    """Take off what the course takes off for lateness, and nothing where a submission was in time."""
    late = {student: one.seconds_late(assignment.due) for student, one in handed_in.items()}
    ours = {
        rows[notebook, one.id]: student
        for student, one in handed_in.items()
        for notebook in assignment.ours.values()
    }
    cells = select(BaseCell.id).where(BaseCell.notebook_id.in_(assignment.ours.values()))
    asked = select(Grade.notebook_id, func.sum(Grade.score)).group_by(Grade.notebook_id)
    asked = asked.where(
        Grade.cell_id.in_(cells),  # as in `_rows_for`, for the index
        Grade.notebook_id.in_([row for row, student in ours.items() if late[student] > 0]),
    )
    score = {row: float(points) for row, points in db.execute(asked)}
    changed = [
        {
            "id": row,
            "late_submission_penalty": penalty(student, score.get(row, 0.0), late[student])
            if late[student] > 0
            else None,
        }
        for row, student in ours.items()
    ]
    _update(db, SubmittedNotebook, changed)
