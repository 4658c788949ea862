"""`autograder build`: the same bytes each time, and nothing unfair is released."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.errors import UserError
from autograder.grading.build import build
from autograder.grading.building.examine import examine
from autograder.grading.course.course import Course
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge
from tests.support.courses import (
    LSTM,
    NOTEBOOK,
    ROOT,
    copy_course,
    done,
    everything,
    files,
    named,
    run,
    short_source,
)
from tests.support.helpers import autograder, autograder_here, make_course


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A short course, built once."""
    course = tmp_path_factory.mktemp("built")
    (course / "source" / LSTM).mkdir(parents=True)
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    short_source(course)
    told = run(course, "autograder", "build", LSTM)
    assert done(told).splitlines()[-1] == f"{LSTM}: built, 4 tasks, 10 points"
    assert told.stderr == ""
    return course


@pytest.mark.slow
def test_building_twice_gives_the_same_bytes(built):
    before = files(built, "release", "solutions")
    assert len(before) == 2
    build(Course.at(built), [LSTM], say=lambda line: None, force=True)
    assert files(built, "release", "solutions") == before


@pytest.mark.slow
def test_a_long_path_for_temporary_files_is_no_hindrance(tmp_path):
    """A kernel's sockets and a judge's tensors had paths in it that were longer than a socket's may be."""
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    (tmp_path / "course").mkdir()
    course = make_course(tmp_path / "course")
    short_source(course.root)
    (course.root / "solutions" / "mistakes").mkdir(parents=True)
    (course.root / "solutions" / "mistakes" / f"{LSTM}.toml").write_text(KNOWN)
    told = autograder("build", "--force", LSTM, "--course", course.root, TMPDIR=str(folder))
    assert told.stdout.endswith(f"{LSTM}: built, 4 tasks, 10 points\n"), told.stderr
    assert not list(folder.glob("autograder-*"))


REFUSED = {
    "stub": (
        {
            "lstm_gates": (
                "### BEGIN SOLUTION",
                "i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=1)\n"
                "    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)\n"
                "    ### BEGIN SOLUTION",
            )
        },
        "cell `check_lstm_gates`: 03_lstm_cell cannot be released: the unsolved notebook gets points "
        "(2 for `lstm_gates`)",
    ),
    "a cell that stops": (
        {"demonstration": ("print(2)", "1 / 0")},
        "cell 36 (print(1)), line 2: 03_lstm_cell cannot be released: in a notebook, it stops with "
        "ZeroDivisionError: division by zero",
    ),
    "a demonstration too early": (
        {
            "demonstration": (
                "print(2)",
                'made = []\nwith after("LSTMCell"):\n    made.append(LSTMCell(3, 5))\nprint(made[0])',
            )
        },
        "cell 36 (print(1)): 03_lstm_cell cannot be released: in the unsolved notebook, it stops with "
        "IndexError: list index out of range\n    line 5: print(made[0])\n",
    ),
    "demonstration": (
        {"demonstration": ("print(2)", "torch.sigmoid = torch.tanh")},
        "cell `check_lstm_gates`: 03_lstm_cell cannot be released: its demonstrations, which grading leaves "
        "out, change a score: `lstm_gates` gets 0 with them and 2 without.",
    ),
    "a kernel that ends": (
        {"demonstration": ("print(2)", "import os; os._exit(3)")},
        "cell 36 (print(1)): nbgrader could not generate the solution of 03_lstm_cell: this cell ends the "
        "kernel",
    ),
}


@pytest.mark.parametrize(
    "what",
    [next(iter(REFUSED)), *(pytest.param(what, marks=pytest.mark.slow) for what in list(REFUSED)[1:])],
)
def test_build_refuses_what_would_be_unfair(built, tmp_path, what):
    course = copy_course(built, tmp_path / "course")
    edits, sentence = REFUSED[what]
    short_source(course, **edits)
    before = everything(course), files(course, "solutions")
    place = f"source/{LSTM}/{NOTEBOOK}, "
    with pytest.raises(UserError, match=f"^{re.escape(place + sentence)}"):
        build(Course.at(course), [LSTM], say=lambda line: None)
    assert (everything(course), files(course, "solutions")) == before


def test_build_refuses_points_that_cannot_be_dealt_out(built, tmp_path):
    course = copy_course(built, tmp_path / "course")
    path = course / "source" / LSTM / NOTEBOOK
    notebook = nbformat.read(path, as_version=4)
    named(notebook, "check_lstm_cell")["metadata"]["nbgrader"]["points"] = 3
    nbformat.write(notebook, path)
    before = everything(course), files(course, "solutions")
    result = autograder_here("build", LSTM, "--course", course)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"source/{LSTM}/{NOTEBOOK}, cell `check_lstm_cell`: gives 3 points, its checks give 2 "
        "(matches_torch 0.5, any_size 0.5, gradients 0.5, arguments_untouched 0.5); 3 cannot be dealt out so "
        "in whole and half points.",
        "1 problem; nothing was run and nothing was changed.",
    ]
    assert (everything(course), files(course, "solutions")) == before


def test_points_of_a_cell_are_dealt_out_to_packaged_checks(built, tmp_path, workers):
    """An author who changes them copies no check file."""
    course = copy_course(built, tmp_path / "course")
    for place in ("source", "release"):
        path = course / place / LSTM / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        named(notebook, "check_lstm_cell")["metadata"]["nbgrader"]["points"] = 4
        nbformat.write(notebook, path)
    assert examine(Course.at(course), [LSTM]) == []
    bundle = Course.at(course).bundle(LSTM)
    with checks_of(bundle) as checks:
        solved = bundle.with_answers(bundle.solution)
        verdict = judge(solved, bundle, student="ada", seed=1, checks=checks, workers=workers).verdict
    (task,) = (each for each in verdict.tasks if each.task == "lstm_cell")
    assert (task.score, task.max_score) == (4, 4)
    assert {check.points for check in task.checks} == {0, 1}


KNOWN = """
[memory_kept_whole]
task = "lstm_cell"
find = "+ i * g"
replace = "+ i * g + (1 - f) * c"
caught_by = "values"
hint = "What does the forget gate do here?"

[nothing_that_shows_here]
task = "lstm_cell"
find = "+ i * g"
replace = "+ 1 * i * g"
caught_by = "gradient"
hint = "All values are right."
"""


@pytest.mark.slow
def test_a_build_says_why_the_solution_loses_points(built, tmp_path):
    course = copy_course(built, tmp_path / "course")
    short_source(course, lstm_cell=("f * c", "c"))
    (course / "solutions" / "mistakes").mkdir()
    (course / "solutions" / "mistakes" / f"{LSTM}.toml").write_text(KNOWN)
    before = everything(course), files(course, "solutions")
    result = autograder_here("build", LSTM, "--course", course)
    assert result.returncode == 1
    told = [line.strip() for line in result.stderr.splitlines()]
    assert "lstm_cell  0 of 2" in told
    assert "✗ One step gives the same h and c as nn.LSTMCell." in told
    assert "Known mistake memory_kept_whole: What does the forget gate do here?" in told
    assert not any("All values are right" in line for line in told), "an edit of the solution as it is now"
    assert any("has the right shape but not the right values" in line for line in told)
    assert told[-1].startswith(f"{LSTM} cannot be released: its own solution gets ")
    assert (everything(course), files(course, "solutions")) == before


def test_a_source_notebook_is_checked_before_it_is_built(tmp_path):
    (tmp_path / "source" / LSTM).mkdir(parents=True)
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    short_source(tmp_path)
    before = files(tmp_path, ".")
    notebook = tmp_path / "source" / LSTM / NOTEBOOK
    result = autograder_here("check", notebook, "--course", tmp_path)
    assert result.stdout.splitlines()[0] == f"{LSTM}: graded, 10 of 10 points", result.stderr
    assert files(tmp_path, ".") == before
    short_source(tmp_path, lstm_gates=("### END SOLUTION", ""))
    result = autograder_here("check", notebook, "--course", tmp_path)
    assert result.returncode == 1
    assert "cell `lstm_gates`, line 14: `BEGIN SOLUTION` without a `END SOLUTION`" in result.stderr


@pytest.mark.slow
def test_a_build_counts_what_a_person_grades(built, tmp_path):
    course = copy_course(built, tmp_path / "course")
    notebook = nbformat.read(course / "source" / LSTM / NOTEBOOK, as_version=4)
    marks = {"grade": True, "grade_id": "free", "locked": False, "points": 2, "schema_version": 3}
    marks |= {"solution": True, "task": False}
    notebook.cells.append(nbformat.v4.new_markdown_cell("Because.", metadata={"nbgrader": marks}))
    nbformat.write(notebook, course / "source" / LSTM / NOTEBOOK)
    result = autograder_here("build", LSTM, "--course", course)
    last = result.stdout.splitlines()[-1]
    assert last == f"{LSTM}: built, 5 tasks, 12 points, 2 of them graded by hand", result.stderr
