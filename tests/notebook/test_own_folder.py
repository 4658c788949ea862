"""Checks beside a notebook are found wherever its kernel works: real kernels, started as front ends do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.environments.kernels import kernel

BEGIN = "from autograder import check\n\ndef double(x):\n    return 2 * x\n"
CHECKS = '''"""`double(x)`: twice a tensor."""

from autograder.checking import expect, points, rule


@points(2)
@rule("values")
def test_doubles(submission, sizes, draw):
    """Every number is doubled."""
    x = draw("B")
    expect(submission.double(x), x + x, names="doubled", dims="B", sizes=sizes)
'''


@pytest.fixture
def assignment(tmp_path) -> Path:
    """A student's folder with an assignment of the course's own, in a folder with others."""
    folder = tmp_path / "work" / "11_double"
    (folder / "checks").mkdir(parents=True)
    (folder / "checks" / "test_double.py").write_text(CHECKS)
    (folder / "double.ipynb").write_text(json.dumps({"cells": [{"source": ['check("double")']}]}))
    (tmp_path / "elsewhere").mkdir()
    return folder


@pytest.mark.slow
def test_a_kernel_that_moves_goes_on(assignment):
    """It was started beside the notebook, in which a cell then moves it."""
    with kernel(assignment, JPY_SESSION_NAME="") as session:
        session.run(f"{BEGIN}\nimport os; os.chdir('../../elsewhere')")
        assert "double: 2 of 2 points" in session.run('check("double")').text
        assert session.run("check()").text.startswith("double: 2 of 2 points so far.")


def test_once_found_they_are_found_again(assignment):
    """Started elsewhere and moved to the notebook, as a first cell does it, then away once more."""
    with kernel(assignment.parent, JPY_SESSION_NAME="") as session:
        session.run(f"{BEGIN}\nimport os; os.chdir('11_double')")
        assert "2 of 2 points" in session.run('check("double")').text
        session.run("os.chdir('../../elsewhere')")
        assert "2 of 2 points" in session.run('check("double")').text


def test_jupyter_says_where_the_notebook_is(assignment):
    with kernel(assignment.parent, JPY_SESSION_NAME=str(assignment / "double.ipynb")) as session:
        session.run(BEGIN)
        assert "2 of 2 points" in session.run('check("double")').text


@pytest.mark.slow
def test_visual_studio_code_says_where_the_notebook_is(assignment):
    with kernel(assignment.parent, JPY_SESSION_NAME="") as session:
        session.run(f"{BEGIN}\n__vsc_ipynb_file__ = {str(assignment / 'double.ipynb')!r}")
        assert "2 of 2 points" in session.run('check("double")').text


@pytest.mark.slow
def test_the_checks_beside_the_open_notebook_come_before_others(assignment):
    """The folder above has checks for a task of the same name."""
    others = assignment.parent / "checks"
    others.mkdir()
    (others / "test_double.py").write_text(CHECKS.replace("x + x", "x * x"))
    with kernel(assignment.parent, JPY_SESSION_NAME=str(assignment / "double.ipynb")) as session:
        session.run(BEGIN)
        assert "2 of 2 points" in session.run('check("double")').text


@pytest.mark.slow
def test_where_they_are_not_the_sentence_says_where_they_were_looked_for(assignment):
    with kernel(assignment.parent, JPY_SESSION_NAME="") as session:
        session.run(f"{BEGIN}\nimport os; os.chdir('../elsewhere')")
        said = session.run('check("double")').error
        assert said.startswith(
            'There is no task "double". If a folder checks/ came with the notebook, it is not next to '
        )
        assert f"(looked in {assignment.parents[1] / 'elsewhere'} and {assignment.parent})" in said
        assert "lstm_cell" not in said
        assert len(said.splitlines()) == 1
        assert str(assignment.parent) in session.run("check()").error


def test_packaged_checks_have_the_points_of_the_notebook_beside(tmp_path):
    """Its author may have given other points to a cell."""
    cell = {"source": ['check("lstm_cell")'], "metadata": {"nbgrader": {"points": 4}}}
    (tmp_path / "lstm_cell.ipynb").write_text(json.dumps({"cells": [cell]}))
    with kernel(tmp_path, JPY_SESSION_NAME="") as session:
        session.run("from autograder import check")
        assert "lstm_cell: 0 of 4 points" in session.run('check("lstm_cell")').text
