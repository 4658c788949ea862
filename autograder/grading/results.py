"""What was found in a class: the verdicts on record, and who is missing."""

from __future__ import annotations

from typing import Any

from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.store import assignment_seed, load_verdict
from autograder.grading.verdict import Finding, TaskVerdict, Verdict


def results(course: Course, assignment: str) -> list[dict[str, Any]]:
    """The JSON of every graded submission, and of every student of the gradebook who handed in nothing.

    Raises `UserError` if nothing has been graded. Submissions that wait to be graded are left out.
    """
    bundle = course.bundle(assignment)
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(course.verdict_path("x", assignment).parent.glob("*.json")):
        kept = load_verdict(course, path.stem, assignment)
        if kept is not None:
            found[path.stem] = kept.verdict
    if not found:
        raise UserError(f"Nothing has been graded yet: run `autograder grade {assignment}` first.")
    submitted = set(course.students(assignment))
    with course.gradebook() as gradebook:
        enrolled = [student.id for student in gradebook.students]
    seed = assignment_seed(course, assignment)
    tasks = tuple(TaskVerdict(task, points, ()) for task, points in bundle.tasks.items())
    for student in enrolled:
        if student not in found and student not in submitted:
            nothing = (Finding("missing", "Nothing was submitted."),)
            verdict = Verdict(student, assignment, bundle.notebook, "missing", 0.0, seed, nothing, tasks)
            found[student] = verdict.as_json()
    return [found[student] for student in sorted(found)]
