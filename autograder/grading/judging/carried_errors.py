"""Follow-on errors: a mistake costs its own task only, also where later answers use the wrong one.

A task that failed is judged once more with right answers in place of the earlier tasks that failed. What
is then right counts. No text of that second judging reaches the student: code that ran beside a
solution could have put it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.grading.judging.faults_met import faulty
from autograder.verdict import CheckVerdict, TaskVerdict


def merged(first: TaskVerdict, second: TaskVerdict, replaced: Sequence[str]) -> TaskVerdict:
    """The better of two judgings of a task, check by check; `replaced` are the tasks that were put right.

    The first stands unless the second brings points, or shows that a check has a fault.
    """
    if second.score <= first.score and not faulty(second):
        return first
    names = " and ".join(f"`{name}`" for name in replaced)
    checks = tuple(_better(old, new, names) for old, new in zip(first.checks, second.checks, strict=True))
    return replace(
        first,
        checks=checks,
        note=f"Judged with a correct {names} instead of yours, so that a mistake there costs nothing here.",
    )


def _better(old: CheckVerdict, new: CheckVerdict, names: str) -> CheckVerdict:
    if "fault" in (old.outcome, new.outcome):
        return old if old.outcome in ("passed", "fault") else new
    if old.outcome == "passed" or new.outcome == "passed":
        return replace(old if old.outcome == "passed" else new, message="", evidence=None, prints=None)
    if old.outcome == "skipped" and new.outcome != "skipped":
        said = f"This fails even with a correct {names}."
        return replace(new, message=said, evidence=None, prints=None)
    if new.outcome == "skipped":
        return old
    points = max(old.points, new.points)
    return replace(new, message=old.message, evidence=old.evidence, prints=old.prints, points=points)
