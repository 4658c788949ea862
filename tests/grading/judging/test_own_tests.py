"""Test cells that an instructor writes with asserts, as in plain nbgrader: they run beside students' code."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from tests.support.helpers import code_cell, make_bundle, released, run_judge, submission

HIDDEN = "### BEGIN HIDDEN TESTS\nassert square(3) == 9\n### END HIDDEN TESTS"
VISIBLE = "assert square(2) == 4"


def marked(source: str, name: str, **marks: object) -> dict:
    """A cell with nbgrader's metadata."""
    cell = code_cell(source)
    about = {
        "grade_id": name,
        "schema_version": 3,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }
    cell["metadata"]["nbgrader"] = {**about, **marks}
    return cell


@pytest.mark.parametrize(
    ("answer", "score", "said"),
    [
        ("x * x", 3.0, ""),
        ("2 * x", 0.0, "AssertionError: "),
        ("x / 0", 0.0, "ZeroDivisionError: division by zero"),
    ],
)
def test_asserts_of_an_instructor_count_and_are_told_to_a_person(quick_workers, answer, score, said):
    notebook = copy.deepcopy(released())
    notebook["cells"] += [
        marked("def square(x):\n    raise NotImplementedError()", "square", solution=True),
        marked(VISIBLE, "test_square", grade=True, locked=True, points=3),
    ]
    bundle = replace(
        make_bundle(), released=json.dumps(notebook), instructor_tests={"test_square": f"{VISIBLE}\n{HIDDEN}"}
    )
    graded = run_judge(
        submission({"square": f"def square(x):\n    return {answer}"}, base=notebook), quick_workers, bundle
    )
    told = {task.task: task for task in graded.verdict.tasks}["test_square"]
    assert (told.score, told.max_score) == (score, 3)
    assert told.checks[0].message == said
    assert "unprotected_cell" in {finding.kind for finding in graded.verdict.findings}
