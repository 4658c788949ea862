"""Last year's submissions judged beside the scores that the gradebook has of them; nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import shorten

from autograder.grading.adopting.survey import plural
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.build import PROOF_SEED, source_bundle
from autograder.grading.course.course import Course
from autograder.grading.judging.jobs import Failure, Judges
from autograder.grading.judging.judge import Graded
from autograder.grading.judging.submitted import Submitted
from autograder.grading.records.scores import Cell, grades_of, task_names
from autograder.verdict import UNREAD, TaskVerdict

_SHOWN = 120
"""The most characters of what a test said."""


@dataclass(frozen=True)
class Comparison:
    """The automatic scores of an assignment's submissions, compared with those in the gradebook."""

    submissions: int
    different: tuple[str, ...]
    """A line for each submission that would get other scores."""

    def __str__(self) -> str:
        many, others = plural(self.submissions, "submission"), len(self.different)
        if not others:
            return f"{many}: the same scores as in the gradebook."
        return f"{many}: {self.submissions - others} the same scores as in the gradebook, {others} not:"


def compare(
    course: Course,
    assignment: str,
    judges: Judges,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Comparison | None:
    """Judge the submissions that the gradebook has automatic scores of; `None` where there are none.

    The tests are those of the source as it is, built or not.
    """
    before = _scores(course, assignment)
    students = [student for student in course.students(assignment) if student in before]
    if not students:
        return None
    bundle = source_bundle(course, assignment)
    jobs = (Submitted(student, course.handed_in(student, bundle)) for student in students)
    different: dict[str, str] = {}
    done = 0
    for some in judges.work_off(jobs, bundle, PROOF_SEED, {}):
        for job, result in some:
            assert isinstance(job, Submitted)
            if line := _difference(job.student, before[job.student], result, bundle):
                different[job.student] = line
        done += len(some)
        advance(done, len(students))
    return Comparison(len(students), tuple(different[student] for student in sorted(different)))


def _scores(course: Course, assignment: str) -> dict[str, dict[Cell, float]]:
    """The automatic scores in the gradebook, by student and cell."""
    if not course.has_gradebook:
        return {}
    found: dict[str, dict[Cell, float]] = {}
    with course.gradebook() as gradebook:
        for row in gradebook.db.execute(grades_of(assignment)):
            if row.auto_score is not None:
                found.setdefault(row.student, {})[row.notebook, row.cell] = row.auto_score
    return found


def _difference(student: str, before: Mapping[Cell, float], result: object, bundle: Bundle) -> str:
    """The line for a submission that would get other scores; `""` for one that would not."""
    if not isinstance(result, Graded):
        reason = result.reason if isinstance(result, Failure) else "it could not be judged."
        return f"{student}: not compared, {reason}"
    verdict = result.verdict
    cells = {task: cell for cell, task in task_names(bundle).items()}
    old = {task.task: before.get(cells[task.task], 0.0) for task in verdict.tasks}
    if verdict.status in UNREAD:
        return f"{student} {sum(old.values()):g}: {' '.join(each.message for each in verdict.findings)}"
    changed = [_change(old[task.task], task) for task in verdict.tasks if task.score != old[task.task]]
    if not changed:
        return ""
    return f"{student} {sum(old.values()):g} → {verdict.score:g}: {'; '.join(changed)}"


def _change(old: float, task: TaskVerdict) -> str:
    message = next(
        (check.message for check in task.checks if check.outcome != "passed" and check.message), ""
    )
    said = f" ({shorten(message, _SHOWN, placeholder=' …')})" if message else ""
    return f"`{task.task}` {old:g} → {task.score:g}{said}"
