"""`autograder adopt --compare`: submissions that nbgrader graded, judged here; the course stays as it is."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.courses import SCRIPTS, done, files, run
from tests.support.helpers import autograder_here

MARKS = {"schema_version": 3, "task": False}
SOLUTION = "def f(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION"
NETWORK = "import socket\ndef f(x):\n    socket.getaddrinfo('localhost', 80)\n    return x + 1"


def notebook(answer):
    no, yes = (
        {"solution": False, "grade": False, "locked": False},
        {"grade": True, "locked": True, "points": 2},
    )
    solution, test = new_code_cell(answer), new_code_cell("assert f(1) == 2")
    solution["metadata"]["nbgrader"] = MARKS | no | {"grade_id": "f", "solution": True}
    test["metadata"]["nbgrader"] = MARKS | no | yes | {"grade_id": "test_f"}
    return new_notebook(
        cells=[solution, test],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def write(path, answer):
    path.parent.mkdir(parents=True)
    nbformat.write(notebook(answer), path)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course that nbgrader graded: one right answer, a wrong one, and one that is not allowed here."""
    course = tmp_path_factory.mktemp("compare")
    finds_alembic = f"import os\nos.environ['PATH'] += os.pathsep + {str(SCRIPTS)!r}\n"
    (course / "nbgrader_config.py").write_text(finds_alembic)
    answers = {"ada": "def f(x):\n    return 1 + x", "ben": "def f(x):\n    return x", "kim": NETWORK}
    write(course / "source" / "hw1" / "hw1.ipynb", SOLUTION)
    for student, answer in answers.items():
        write(course / "submitted" / student / "hw1" / "hw1.ipynb", answer)
    done(run(course, "nbgrader", "generate_assignment", "hw1"))
    done(run(course, "nbgrader", "autograde", "hw1"))
    return course


@pytest.mark.slow
def test_other_scores_are_told_and_nothing_is_written(course):
    before = files(course, ".")
    told = autograder_here("adopt", course, "--compare", "--dry-run")
    assert told.returncode == 0, told.stderr
    assert "hw1: 3 submissions: 2 the same scores as in the gradebook, 1 not:\n" in told.stdout
    assert "\n  kim 2 → 0: `test_f` 2 → 0 (Line 1, `assert f(1) == 2`, stops: gaierror: " in told.stdout
    assert files(course, ".") == before


@pytest.mark.slow
def test_a_submission_that_cannot_be_read_is_told(course):
    path = course / "submitted" / "ben" / "hw1" / "hw1.ipynb"
    kept = path.read_bytes()
    try:
        path.write_bytes(kept[:40])
        told = autograder_here("adopt", course, "--compare")
    finally:
        path.write_bytes(kept)
    assert "\n  ben 0: The submitted file could not be read: " in told.stdout


def test_without_a_gradebook_there_is_nothing_to_compare(tmp_path):
    write(tmp_path / "source" / "hw1" / "hw1.ipynb", SOLUTION)
    told = autograder_here("adopt", tmp_path, "--compare")
    assert "hw1: the gradebook has no scores of submissions that are there.\n" in told.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
