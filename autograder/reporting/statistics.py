"""A class in numbers: its scores, its tasks, and what each check tells about the class and about itself.

Submissions count where the student's code was judged; one that is missing, unreadable or not graded is
not a 0. A check counts where it was judged: one that waits for another check, or whose task is not
written yet, says nothing about what it asks for.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.verdict import ENDED, CheckVerdict, Verdict

JUDGED = ("graded", *ENDED)
"""The statuses of submissions whose code was judged."""

FEWEST, FEW = 10, 30
"""The fewest submissions for a discrimination to be given, and for it to be given without a warning."""
FEWEST_APART = 3
"""The fewest submissions that must differ from all others: with fewer it would be a statement about them."""


@dataclass(frozen=True)
class Bin:
    """A bar of a distribution: the number of values from `low` to `high`; only the last holds its `high`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Spread:
    """A distribution in a few numbers; all `None` where there is no value."""

    count: int
    mean: float | None
    median: float | None
    lower_quartile: float | None
    upper_quartile: float | None
    lowest: float | None
    highest: float | None
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Discrimination:
    """The correlation of success here with the points in the other tasks, over `count` submissions.

    `value` is `None` with fewer than `FEWEST` of them, and where all, or all but a few, did equally well.
    `why` gives the reason.
    """

    value: float | None
    count: int
    why: str = ""


@dataclass(frozen=True)
class TaskStatistics:
    """The statistics of one task over the class."""

    task: str
    max_score: float
    judged: int
    unwritten: int
    full: int
    """Submissions with all its points."""
    mean: float | None
    earned: float | None
    """The share of its points that the class earned: the difficulty."""
    discrimination: Discrimination


@dataclass(frozen=True)
class CheckStatistics:
    """The statistics of one check over the class."""

    task: str
    check: str
    rule: str
    title: str
    hidden: bool
    max_points: float
    passed: int
    failed: int
    """Submissions in which it was judged and did not pass, whatever the reason."""
    skipped: int
    """Submissions in which it was not judged, because another check did not pass."""
    unwritten: int
    pass_rate: float | None
    """The share that passed, of the submissions in which it was judged."""
    earned: float | None
    """The share of its points that the class earned, skipped and unwritten too; `None` without points."""
    discrimination: Discrimination


def spread(values: Sequence[float], high: float | None = None, bars: int = 10) -> Spread:
    """The distribution of values from 0 to `high`, in `bars` of one width.

    Without `high` they end above the largest value, and are of a width that people count in.
    """
    if not values:
        return Spread(0, None, None, None, None, None, None, ())
    quartiles = statistics.quantiles(values, method="inclusive") if len(values) > 1 else [values[0]] * 3
    top = max([high or 0.0, *values]) or 1.0
    if high is None:
        width = _round_width(top / bars)
        bars = math.ceil(top / width - 1e-9)
        top = bars * width
    counts = Counter(min(bars - 1, int(value / top * bars + 1e-9)) for value in values)
    return Spread(
        count=len(values),
        mean=statistics.fmean(values),
        median=statistics.median(values),
        lower_quartile=quartiles[0],
        upper_quartile=quartiles[2],
        lowest=min(values),
        highest=max(values),
        bins=tuple(Bin(top * i / bars, top * (i + 1) / bars, counts[i]) for i in range(bars)),
    )


def _round_width(width: float) -> float:
    """The next larger width that is 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(count * power for count in (1, 2, 2.5, 5, 10) if count * power >= width * (1 - 1e-9))


def judged(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that say something about the student's code."""
    return [verdict for verdict in verdicts if verdict.status in JUDGED]


def task_statistics(verdicts: Iterable[Verdict]) -> list[TaskStatistics]:
    """The statistics of each task, in the notebook's order."""
    counted = judged(verdicts)
    found = []
    for name in dict.fromkeys(task.task for verdict in counted for task in verdict.tasks):
        mine = [(verdict, task) for verdict in counted for task in verdict.tasks if task.task == name]
        most = mine[0][1].max_score
        scores = [task.score for _, task in mine]
        written = [(verdict, task) for verdict, task in mine if not task.unwritten]
        found.append(
            TaskStatistics(
                task=name,
                max_score=most,
                judged=len(mine),
                unwritten=len(mine) - len(written),
                full=sum(score >= most for score in scores),
                mean=statistics.fmean(scores),
                earned=statistics.fmean(scores) / most if most else None,
                discrimination=discrimination(
                    [task.score for _, task in written],
                    [_points_elsewhere(verdict, name) for verdict, _ in written],
                ),
            )
        )
    return found


def check_statistics(verdicts: Iterable[Verdict]) -> list[CheckStatistics]:
    """The statistics of each check, in the notebook's order."""
    counted = judged(verdicts)
    return [
        each
        for name in dict.fromkeys(task.task for verdict in counted for task in verdict.tasks)
        for each in _checks_of(name, counted)
    ]


def _checks_of(name: str, counted: Iterable[Verdict]) -> list[CheckStatistics]:
    """The statistics of one task's checks. All tasks' at once would take five times the memory."""
    found: dict[str, list[tuple[float, CheckVerdict, bool]]] = {}
    for verdict in counted:
        for task in verdict.tasks:
            if task.task == name:
                elsewhere, unwritten = _points_elsewhere(verdict, name), task.unwritten
                for check in task.checks:
                    found.setdefault(check.check, []).append((elsewhere, check, unwritten))
    return [_check(name, rows) for rows in found.values()]


def discrimination(items: Sequence[float], rests: Sequence[float]) -> Discrimination:
    """The correlation of an item with the rest; for a passed/failed item the point-biserial one."""
    count = len(items)
    if count < FEWEST:
        return Discrimination(None, count, f"fewer than {FEWEST} submissions")
    if len(set(items)) == 1:
        return Discrimination(None, count, "all did equally well here")
    rarest = min(Counter(items).values())
    if len(set(items)) == 2 and rarest < FEWEST_APART:
        return Discrimination(None, count, f"only {rarest} of {count} did otherwise than the rest here")
    if len(set(rests)) == 1:
        return Discrimination(None, count, "all did equally well in the other tasks")
    few = f"only {count} submissions: uncertain by about ±{1 / math.sqrt(count - 3):.1f}"
    return Discrimination(statistics.correlation(items, rests), count, few if count < FEW else "")


def _check(task: str, rows: Sequence[tuple[float, CheckVerdict, bool]]) -> CheckStatistics:
    """The statistics of one check; a row has the points in the other tasks, too, and if it is not written."""
    check = rows[0][1]
    unwritten = sum(unwritten for _, _, unwritten in rows)
    counting = [
        (elsewhere, one) for elsewhere, one, unwritten in rows if not unwritten and one.outcome != "skipped"
    ]
    passed = [float(one.outcome == "passed") for _, one in counting]
    most = check.max_points
    return CheckStatistics(
        task=task,
        check=check.check,
        rule=check.rule,
        title=check.title,
        hidden=check.hidden,
        max_points=most,
        passed=round(sum(passed)),
        failed=len(passed) - round(sum(passed)),
        skipped=len(rows) - unwritten - len(counting),
        unwritten=unwritten,
        pass_rate=statistics.fmean(passed) if passed else None,
        earned=statistics.fmean(one.points for _, one, _ in rows) / most if most else None,
        discrimination=discrimination(passed, [elsewhere for elsewhere, _ in counting]),
    )


def _points_elsewhere(verdict: Verdict, task: str) -> float:
    """The points in the other tasks: those in the same task depend on each of its checks."""
    return sum(other.score for other in verdict.tasks if other.task != task)
