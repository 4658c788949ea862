"""Puts a graded submission on record: notebook, verdict, and last the scores in the gradebook.

One writer does this for a whole batch. Scores are saved as nbgrader's own `SaveAutoGrades` saves
them, from the same cells by the same rule, but in one transaction; manual grades and comments stay.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_task
from sqlalchemy import text

from autograder.grading.bundle import Bundle, grade_id
from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.judge import Graded
from autograder.grading.store import save_verdict, write_whole


def check_gradebook(course: Course, bundle: Bundle) -> None:
    """Raise `UserError` unless the gradebook can be written and knows the assignment, before anything is run."""
    with course.gradebook() as gradebook:
        try:
            assignment = gradebook.find_assignment(bundle.assignment)
            gradebook.find_notebook(bundle.notebook, bundle.assignment)
        except MissingEntry:
            raise UserError(
                f"The gradebook does not know the assignment {bundle.assignment}: run `autograder build {bundle.assignment}` first."
            ) from None
        gradebook.db.execute(text("UPDATE assignment SET name = name WHERE id = :id"), {"id": assignment.id})
        gradebook.db.rollback()


def record(course: Course, bundle: Bundle, graded: Graded, key: str) -> None:
    """Record one submission. What was on record before stands until the last step, the scores, succeeds."""
    student, assignment = graded.verdict.student, graded.verdict.assignment
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student(student)
        try:
            gradebook.find_submission(assignment, student)
        except MissingEntry:
            gradebook.add_submission(assignment, student)
        folder = course.folder("autograded", student, assignment)
        write_whole(folder / f"{bundle.notebook}.ipynb", graded.notebook)
        stamp = course.folder("submitted", student, assignment) / "timestamp.txt"
        if stamp.is_file() and not stamp.is_symlink():
            shutil.copyfile(stamp, folder / "timestamp.txt")
        save_verdict(course, graded.verdict, key)
        _save_scores(gradebook, course, bundle, graded)
    _assign_late_penalty(course, bundle, student)


def _save_scores(gradebook: Gradebook, course: Course, bundle: Bundle, graded: Graded) -> None:
    student = graded.verdict.student
    submission = gradebook.find_submission(bundle.assignment, student)
    submission.timestamp = course.submitted_at(student, bundle.assignment)
    notebook = gradebook.find_submission_notebook(bundle.notebook, bundle.assignment, student)
    cells = {grade_id(cell): cell for cell in nbformat.reads(graded.notebook, as_version=4).cells if grade_id(cell)}
    read = graded.verdict.status not in ("missing", "corrupt")
    for grade in notebook.grades:
        grade.auto_score = _score(cells, grade.name) if read else 0.0
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    for comment in notebook.comments:
        comment.auto_comment = "No response." if _untouched(cells.get(comment.name)) else None
    gradebook.db.commit()


def _score(cells: Mapping[str, NotebookNode], name: str) -> float | None:
    return determine_grade(cells[name])[0] if name in cells else 0.0


def _untouched(cell: NotebookNode | None) -> bool:
    if cell is None or is_task(cell):
        return False
    return bool(cell["metadata"]["nbgrader"].get("checksum") == compute_checksum(cell))


def _assign_late_penalty(course: Course, bundle: Bundle, student: str) -> None:
    """Let nbgrader's own step do it, so that the course's late policy holds."""
    marks = {
        "notebook": bundle.notebook,
        "assignment": bundle.assignment,
        "student": student,
        "db_url": course.directory.db_url,
    }
    AssignLatePenalties(config=course.config).preprocess(nbformat.v4.new_notebook(), {"nbgrader": marks})
