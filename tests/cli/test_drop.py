"""`autograder drop`: a task taken out of an assignment, all of it or nothing."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest

from tests.support.courses import everything
from tests.support.helpers import autograder, autograder_here

LSTM = "03_lstm_cell"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    assert autograder_here("new", tmp_path / "course").returncode == 0
    return tmp_path / "course"


@pytest.mark.slow
def test_a_packaged_assignment_is_built_and_graded_without_a_task(course):
    told = autograder_here("drop", LSTM, "copy_from_torch", "--course", course)
    assert told.returncode == 0, told.stderr
    assert "`copy_from_torch` is out of 03_lstm_cell: 4 cells, " in told.stdout
    assert "read what it says of the task" in told.stdout
    built = autograder("build", LSTM, "--course", course)
    assert built.stdout.splitlines()[-1] == f"{LSTM}: built, 3 tasks, 8 points", built.stderr
    (course / "submitted" / "kim").mkdir(parents=True)
    shutil.copytree(course / "solutions" / LSTM, course / "submitted" / "kim" / LSTM)
    assert autograder("grade", LSTM, "--course", course).returncode == 0
    (kim,) = json.loads(autograder_here("results", LSTM, "--json", "--course", course).stdout)
    assert (kim["score"], kim["max_score"]) == (8.0, 8.0)


def test_the_answers_and_mistakes_of_other_tasks_stay_as_they_are(course):
    before = {path.name + path.parent.name: tomllib.loads(path.read_text()) for path in catalogues(course)}
    assert autograder_here("drop", LSTM, "copy_from_torch", "--course", course).returncode == 0
    assert autograder_here("drop", LSTM, "LSTMCell", "--course", course).returncode == 0, (
        "a docstring names it"
    )
    for path in catalogues(course):
        left = tomllib.loads(path.read_text())
        was = before[path.name + path.parent.name]
        gone = {name: was[name] for name in was.keys() - left.keys()}
        assert gone
        assert left == {name: was[name] for name in left}
        assert all(name in ("LSTMCell", "copy_from_torch") or "task" in each for name, each in gone.items())
    assert "\n\n\n" not in catalogues(course)[0].read_text()


def test_a_demonstration_goes_with_its_guess(course):
    before = guesses(course, "12_language_model")
    assert autograder_here("drop", "12_language_model", "lanes", "--course", course).returncode == 0
    after = guesses(course, "12_language_model")
    assert after < before
    path = course / "source" / "12_language_model" / "language_model.ipynb"
    code = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert sum("reveal(guess" in text for text in code) == after


def catalogues(course: Path) -> list[Path]:
    return [course / "solutions" / kind / f"{LSTM}.toml" for kind in ("mistakes", "variants")]


def guesses(course: Path, assignment: str) -> int:
    (path,) = (course / "source" / assignment).glob("*.ipynb")
    return sum(cell.source.startswith("guess = ") for cell in nbformat.read(path, 4).cells)


@pytest.mark.parametrize(
    ("assignment", "task", "why"),
    [
        (
            LSTM,
            "lstm_gates",
            "cell `lstm_cell`: this cell uses `lstm_gates`, which cannot be dropped before it.",
        ),
        (
            LSTM,
            "gates",
            "has no task `gates`; its tasks are lstm_gates, lstm_cell, LSTMCell, copy_from_torch.",
        ),
        ("99_none", "gates", "has 0 notebooks"),
    ],
)
def test_what_cannot_be_dropped_is_refused_and_nothing_changes(course, assignment, task, why):
    before = everything(course)
    told = autograder_here("drop", assignment, task, "--course", course)
    assert told.returncode != 0
    assert why in told.stderr
    assert everything(course) == before


def test_a_task_of_ones_own_goes_with_its_checks(tmp_path):
    root = tmp_path / "course"
    assert autograder_here("new", root, "--empty").returncode == 0
    tasks = ("--task", "attend", "--task", "Gate", "--task", "masked_attend")
    assert autograder_here("new-assignment", "01_first", *tasks, "--course", root).returncode == 0
    assert autograder_here("drop", "01_first", "Gate", "--course", root).returncode == 0
    source = root / "source" / "01_first"
    names = ["reference_masked_attend.py", "test_masked_attend.py"]
    assert autograder_here("drop", "01_first", "attend", "--course", root).returncode == 0
    assert sorted(path.name for path in source.rglob("*.py")) == names
    assert "Gate" not in "".join(path.read_text() for path in (root / "solutions").rglob("*.toml")) + str(
        [cell.source for cell in nbformat.read(source / "first.ipynb", 4).cells if cell.cell_type == "code"]
    )
    alone = autograder_here("drop", "01_first", "masked_attend", "--course", root)
    assert "`masked_attend` is the only task of 01_first: nothing would be left to grade." in alone.stderr
