"""A verdict before anything was judged, and what is left of it where nothing can be."""

from __future__ import annotations

from autograder.grading.assignment.bundle import Bundle
from autograder.verdict import ByHand, TaskVerdict, Verdict


def blank_verdict(student: str, bundle: Bundle, seed: int) -> Verdict:
    """A verdict that no check has added to: every task is there, and none has points."""
    if bundle.others:
        return Verdict.of_several([blank_verdict(student, part, seed) for part in bundle.parts])
    judged = {**bundle.tasks, **bundle.test_cells}
    tasks = tuple(TaskVerdict(task, points, ()) for task, points in judged.items())
    by_hand = tuple(ByHand(task, points) for task, points in bundle.by_hand.items())
    return Verdict(student, bundle.assignment, bundle.notebook, "graded", 0.0, seed, (), tasks, by_hand)
