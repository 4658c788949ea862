"""A release that changes after students have handed in, and what a release leaves out of its source."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.support.helpers import autograder, autograder_here

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A course of one task, built, with one right submission that is graded."""
    root = tmp_path_factory.mktemp("graded") / "course"
    assert autograder_here("new", root, "--empty", "--assignment", "01_first").returncode == 0
    assert autograder("build", "--course", root).returncode == 0
    submitted = root / "submitted" / "kim" / "01_first"
    submitted.mkdir(parents=True)
    (submitted / "first.ipynb").write_bytes((root / "solutions" / "01_first" / "first.ipynb").read_bytes())
    assert autograder("grade", "01_first", "--course", root).returncode == 0
    return root


def source(root: Path) -> Path:
    return root / "source" / "01_first" / "first.ipynb"


def add(root: Path, cell_type: str, text: str, **marks: object) -> nbformat.NotebookNode:
    notebook = nbformat.read(source(root), as_version=4)
    made = getattr(nbformat.v4, f"new_{cell_type}_cell")(text)
    kept = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
    made.metadata["nbgrader"] = {**kept, "cell_type": cell_type, **marks}
    notebook.cells.append(made)
    nbformat.write(notebook, source(root))
    return made


def states(root: Path) -> tuple[str, str, dict[str, float | None]]:
    (told,) = json.loads(autograder_here("status", "--json", "--course", root).stdout)["assignments"]
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        (notebook,) = gradebook.find_submission("01_first", "kim").notebooks
        return told["built"], told["next"], {grade.name: grade.auto_score for grade in notebook.grades}


@pytest.mark.slow
def test_cells_are_added_and_removed_after_submissions(graded):
    assert states(graded) == ("yes", "", {"check_scale": 2.0})
    essay = {"grade": True, "solution": True, "points": 3}
    add(graded, "markdown", "### BEGIN SOLUTION\nBecause.\n### END SOLUTION", grade_id="why", **essay)
    assert states(graded)[0] == "changed"
    assert autograder("build", "--course", graded).returncode == 0
    assert states(graded)[:2] == ("yes", "autograder grade 01_first")
    assert autograder("grade", "01_first", "--course", graded).returncode == 0
    assert states(graded)[2] == {"check_scale": 2.0, "why": 0.0}
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as gradebook:
        gradebook.find_grade("why", "first", "01_first", "kim").manual_score = 1.0
        gradebook.db.commit()
    notebook = nbformat.read(source(graded), as_version=4)
    notebook.cells.pop()
    nbformat.write(notebook, source(graded))
    refused = autograder("build", "--course", graded)
    assert refused.returncode == 1
    assert "the cell `why` is gone, and a person has given points or a comment for it." in refused.stderr
    assert (graded / "release" / "01_first" / "first.ipynb").is_file()
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as gradebook:
        gradebook.find_grade("why", "first", "01_first", "kim").manual_score = None
        gradebook.db.commit()
    assert autograder("build", "--course", graded).returncode == 0
    assert states(graded) == ("yes", "autograder grade 01_first", {"check_scale": 2.0})


@pytest.mark.slow
def test_a_change_of_the_checks_asks_for_a_build_and_so_does_status(graded):
    checks = graded / "source" / "01_first" / "checks" / "test_scale.py"
    checks.write_text(checks.read_text() + "# a remark\n")
    assert states(graded)[:2] == ("changed", "autograder build 01_first")
    assert autograder("build", "--course", graded).returncode == 0
    assert states(graded)[0] == "yes"


@pytest.mark.slow
def test_pictures_of_an_answer_stay_in_the_source_and_a_question_keeps_its_own(graded):
    answer = "### BEGIN SOLUTION\n![](attachment:answer.png)\n### END SOLUTION"
    add(graded, "markdown", answer, grade_id="drawn", grade=True, solution=True, points=1)
    add(graded, "markdown", "What is this? ![](attachment:question.png)", grade_id="what", locked=True)
    notebook = nbformat.read(source(graded), as_version=4)
    for cell, name in zip(notebook.cells[-2:], ("answer.png", "question.png"), strict=True):
        cell["attachments"] = {name: {"image/png": PICTURE}}
    nbformat.write(notebook, source(graded))
    assert autograder("build", "--course", graded).returncode == 0
    release = nbformat.read(graded / "release" / "01_first" / "first.ipynb", as_version=4)
    assert [list(cell.get("attachments", ())) for cell in release.cells[-2:]] == [[], ["question.png"]]


@pytest.mark.slow
def test_nbgraders_own_reason_is_told(graded):
    scheme = "### BEGIN MARK SCHEME\nOne point each.\n### END MARK SCHEME"
    add(graded, "markdown", scheme, grade_id="free", grade=True, solution=True, points=1)
    refused = autograder("build", "--course", graded)
    assert refused.returncode == 1
    assert "of 01_first: Mark scheme region detected in a non-grade cell" in refused.stderr
