"""Helpers for tests of the checks' language: sizes, inputs, a submission, the message of a failure."""

import textwrap

import pytest

from autograder.checking import CheckFailed, Draw, Sizes, Submission
from autograder.checking.runner.check import Check, CheckResult
from autograder.checking.runner.collection import collect
from autograder.checking.runner.task_run import TaskRun
from autograder.checking.runner.trying import Trying
from autograder.worker.session.executor import Executor

SIZES = Sizes(B=2, T=5, D=7, H=11, L=3, V=13)
CHECKS = """
import torch
from torch import nn
from autograder.checking import Case, FunctionSpec, Handed, ModuleSpec, leaving_out, sized, with_inputs

{task}
"""
"""A file of checks for one task, `f`."""
PAIR = {"names": ("output", "h_n"), "dims": ("B T H", "L B H"), "sizes": SIZES}


def submission(**objects):
    return Submission(Executor(objects).perform)


def draw(seed=1):
    return Draw(seed, "test", SIZES)


def message(call, *args, **kwargs):
    with pytest.raises(CheckFailed) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def run_alone(run: TaskRun, check: Check) -> tuple[CheckResult, Trying | None]:
    """Run one check, whatever it needs; return what can explain wrong values, too, as a whole run has it."""
    for item in run.checks.items_of(check):
        tried = run.tried(item)
        if tried.raised is not None:
            return run._failed(item, tried, [])
    return CheckResult(check, "passed", ""), None


def said(folder, task, answer, source=""):
    """Return what the first of a task's checks says of an answer that is wrong; `folder` is a new one."""
    folder.mkdir(exist_ok=True)
    (folder / "test_f.py").write_text(CHECKS.replace("{task}", textwrap.dedent(task)))
    judged = submission(f=answer)
    judged.sources = {"f": source}
    checks = collect(folder)
    results = [checks.run("f", judged, seed=1, include_hidden=True, renew=lambda: None)[0] for _ in range(2)]
    assert results[0] == results[1]  # what was tried leaves no trace in the inputs
    assert results[0].outcome == "failed", results[0].message
    return results[0].message
