"""Students who fall behind: a reason to ask how they are, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.records.scores import Marks

LATEST = 3
"""The number of latest graded assignments that are looked at: what was long ago is no news."""
MISSED = 2
"""The number of them in which a student who falls behind has handed in nothing."""
FEW = 0.5
"""The share of their points below which a student has few."""


@dataclass(frozen=True)
class Behind:
    """One student who falls behind in the assignments graded last."""

    student: str
    missed: tuple[str, ...]
    """The assignments in which nothing was handed in; empty if they are fewer than `MISSED`."""
    share: float | None
    """The share of the points earned in those with a score, if it is below `FEW`."""


def falling_behind(graded: Sequence[Marks]) -> list[Behind]:
    """Return the students who fall behind, most missed first. `graded` is in the course's order.

    Nobody falls behind before there are `MISSED` assignments. Whoever never handed anything in does.
    """
    latest = graded[-LATEST:]
    if len(latest) < MISSED:
        return []
    enrolled = {student for marks in graded for student in marks.marks}
    found = [each for student in sorted(enrolled) if (each := _behind(student, latest))]
    return sorted(found, key=lambda each: (-len(each.missed), 1.0 if each.share is None else each.share))


def _behind(student: str, latest: Sequence[Marks]) -> Behind | None:
    missed: list[str] = []
    earned = worth = 0.0
    scored = 0
    for marks in latest:
        mark = marks.marks.get(student)
        if mark is None or mark.state == "missing":
            missed.append(marks.assignment)
        elif mark.score is not None:
            earned, worth, scored = earned + mark.score, worth + marks.max_score, scored + 1
    few = scored >= MISSED and worth > 0 and earned / worth < FEW
    if len(missed) < MISSED and not few:
        return None
    return Behind(student, tuple(missed) if len(missed) >= MISSED else (), earned / worth if few else None)
