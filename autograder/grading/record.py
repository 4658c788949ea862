"""Puts a graded submission on record: its scores in the gradebook, its verdict, its notebook.

One writer does this for `autograder grade` and for `nbgrader autograde`. Scores are saved as
nbgrader's own `SaveAutoGrades` saves them, from the same cells by the same rule, but all in one
transaction; manual grades and comments stay, and are flagged for a second look.
"""

from __future__ import annotations

from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_task
from sqlalchemy import text

from autograder.grading.bundle import Bundle, grade_id, is_grade
from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.judge import Graded
from autograder.grading.store import staged, staged_verdict, write_whole


def check_gradebook(course: Course, bundle: Bundle) -> None:
    """Raise `UserError`, before anything is run, unless the gradebook can be written and knows it."""
    build = f"run `autograder build {bundle.assignment}`"
    with course.gradebook() as gradebook:
        try:
            known = gradebook.find_notebook(bundle.notebook, bundle.assignment).grade_cells
        except MissingEntry:
            raise UserError(
                f"The gradebook does not know the assignment {bundle.assignment}: {build} first."
            ) from None
        cells = [cell for cell in nbformat.reads(bundle.released, as_version=4).cells if is_grade(cell)]
        if {grade_id(cell): float(cell["metadata"]["nbgrader"]["points"]) for cell in cells} != {
            cell.name: float(cell.max_score) for cell in known
        }:
            raise UserError(
                f"The gradebook knows other cells or points of {bundle.assignment} than the release has: "
                f"{build} again."
            )
        _take_lock(gradebook, bundle)
        gradebook.db.rollback()


def recorded(course: Course, bundle: Bundle) -> set[str]:
    """The students whose notebook and every score are on record: a verdict alone is none."""
    with course.gradebook() as gradebook:
        query = text(
            "SELECT submitted_assignment.student_id FROM grade"
            " JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id"
            " JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id"
            " JOIN assignment ON submitted_assignment.assignment_id = assignment.id"
            " WHERE assignment.name = :name GROUP BY submitted_assignment.student_id"
            " HAVING SUM(CASE WHEN grade.auto_score IS NULL AND NOT grade.needs_manual_grade"
            " THEN 1 ELSE 0 END) = 0"
        )
        found = gradebook.db.execute(query, {"name": bundle.assignment}).scalars().all()
    name = f"{bundle.notebook}.ipynb"
    return {s for s in found if (course.folder("autograded", s, bundle.assignment) / name).is_file()}


def record(course: Course, bundle: Bundle, graded: Graded, key: str) -> None:
    """Record one submission, whole or not at all, with the notebook where nbgrader would write it."""
    student, assignment = graded.verdict.student, graded.verdict.assignment
    folder = course.folder("autograded", student, assignment)
    with staged(folder / f"{bundle.notebook}.ipynb", graded.notebook + "\n"):
        record_scores(course, bundle, graded, key)
    submitted = course.folder("submitted", student, assignment) / "timestamp.txt"
    stamp = folder / "timestamp.txt"
    if submitted.is_file() and not submitted.is_symlink():
        write_whole(stamp, submitted.read_text(encoding="utf-8", errors="replace"))
    else:
        stamp.unlink(missing_ok=True)
    Autograde(coursedir=course.directory, config=course.config).set_permissions(assignment, student)


def record_scores(course: Course, bundle: Bundle, graded: Graded, key: str) -> None:
    """Record the scores, the late penalty and the verdict: what `nbgrader autograde` leaves to us.

    The verdict is put in place last: while it is not there, the submission counts as not graded.
    """
    student = graded.verdict.student
    with course.gradebook() as gradebook:
        # nbgrader's calls commit one by one; here they all stand or fall with the one commit at the end.
        commit, gradebook.db.commit = gradebook.db.commit, gradebook.db.flush
        _take_lock(gradebook, bundle)
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(bundle.assignment, student)
        submission.timestamp = course.submitted_at(student, bundle.assignment)
        notebook = gradebook.find_submission_notebook(bundle.notebook, bundle.assignment, student)
        _save_scores(notebook, graded)
        gradebook.db.flush()
        gradebook.db.expire(notebook)  # its score is a sum that the database computes
        notebook.late_submission_penalty = _late_penalty(course, notebook, submission.total_seconds_late)
        with staged_verdict(course, graded.verdict, key):
            commit()


def _take_lock(gradebook: Gradebook, bundle: Bundle) -> None:
    """Write without a change, so that a locked or read-only gradebook is found before there is one."""
    gradebook.db.execute(
        text("UPDATE assignment SET name = name WHERE name = :name"), {"name": bundle.assignment}
    )


def _save_scores(notebook: SubmittedNotebook, graded: Graded) -> None:
    cells = {
        grade_id(cell): cell for cell in nbformat.reads(graded.notebook, as_version=4).cells if grade_id(cell)
    }
    read = graded.verdict.status not in ("missing", "corrupt")
    for grade in notebook.grades:
        grade.auto_score = _score(cells, grade.name) if read else 0.0
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    for comment in notebook.comments:
        comment.auto_comment = "No response." if _untouched(cells.get(comment.name)) else None


def _score(cells: Mapping[str, NotebookNode], name: str) -> float | None:
    return determine_grade(cells[name])[0] if name in cells else 0.0


def _untouched(cell: NotebookNode | None) -> bool:
    if cell is None or is_task(cell):
        return False
    return bool(cell["metadata"]["nbgrader"].get("checksum") == compute_checksum(cell))


def _late_penalty(course: Course, notebook: SubmittedNotebook, seconds_late: float) -> float | None:
    """What the course's late policy takes off, never more than the score."""
    if seconds_late <= 0:
        return None
    step = AssignLatePenalties(config=course.config)
    try:
        step.init_plugin()
        penalty = step.plugin_inst.late_submission_penalty(notebook.student.id, notebook.score, seconds_late)
    except Exception as error:  # the course's own code: anything may happen in it
        raise UserError(
            f"The course's late policy {step.plugin_class.__name__} fails with "
            f"{type(error).__name__}: {error}"
        ) from error
    return None if penalty is None else min(max(penalty, 0.0), notebook.score)
