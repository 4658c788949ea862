"""The instructor's report of one assignment: everything that is shown, gathered once.

`gather` reads the course; what it returns is plain data, from which the page, the JSON and the CSV
tables are made. No number is computed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from autograder.grading.course.course import Course
from autograder.grading.records.clusters import Alike, cluster
from autograder.grading.records.results import read_verdicts
from autograder.grading.records.scores import STATES, WAITING, Mark, Marks, read_marks
from autograder.reporting.answers import AnswersAsRead
from autograder.reporting.attention import UNPROTECTED, Attention, attention, first_to_see
from autograder.reporting.common_mistakes import (
    Answers,
    CommonMistake,
    Example,
    common_mistakes,
    excerpt,
    shortest,
)
from autograder.reporting.guessed import Guessed, guesses
from autograder.reporting.similarity import AlikeTask, Pair, Side, similar_pairs
from autograder.reporting.statistics import (
    CheckStatistics,
    Spread,
    TaskStatistics,
    check_statistics,
    judged,
    spread,
    task_statistics,
)
from autograder.verdict import Verdict

MOST_SHOWN = {"mistakes": 60, "clusters": 30, "pairs": 25}
"""The most entries kept of each long list; the report says how many there were."""


@dataclass(frozen=True)
class Cluster:
    """Wrong answers that are alike and that no known mistake explains."""

    task: str
    students: tuple[str, ...]
    title: str
    message: str
    """The first check they fail, and what it says of one of them."""
    checks: tuple[str, ...]
    example: Example


@dataclass(frozen=True)
class Submission:
    """One student's line in the report."""

    student: str
    name: str
    state: str
    """One of `STATES` of the gradebook."""
    status: str
    """The verdict's status; `""` where there is no verdict."""
    score: float | None
    penalty: float
    tasks: Mapping[str, float | None]
    """The checks' points by task; `None` where the code was not judged."""
    seconds: float | None
    reasons: tuple[str, ...]
    """The kinds of `attention`."""
    first: str
    """The first thing to see."""
    notebook: Path | None
    """The graded notebook; `None` if there is none."""
    feedback: Path | None
    """The page that students get, if nbgrader has made it: the first one of several."""
    notebook_id: str
    late_seconds: float | None = None
    group: str = ""
    same_as: str = ""
    """All three as in `Mark`."""
    feedback_pages: tuple[Path, ...] = ()
    """All pages that students get, one for each notebook."""


@dataclass(frozen=True)
class Report:
    """All that one report says; docs/reporting.md describes its JSON."""

    course: str
    assignment: str
    notebook: str
    max_score: float
    graded: datetime
    """The time of the last verdict."""
    students: int
    handed_in: int
    judged: int
    full_marks: int
    need_a_person: int
    waiting: int
    """Submissions that wait for a person's points, or whose points a person should look at again."""
    states: Mapping[str, int]
    scores: Spread
    seconds: Spread
    tasks: tuple[TaskStatistics, ...]
    checks: tuple[CheckStatistics, ...]
    mistakes: tuple[CommonMistake, ...]
    explained: int
    """Students of whom at least one wrong answer is explained by a known mistake."""
    clusters: tuple[Cluster, ...]
    guesses: tuple[Guessed, ...]
    """The guesses before the notebook's demonstrations, where it asks for some."""
    attention: tuple[Attention, ...]
    everybody: Mapping[str, str]
    """Reasons that hold for most of the class, each with its message; they are in no other list."""
    pairs: tuple[Pair, ...]
    found: Mapping[str, int]
    """The number of mistakes, clusters and pairs in all."""
    submissions: tuple[Submission, ...]
    unprotected: int = 0
    """Test cells that ran beside the students' code, whose results can be forged."""


def gather(course: Course, assignment: str) -> Report:
    """The report of a graded assignment. Raises `UserError` if it is unknown or nothing was graded."""
    bundle = course.bundle(assignment)
    read = read_verdicts(course, assignment)
    verdicts = {verdict.student: verdict for verdict in read.everybody}
    marks = read_marks(course, assignment, read.statuses)
    submitted = course.students(assignment)
    told = list(verdicts.values())
    counted = judged(told)
    answers = AnswersAsRead(course, bundle, [verdict.student for verdict in counted])
    everybody, reasons = aside(attention(told, marks.marks, submitted), len(counted))
    reasons_of: dict[str, list[Attention]] = {}
    for reason in reasons:
        reasons_of.setdefault(reason.student, []).append(reason)
    mistakes = common_mistakes(counted, answers)
    clusters = cluster(counted)
    own = AnswersAsRead(course, bundle, [v.student for v in counted if not marks.marks[v.student].same_as])
    pairs = [
        pair
        for pair in similar_pairs(own, answers.stubs, bundle.of_all(lambda part: part.solution))
        if not (group := marks.marks[pair.left].group) or group != marks.marks[pair.right].group
    ]
    scored = [mark.score for mark in marks.marks.values() if mark.score is not None]
    return Report(
        course=str(course.directory.course_id),
        assignment=assignment,
        notebook=bundle.notebook,
        max_score=marks.max_score,
        graded=_last_graded(course, assignment, verdicts),
        students=len(marks.marks),
        handed_in=len([student for student in submitted if not _nothing_of_it(verdicts.get(student))]),
        judged=len(counted),
        full_marks=sum(score >= marks.max_score for score in scored),
        need_a_person=len(reasons_of),
        waiting=sum(mark.state in WAITING for mark in marks.marks.values()),
        states={state: n for state, n in _states(marks).items() if n},
        scores=spread(scored, marks.max_score),
        seconds=spread([verdict.seconds for verdict in counted]),
        tasks=tuple(task_statistics(told)),
        checks=tuple(check_statistics(told)),
        mistakes=tuple(mistakes[: MOST_SHOWN["mistakes"]]),
        explained=len({student for mistake in mistakes for student in mistake.students}),
        guesses=tuple(guesses(course, bundle, [verdict.student for verdict in counted])),
        clusters=tuple(_cluster(each, answers) for each in clusters[: MOST_SHOWN["clusters"]]),
        attention=tuple(reasons),
        everybody=everybody,
        unprotected=len({each for one in counted for each in one.findings if each.kind == UNPROTECTED}),
        pairs=tuple(_pair_in_excerpts(pair) for pair in pairs[: MOST_SHOWN["pairs"]]),
        found={"mistakes": len(mistakes), "clusters": len(clusters), "pairs": len(pairs)},
        submissions=tuple(
            _submission(course, marks, student, mark, verdicts.get(student), reasons_of.get(student, []))
            for student, mark in marks.marks.items()
        ),
    )


def _nothing_of_it(verdict: Verdict | None) -> bool:
    """Return whether a folder was found to hold no notebook of the assignment."""
    return verdict is not None and verdict.status == "missing"


def aside(found: list[Attention], counted: int) -> tuple[dict[str, str], list[Attention]]:
    """Split off what is said alike of most of the class: it is told once, and of no single student."""
    often = Counter((each.kind, each.message) for each in found)
    common = {kind: message for (kind, message), number in often.items() if number > max(3, counted / 2)}
    return common, [each for each in found if common.get(each.kind) != each.message]


def _states(marks: Marks) -> dict[str, int]:
    count = Counter(mark.state for mark in marks.marks.values())
    return {state: count[state] for state in STATES}


def _cluster(found: Alike, answers: Answers) -> Cluster:
    return Cluster(
        task=found.task,
        students=found.students,
        title=found.checks[0].title,
        message=found.checks[0].message,
        checks=tuple(check.title for check in found.checks),
        example=shortest(found.task, found.students, answers),
    )


def _pair_in_excerpts(pair: Pair) -> Pair:
    """A pair with its code cut to as much as a person reads."""
    return replace(pair, tasks=tuple(_task_in_excerpts(task) for task in pair.tasks))


def _task_in_excerpts(task: AlikeTask) -> AlikeTask:
    left, right = (Side(excerpt(side.cell), side.alike) for side in (task.left, task.right))
    return replace(task, left=left, right=right)


def _submission(
    course: Course,
    marks: Marks,
    student: str,
    mark: Mark,
    verdict: Verdict | None,
    mine: list[Attention],
) -> Submission:
    counts = verdict is not None and bool(judged([verdict]))
    graded, pages = (course.folder(step, student, marks.assignment) for step in ("autograded", "feedback"))
    feedback = tuple(sorted(pages.glob("*.html")))
    enrolled = marks.students[student]
    return Submission(
        student=student,
        name=" ".join(filter(None, (enrolled.first_name, enrolled.last_name))),
        state=mark.state,
        status=verdict.status if verdict else "",
        score=mark.score,
        penalty=mark.penalty,
        tasks={task.task: task.score if counts else None for task in (verdict.tasks if verdict else ())},
        seconds=verdict.seconds if verdict and counts else None,
        reasons=tuple(dict.fromkeys(each.kind for each in mine)),
        first=(first_to_see(verdict) if verdict else "") or (mine[0].message if mine else ""),
        notebook=next(iter(sorted(graded.glob("*.ipynb"))), None),
        feedback=next(iter(feedback), None),
        notebook_id=mark.notebook_id,
        late_seconds=mark.late_seconds,
        group=mark.group,
        same_as=mark.same_as,
        feedback_pages=feedback,
    )


def _last_graded(course: Course, assignment: str, verdicts: Mapping[str, Verdict]) -> datetime:
    paths = [course.verdict_path(student, assignment) for student in verdicts]
    return datetime.fromtimestamp(int(max(path.stat().st_mtime for path in paths if path.is_file())))
