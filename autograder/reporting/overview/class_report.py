"""The instructor's report of a whole course: everything that is shown, gathered once from each assignment.

No number is computed otherwise than in the report of one assignment; what is new here is what only shows over
several: totals, who falls behind, and which tasks, checks and mistakes cost most in the whole course.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.records.results import read_verdicts
from autograder.grading.records.scores import Marks, read_marks
from autograder.reporting.attention import REASONS, Attention, attention
from autograder.reporting.common_mistakes import CommonMistake, common_mistakes
from autograder.reporting.export import graded_assignments
from autograder.reporting.overview.behind import Behind, falling_behind
from autograder.reporting.report import aside
from autograder.reporting.statistics import (
    CheckStatistics,
    Spread,
    TaskStatistics,
    check_statistics,
    judged,
    spread,
    task_statistics,
)

MOST_SHOWN = {"mistakes": 15, "checks": 12}
"""The most entries kept of each long list; the report says how many there were."""


@dataclass(frozen=True)
class AssignmentLine:
    """One assignment over the class."""

    assignment: str
    max_score: float
    handed_in: int
    scores: Spread
    median_share: float | None
    """The median score as a share of all points."""
    full_marks: int
    need_a_person: int
    tasks: tuple[TaskStatistics, ...]


@dataclass(frozen=True)
class StudentLine:
    """One student over the assignments."""

    student: str
    name: str
    scores: Mapping[str, float | None]
    """The scores by assignment; `None` where there is none."""
    states: Mapping[str, str]
    """One of the gradebook's `STATES` by assignment."""
    total: float | None
    """The sum of the scores that there are; `None` without any."""
    scored: int
    """The number of assignments with a score."""
    share: float | None
    """The total as a share of what those assignments are worth; `None` without any."""
    reasons: int
    """The number of assignments in which a person should look."""


@dataclass(frozen=True)
class Reason:
    """A reason to look at one submission."""

    assignment: str
    student: str
    kind: str
    """One of attention's `REASONS`."""
    message: str
    notebook_id: str
    """nbgrader's name of the submission in formgrader's addresses; `""` if there is none."""


@dataclass(frozen=True)
class MissedCheck:
    """One of the checks that the fewest students passed."""

    assignment: str
    check: CheckStatistics


@dataclass(frozen=True)
class FrequentMistake:
    """One of the known mistakes that most students made."""

    assignment: str
    mistake: CommonMistake


@dataclass(frozen=True)
class CourseReport:
    """All that the report of a course says; docs/reporting.md describes its JSON."""

    course: str
    graded: datetime
    """The time of the last verdict."""
    max_total: float
    totals: Spread
    assignments: tuple[AssignmentLine, ...]
    students: tuple[StudentLine, ...]
    behind: tuple[Behind, ...]
    need_a_person: int
    """The number of submissions."""
    attention: tuple[Reason, ...]
    """The most urgent first."""
    everybody: Mapping[str, Mapping[str, str]]
    """The reasons that hold for most of the class, each with its message, by assignment."""
    checks: tuple[MissedCheck, ...]
    mistakes: tuple[FrequentMistake, ...]
    found: Mapping[str, int]
    """The number of checks that somebody failed, and of mistakes that somebody made, in all."""


@dataclass(frozen=True)
class _Graded:
    """A summary of one assignment's records: its verdicts are not kept while others are read."""

    marks: Marks
    tasks: tuple[TaskStatistics, ...]
    checks: tuple[CheckStatistics, ...]
    mistakes: tuple[CommonMistake, ...]
    handed_in: int
    attention: list[Attention]
    everybody: dict[str, str]
    last: float


def gather_course(course: Course) -> CourseReport:
    """The report of all graded assignments of a course. Raises `UserError` if nothing was graded."""
    known = [name for name in graded_assignments(course) if any(_verdict_files(course, name))]
    if not known:
        raise UserError("Nothing has been graded yet: run `autograder grade ASSIGNMENT` first.")
    found = [_read(course, name) for name in known]
    students = _students(found)
    checks = [
        MissedCheck(each.marks.assignment, check) for each in found for check in each.checks if check.failed
    ]
    checks.sort(key=lambda each: (each.check.pass_rate or 0.0, -each.check.failed))
    mistakes = [
        FrequentMistake(each.marks.assignment, mistake) for each in found for mistake in each.mistakes
    ]
    mistakes.sort(key=lambda each: -len(each.mistake.students))
    reasons = [_reason(each.marks, reason) for each in found for reason in each.attention]
    max_total = sum(each.marks.max_score for each in found)
    return CourseReport(
        course=str(course.directory.course_id),
        graded=datetime.fromtimestamp(int(max(each.last for each in found))),
        max_total=max_total,
        totals=spread([line.total for line in students if line.total is not None], max_total),
        assignments=tuple(_assignment(each) for each in found),
        students=tuple(students),
        behind=tuple(falling_behind([each.marks for each in found])),
        need_a_person=sum(len({reason.student for reason in each.attention}) for each in found),
        attention=tuple(sorted(reasons, key=lambda each: list(REASONS).index(each.kind))),
        everybody={each.marks.assignment: each.everybody for each in found if each.everybody},
        checks=tuple(checks[: MOST_SHOWN["checks"]]),
        mistakes=tuple(mistakes[: MOST_SHOWN["mistakes"]]),
        found={"checks": len(checks), "mistakes": len(mistakes)},
    )


def _verdict_files(course: Course, assignment: str) -> list[Path]:
    return sorted(course.verdict_path("x", assignment).parent.glob("*.json"))


def _read(course: Course, assignment: str) -> _Graded:
    read = read_verdicts(course, assignment)
    marks, verdicts = read_marks(course, assignment, read.statuses), read.everybody
    submitted = course.students(assignment)
    missing = {verdict.student for verdict in verdicts if verdict.status == "missing"}
    everybody, reasons = aside(attention(verdicts, marks.marks, submitted), len(judged(verdicts)))
    return _Graded(
        marks=marks,
        tasks=tuple(task_statistics(verdicts)),
        checks=tuple(check_statistics(verdicts)),
        mistakes=tuple(common_mistakes(judged(verdicts), {})),
        handed_in=len(set(submitted) - missing),
        attention=reasons,
        everybody=everybody,
        last=max(path.stat().st_mtime for path in _verdict_files(course, assignment)),
    )


def _assignment(found: _Graded) -> AssignmentLine:
    marks = found.marks
    scored = [mark.score for mark in marks.marks.values() if mark.score is not None]
    scores = spread(scored, marks.max_score)
    known = scores.median is not None and marks.max_score
    return AssignmentLine(
        assignment=marks.assignment,
        max_score=marks.max_score,
        handed_in=found.handed_in,
        scores=scores,
        median_share=(scores.median or 0.0) / marks.max_score if known else None,
        full_marks=sum(score >= marks.max_score for score in scored),
        need_a_person=len({reason.student for reason in found.attention}),
        tasks=found.tasks,
    )


def _students(found: Sequence[_Graded]) -> list[StudentLine]:
    names: dict[str, str] = {}
    for each in found:
        for student, enrolled in each.marks.students.items():
            told = " ".join(filter(None, (enrolled.first_name, enrolled.last_name)))
            names[student] = names.get(student) or told
    looks = Counter(student for each in found for student in {reason.student for reason in each.attention})
    return [_student(student, names[student], found, looks[student]) for student in sorted(names)]


def _student(student: str, name: str, found: Sequence[_Graded], reasons: int) -> StudentLine:
    scores: dict[str, float | None] = {}
    states: dict[str, str] = {}
    worth = 0.0
    for each in found:
        mark = each.marks.marks.get(student)
        scores[each.marks.assignment] = mark.score if mark else None
        states[each.marks.assignment] = mark.state if mark else "missing"
        worth += each.marks.max_score if mark and mark.score is not None else 0.0
    had = [score for score in scores.values() if score is not None]
    return StudentLine(
        student=student,
        name=name,
        scores=scores,
        states=states,
        total=sum(had) if had else None,
        scored=len(had),
        share=sum(had) / worth if worth else None,
        reasons=reasons,
    )


def _reason(marks: Marks, found: Attention) -> Reason:
    mark = marks.marks.get(found.student)
    return Reason(
        marks.assignment, found.student, found.kind, found.message, mark.notebook_id if mark else ""
    )
