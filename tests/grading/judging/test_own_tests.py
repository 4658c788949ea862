"""Test cells that an instructor writes with asserts, as in plain nbgrader: they run beside students' code."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import nbformat
import pytest
from nbgrader.utils import determine_grade

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import grade_id
from autograder.grading.assignment.rebuild import rebuild
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


def with_own_test(*further: dict) -> tuple[dict, Bundle]:
    """A released notebook with a test cell of an instructor's, hidden tests in it, and its bundle."""
    notebook = copy.deepcopy(released())
    notebook["cells"] += [
        marked("def square(x):\n    raise NotImplementedError()", "square", solution=True),
        marked(VISIBLE, "test_square", grade=True, locked=True, points=3),
        *further,
    ]
    whole = {"test_square": f"{VISIBLE}\n{HIDDEN}"}
    return notebook, replace(make_bundle(), released=json.dumps(notebook), instructor_tests=whole)


@pytest.mark.parametrize(
    ("answer", "score", "said"),
    [
        ("x * x", 3.0, ""),
        ("2 * x", 0.0, "Line 3, `assert square(3) == 9`, fails."),
        ("3 * x", 0.0, "Line 1, `assert square(2) == 4`, fails."),
        (
            "x / 0",
            0.0,
            "Line 1, `assert square(2) == 4`, stops: ZeroDivisionError: division by zero. "
            "In your code, line 2: return x / 0",
        ),
    ],
)
def test_asserts_of_an_instructor_count_and_are_told_to_a_person(workers, answer, score, said):
    notebook, bundle = with_own_test()
    graded = run_judge(
        submission({"square": f"def square(x):\n    return {answer}"}, base=notebook), workers, bundle
    )
    told = {task.task: task for task in graded.verdict.tasks}["test_square"]
    assert (told.score, told.max_score) == (score, 3)
    assert told.checks[0].message == said
    assert told.checks[0].hidden == ("square(3)" in said)
    assert "unprotected_cell" in {finding.kind for finding in graded.verdict.findings}


@pytest.mark.parametrize(
    "silence",
    [
        "import IPython.core.interactiveshell as shell\n"
        "shell.InteractiveShell.showtraceback = lambda *args, **kwargs: None",
        "get_ipython().set_custom_exc((Exception,), lambda *args, **kwargs: None)",
        "get_ipython()._showtraceback = lambda *args: None",
    ],
)
def test_a_failure_counts_where_errors_are_not_shown(workers, silence):
    notebook, bundle = with_own_test()
    graded = run_judge(submission({"square": silence}, base=notebook), workers, bundle)
    (told,) = [task for task in graded.verdict.tasks if task.task == "test_square"]
    assert (told.score, told.checks[0].message[-42:]) == (
        0,
        "stops: NameError: name 'square' is not defined"[-42:],
    )
    cell = next(c for c in nbformat.reads(graded.notebook, 4).cells if grade_id(c) == "test_square")
    assert determine_grade(cell) == (0, 3), "nbgrader reads the same from the graded notebook"


def test_hidden_tests_accuse_nobody(workers):
    notebook, bundle = with_own_test()
    right = submission({"square": "def square(x):\n    return x * x"}, base=notebook)
    assert "edited_check" not in {each.kind for each in run_judge(right, workers, bundle).verdict.findings}
    changed = submission({"test_square": "assert square(2) == 5"}, base=notebook)
    assert "edited_check" in {each.kind for each in rebuild(changed, bundle).findings}


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("def square(x)\n    return x * x", "stops: SyntaxError: expected ':' (line 1: def square(x))."),
        (
            "<<<<<<< HEAD\nsquare = abs\n=======\nsquare = pow\n>>>>>>> 4f5d",
            "holds the marks of a merge conflict: keep one of the two versions.",
        ),
        ("1 / 0\nroot = abs", ""),
    ],
)
def test_a_name_that_is_missed_is_traced_to_the_answer_that_stopped(workers, answer, cause):
    notebook, bundle = with_own_test()
    graded = run_judge(submission({"square": answer}, base=notebook), workers, bundle)
    said = next(task for task in graded.verdict.tasks if task.task == "test_square").checks[0].message
    if cause:
        cause = f"name 'square' is not defined. The cell `square` {cause}"
    assert said.endswith(cause or "name 'square' is not defined")
