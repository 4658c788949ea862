"""Explanations are true: right answers that are taken for wrong get none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.checking.expectations import values
from autograder.checking.runner.collection import collect
from autograder.checking.runner.task_run import TaskRun
from tests.exercises.test_exercises import EXERCISES, TASKS, notebook_of
from tests.support.checking import run_alone
from tests.variants import NOTEBOOKS

SAID = (
    "does not depend on",
    "depends on nothing",
    "mixed somewhere",
    "The same call, repeated",
    "it is right",
    "Does a loop end",
)


@pytest.fixture(scope="module")
def everything_is_wrong() -> Iterator[None]:
    """Have `expect` take every answer for wrong, and recognize nothing in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "agree", lambda *args, **kwargs: False)
        patch.setattr(values, "compare", lambda *args, **kwargs: "they are taken for wrong.")
        patch.setattr(values, "recognized", lambda *args, **kwargs: "")
        patch.setattr(values, "_named_like", lambda *args, **kwargs: "")
        yield


@pytest.mark.parametrize(("notebook", "task"), TASKS)
@pytest.mark.slow
def test_nothing_is_said_of_what_right_answers_depend_on(everything_is_wrong, notebook, task):
    checks = collect(EXERCISES / notebook)
    for check in checks.of(task):
        if check.rule not in ("values", "generality"):
            continue
        submission = notebook_of(notebook, task, NOTEBOOKS[notebook].SOLUTIONS[task], checks.without(task))
        run = TaskRun(checks, task, submission, 1, lambda: None)
        result, trying = run_alone(run, check)
        told = result.message + (trying.found() if trying is not None else "")
        assert not [said for said in SAID if said in told], (check.name, told)
