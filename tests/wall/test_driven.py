"""Tasks that say how a network is to be driven, and students who write down that they did.

What a driven module answers depends on how it was called, so no note in the student's process earns anything:
each of these forgeries runs to its end, and fails the check of how the module was driven.
"""

from __future__ import annotations

from functools import cache

import pytest

from autograder.checking.runner.check import CheckResult
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from tests.attacks.driving import DRIVEN, FORGED
from tests.exercises.test_exercises import EXERCISES, notebook_of

pytestmark = pytest.mark.slow

SEEDS = (2013, 7)


@cache
def judged(notebook: str) -> dict[tuple[str, str], list[list[CheckResult]]]:
    """Each forgery of a notebook's tasks judged on each seed."""

    def body(checks: Checks) -> dict[tuple[str, str], list[list[CheckResult]]]:
        results = {}
        for task, forgeries in FORGED[notebook].items():
            for name, source in forgeries.items():
                results[task, name] = []
                for seed in SEEDS:
                    student = notebook_of(notebook, task, source)
                    results[task, name].append(checks.run(task, student, seed=seed, include_hidden=True))
                    assert student.over.attribute() is True, "the attack came to its end"
        return results

    return body(collect(EXERCISES / notebook))


@pytest.mark.parametrize(
    ("notebook", "task", "name"),
    [
        (notebook, task, name)
        for notebook, tasks in FORGED.items()
        for task, forgeries in tasks.items()
        for name in forgeries
    ],
)
def test_a_forgery_does_not_gain(notebook: str, task: str, name: str):
    for results in judged(notebook)[task, name]:
        (driven,) = [each for each in results if each.check.name == DRIVEN[task]]
        assert driven.outcome in ("failed", "error"), [(each.check.name, each.outcome) for each in results]
        assert driven.points == 0
