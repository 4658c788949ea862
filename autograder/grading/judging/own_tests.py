"""The result of a test cell that an instructor wrote: asserts that ran beside the student's code."""

from __future__ import annotations

from nbformat import NotebookNode

from autograder.checking.runner.check import Outcome
from autograder.verdict import CheckVerdict, TaskVerdict


def own_test(name: str, cell: NotebookNode) -> TaskVerdict:
    """The task that a test cell with its outputs is, by nbgrader's rules for points."""
    from nbgrader.utils import determine_grade

    score, maximum = determine_grade(cell)
    outcome: Outcome = "passed" if score == maximum else "failed"
    errors = [
        f"{output.get('ename')}: {output.get('evalue')}"
        for output in cell["outputs"]
        if output["output_type"] == "error"
    ]
    title = f"The tests in the cell {name}"
    check = CheckVerdict(name, "error", title, outcome, score or 0.0, maximum, "; ".join(errors))
    return TaskVerdict(name, maximum, (check,))
