"""Putting a graded submission on record: its scores in the gradebook, its verdict, its notebook.

One writer does this for `autograder grade` and for `nbgrader autograde`. Scores are saved as
nbgrader's own `SaveAutoGrades` saves them, from the same cells by the same rule, but all of several
submissions in one transaction; manual grades and comments stay, and are flagged for a second look.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_task
from sqlalchemy import and_, case, func, select

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import grade_id, is_grade
from autograder.grading.course.course import Course
from autograder.grading.course.gradebook import Conflict, take_lock
from autograder.grading.judging.judge import Graded
from autograder.grading.records.beside import (
    staged_beside,
    withdraw_feedback,
    withdraw_feedback_of_another_time,
)
from autograder.grading.records.rows import CellScore, SubmissionRows, save_rows, save_time
from autograder.grading.records.store import (
    Kept,
    Key,
    not_in_gradebook,
    one_writer,
    staged,
    staged_verdict,
    withdraw_verdict,
)
from autograder.verdict import UNREAD, Verdict


def check_gradebook(course: Course, bundle: Bundle) -> None:
    """Raise `UserError`, before anything is run, unless the gradebook can be written and knows it."""
    with course.gradebook() as gradebook:
        for part in bundle.parts:
            try:
                known = gradebook.find_notebook(part.notebook, part.assignment).grade_cells
            except MissingEntry:
                raise not_in_gradebook(course, part.assignment) from None
            cells = [cell for cell in nbformat.reads(part.released, as_version=4).cells if is_grade(cell)]
            if {grade_id(cell): float(cell["metadata"]["nbgrader"]["points"]) for cell in cells} != {
                cell.name: float(cell.max_score) for cell in known
            }:
                raise UserError(
                    f"The gradebook knows other cells or points of {bundle.assignment} than the release has: "
                    f"run `autograder build {bundle.assignment}` again."
                )
        take_lock(gradebook)
        gradebook.db.rollback()


def on_record(course: Course, bundle: Bundle) -> dict[str, datetime | None]:
    """The students whose notebook and every score are on record, and when the gradebook says they handed in.

    A verdict alone is no record. A notebook that was being written when its grader was killed is none either.
    """
    # Points that a person gave are a score, too: where a cell has them and no other, nothing is missing.
    nobody = and_(Grade.auto_score.is_(None), Grade.manual_score.is_(None))
    unscored = case((and_(nobody, Grade.needs_manual_grade.is_(False)), 1), else_=0)
    query = (
        select(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == bundle.assignment)
        .group_by(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
        .having(func.sum(unscored) == 0)
    )
    with course.gradebook() as gradebook:
        found = gradebook.db.execute(query).all()
    names = [f"{part.notebook}.ipynb" for part in bundle.parts]

    def is_there(student: str) -> bool:
        folder = course.folder("autograded", student, bundle.assignment)
        return all(_is_whole(folder / name) for name in names)

    return {student: at for student, at in found if is_there(student)}


def record(course: Course, bundle: Bundle, batch: Sequence[tuple[Graded, Key]]) -> None:
    """Record submissions, each whole or not at all, with the notebooks where nbgrader would write them.

    All is written beside its place first, then the gradebook, in one transaction, then what lies beside is
    put in place; the verdicts are withdrawn before and put in place last, so that wherever this is killed,
    each submission has all of the old, all of the new, or counts as not graded.
    """
    with one_writer(course), ExitStack() as verdicts:
        for graded, key in batch:
            verdicts.enter_context(staged_verdict(course, graded.verdict, key, graded.content))
        with ExitStack() as files:
            for graded, _ in batch:
                student, assignment = graded.verdict.student, graded.verdict.assignment
                folder = course.folder("autograded", student, assignment)
                for part in graded.notebooks:
                    notebook = folder / f"{part.verdict.notebook}.ipynb"
                    files.enter_context(staged(notebook, part.notebook + "\n", course.access))
                files.enter_context(staged_beside(course, student, assignment))
            _save(course, bundle, [graded for graded, _ in batch])
        for graded, _ in batch:
            _set_permissions(course, graded.verdict.student, graded.verdict.assignment)
            withdraw_feedback(course, graded.verdict.student, graded.verdict.assignment)


def record_scores(course: Course, bundle: Bundle, graded: Graded, key: Key) -> None:
    """Record the scores, the late penalty and the verdict: what `nbgrader autograde` leaves to us."""
    with one_writer(course), staged_verdict(course, graded.verdict, key, graded.content):
        _save(course, bundle, [graded])
        course.access.open_to_the_group(course.folder("autograded", graded.verdict.student, "."))
        withdraw_feedback(course, graded.verdict.student, graded.verdict.assignment)


def refile(course: Course, bundle: Bundle, kept: Kept, key: Key) -> None:
    """Record that what has a verdict was handed in again, at another time or in another file.

    It also puts beside the graded notebook what an earlier version had not put there.

    The time in the gradebook comes after the one beside the notebook: whether it is right is seen next time.
    """
    student, assignment = kept.verdict.student, bundle.assignment
    with one_writer(course), staged_verdict(course, kept.verdict, key, kept.content):
        with staged_beside(course, student, assignment):
            pass
        _set_permissions(course, student, assignment)
        withdraw_feedback_of_another_time(course, student, assignment)
        with _transaction(course) as gradebook:
            if kept.verdict.status in UNREAD:
                for notebook in gradebook.find_submission(assignment, student).notebooks:
                    _take_zeros_back(notebook)
            at = course.submitted_at(student, assignment)
            save_time(gradebook.db, bundle, student, at, partial(_late_penalty, course))


def record_failure(course: Course, bundle: Bundle, verdict: Verdict, key: Key) -> None:
    """Record that the machine failed: no score changes, and those of an earlier grading want a person."""
    with (
        one_writer(course),
        staged_verdict(course, verdict, key, ""),
        _transaction(course) as gradebook,
        suppress(MissingEntry),  # never graded: formgrader says so
    ):
        for notebook in gradebook.find_submission(bundle.assignment, verdict.student).notebooks:
            for grade in notebook.grades:
                grade.needs_manual_grade = True


def zeros_for_nothing(course: Course, bundle: Bundle) -> set[str]:
    """The students who have points from a grading, and none from a person.

    If nothing of their submission could be read, an earlier version gave them 0 without a word.
    """
    query = (
        select(SubmittedAssignment.student_id)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == bundle.assignment)
        .group_by(SubmittedAssignment.student_id)
        .having(func.count(Grade.auto_score) > 0, func.count(Grade.manual_score) == 0)
    )
    with course.gradebook() as gradebook:
        return set(gradebook.db.scalars(query))


def _take_zeros_back(notebook: SubmittedNotebook) -> None:
    """Have the cells of a submission of which nothing could be read wait for a person."""
    if all(grade.manual_score is None for grade in notebook.grades):
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = None, True


def _save(course: Course, bundle: Bundle, batch: Sequence[Graded]) -> None:
    """Save the scores, and withdraw the old verdicts just before that becomes true."""
    rows = [row for graded in batch for row in _rows(course, graded)]
    for tries_left in (2, 1, 0):
        try:
            with _transaction(course) as gradebook:
                save_rows(gradebook.db, bundle, rows, partial(_late_penalty, course))
                for graded in batch:
                    withdraw_verdict(course, graded.verdict.student, bundle.assignment)
            return
        except Conflict:  # a student was being enrolled by another program, for example
            if not tries_left:
                raise


@contextmanager
def _transaction(course: Course) -> Iterator[Gradebook]:
    """The gradebook, locked: nbgrader's calls commit one by one, and here they stand or fall together."""
    with course.gradebook() as gradebook:
        commit, gradebook.db.commit = gradebook.db.commit, gradebook.db.flush
        try:
            take_lock(gradebook)
            yield gradebook
            gradebook.db.flush()
            commit()
        finally:
            gradebook.db.commit = commit


def _rows(course: Course, graded: Graded) -> Iterator[SubmissionRows]:
    """Yield what the gradebook keeps of each notebook; one that is missing beside others has 0 points."""
    student, assignment = graded.verdict.student, graded.verdict.assignment
    at = course.submitted_at(student, assignment)
    for part in graded.notebooks:
        verdict = part.verdict
        absent = verdict.status == "missing" != graded.verdict.status
        # Ours, and found valid when it was written: so it is not validated again.
        cells = {grade_id(cell): cell for cell in nbformat.v4.reads(part.notebook).cells if grade_id(cell)}
        yield SubmissionRows(
            student,
            verdict.notebook,
            at,
            {}
            if absent
            else {name: CellScore(_score(cell), _untouched(cell)) for name, cell in cells.items()},
            read=absent or verdict.status not in UNREAD,
            look_again=verdict.nothing_ran,
        )


def _set_permissions(course: Course, student: str, assignment: str) -> None:
    """Set permissions as nbgrader does, and those of the student's folder, too, which it forgets to share."""
    Autograde(coursedir=course.directory, config=course.config).set_permissions(assignment, student)
    course.access.open_to_the_group(course.folder("autograded", student, "."))


def _is_whole(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_bytes()), dict)
    except (OSError, ValueError):
        return False


def _score(cell: NotebookNode) -> float | None:
    return None if is_task(cell) or not is_grade(cell) else determine_grade(cell)[0]


def _untouched(cell: NotebookNode) -> bool:
    if is_task(cell):
        return False
    return bool(cell["metadata"]["nbgrader"].get("checksum") == compute_checksum(cell))


def _late_penalty(course: Course, student: str, score: float, seconds_late: float) -> float | None:
    """The points that the course's late policy takes off, never more than the score; `None` if none."""
    step = AssignLatePenalties(config=course.config)
    try:
        step.init_plugin()
        penalty = step.plugin_inst.late_submission_penalty(student, score, seconds_late)
    except Exception as error:  # the course's own code: anything may happen in it
        raise UserError(
            f"The course's late policy {step.plugin_class.__name__} fails with "
            f"{type(error).__name__}: {error}"
        ) from error
    return None if penalty is None else min(max(penalty, 0.0), score)
