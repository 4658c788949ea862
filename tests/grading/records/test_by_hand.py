"""Points that a person gives: what waits for them, what they change, and that every view says the same."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from tests.support.courses import (
    CORRUPT,
    LSTM,
    NOTEBOOK,
    copy_course,
    done,
    gradebook,
    hand_in,
    marks,
    run,
    source,
    with_answers,
)
from tests.support.helpers import autograder_here

pytestmark = pytest.mark.slow

ESSAY, TASK = "essay", "drawing"
WRONG = "def lstm_cell(x, h, c, *weights):\n    return h, c"


def free_cell(name: str, points: float, text: str, *, task: bool = False) -> nbformat.NotebookNode:
    """A cell that a person grades: an answer in words, or nbgrader's manually graded task."""
    told = {"grade_id": name, "points": points, "schema_version": 3, "cell_type": "markdown"}
    kinds = {"grade": not task, "solution": not task, "task": task, "locked": task}
    return new_markdown_cell(text, metadata={"nbgrader": {**told, **kinds}})


def with_words(notebook: nbformat.NotebookNode, essay: str) -> nbformat.NotebookNode:
    notebook.cells.append(free_cell(ESSAY, 2, essay))
    notebook.cells.append(free_cell(TASK, 1, "Draw a cell.", task=True))
    return notebook


@pytest.fixture(scope="module")
def handed_in(empty_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An assignment of 13 points, 3 of them by hand: who is right, who is wrong, and who cannot be read."""
    course = copy_course(empty_course, tmp_path_factory.mktemp("by_hand") / "course")
    path = course / "source" / LSTM / NOTEBOOK
    nbformat.write(with_words(source(), "YOUR ANSWER HERE"), path)
    done(run(course, "nbgrader", "generate_assignment", LSTM, "--force"))
    hand_in(course, "ada", with_words(source(), "It remembers."))
    hand_in(course, "wrong", with_words(with_answers(lstm_cell=WRONG), "It forgets."))
    hand_in(course, "corrupt", CORRUPT)
    (course / "submitted" / "none" / LSTM).mkdir(parents=True)
    return course


@pytest.fixture(scope="module")
def once(handed_in: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The assignment graded, and what was said; only copied by the tests."""
    course = copy_course(handed_in, tmp_path_factory.mktemp("once") / "course")
    return course, grade(course)


@pytest.fixture
def course(once: tuple[Path, str], tmp_path: Path) -> Path:
    """The graded assignment, in a course of one's own."""
    return copy_course(once[0], tmp_path / "course")


def grade(course: Path, *options: str) -> str:
    return done(autograder_here("grade", LSTM, "--course", course, *options))


def row(said: str, student: str) -> list[str]:
    return next(line for line in said.splitlines() if line.startswith(student)).split()


def give(course: Path, student: str, **points: float) -> None:
    """Save points as formgrader does when a person types them into cells."""
    with gradebook(course) as book:
        for name, given in points.items():
            grade = book.find_grade(name, "lstm_cell", LSTM, student)
            grade.manual_score, grade.needs_manual_grade = given, False
        book.db.commit()


def told(course: Path) -> dict[str, dict]:
    said = done(autograder_here("results", LSTM, "--json", "--course", course))
    return {verdict["student"]: verdict for verdict in json.loads(said)}


def exported(course: Path) -> dict[str, dict[str, str]]:
    said = autograder_here("export", LSTM, "--to", "csv", "--output", "-", "--course", course)
    return {line["student"]: line for line in csv.DictReader(io.StringIO(said.stdout))}


def test_every_view_counts_what_a_person_gives(once, course):
    _, said = once
    assert row(said, "ada")[:5] == ["ada", "waits", "for", "points", "10/13"]
    assert row(said, "wrong")[:5] == ["wrong", "waits", "for", "points", "8/13"]
    assert row(said, "corrupt")[:3] == ["corrupt", "corrupt", "–/13"]
    assert row(said, "none")[:3] == ["none", "missing", "–/13"]
    assert "? waits for a person's points" in said
    assert "4 submissions: 2 waits for points, 1 corrupt, 1 missing" in said
    adas = told(course)["ada"]
    assert (adas["score"], adas["max_score"]) == (10, 10)
    assert adas["by_hand"] == [{"task": ESSAY, "max_score": 2}, {"task": TASK, "max_score": 1}]
    assert (adas["mark"]["state"], adas["mark"]["score"]) == ("needs_manual_grade", None)
    assert exported(course)["ada"]["score"] == ""

    give(course, "ada", essay=1.5, drawing=1)
    give(course, "wrong", essay=0, drawing=0, check_lstm_cell=1.25)
    said = done(autograder_here("results", LSTM, "--course", course))
    assert row(said, "ada")[:3] == ["ada", "graded", "12.5/13"]
    assert row(said, "wrong")[:7] == ["wrong", "graded", "9.25/13", "2", "1.25*", "4", "2"]
    assert "* points that a person gave" in said
    mark = told(course)["wrong"]["mark"]
    assert (mark["score"], mark["max_score"]) == (9.25, 13)
    assert mark["tasks"][1] == {"task": "lstm_cell", "points": 1.25, "max_points": 2, "by_hand": True}
    assert told(course)["wrong"]["score"] == 8, "what the checks gave stays what it is"
    found = exported(course)
    assert (found["ada"]["score"], found["wrong"]["score"]) == ("12.5", "9.25")
    report = json.loads(done(autograder_here("report", LSTM, "--json", "--course", course)))
    assert report["max_score"] == 13
    assert {line["student"]: line["score"] for line in report["submissions"]} == {
        "ada": 12.5,
        "wrong": 9.25,
        "corrupt": None,
        "none": None,
    }
    done(run(course, "nbgrader", "export"))
    with (course / "grades.csv").open() as file:
        lines = {line["student_id"]: line for line in csv.DictReader(file) if line["assignment"] == LSTM}
    assert {name: (line["score"], line["max_score"], line["state"]) for name, line in lines.items()} == {
        "ada": ("12.5", "13", "graded"),
        "wrong": ("9.25", "13", "graded"),
        "corrupt": ("", "13", "needs_manual_grade"),
        "none": ("", "13", "needs_manual_grade"),
    }


def test_grading_again_asks_nobody_for_points_that_are_given(course):
    give(course, "ada", essay=1.5, drawing=1)
    verdict = course / "verdicts" / LSTM / "ada.json"
    before, gave = verdict.stat(), {name: marks(course)["ada"][name] for name in (ESSAY, TASK)}
    said = grade(course)
    assert row(said, "ada")[:3] == ["ada", "graded", "12.5/13"]
    assert {name: marks(course)["ada"][name] for name in (ESSAY, TASK)} == gave
    after = verdict.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns), "it was judged again"


def test_a_page_says_which_points_are_to_come(course):
    give(course, "wrong", essay=1)
    said = done(run(course, "nbgrader", "generate_feedback", LSTM))
    assert "WARNING" not in said, "every line that need not be read hides one that must be"
    adas, wrongs, corrupt = (
        (course / "feedback" / student / LSTM / "lstm_cell.html").read_text()
        for student in ("ada", "wrong", "corrupt")
    )
    assert "3 of 13 points are still to come from your grader; the score above does not include them." in adas
    assert "2 points here come from your grader, who has not given any yet." in adas
    assert "1 of 13 points are still to come from your grader" in wrongs
    assert "<h1>lstm_cell: 10 of 13 points</h1>" in adas
    assert "<h1>lstm_cell: no score yet</h1>" in corrupt
    assert "No points have been given yet: they come from your grader." in corrupt
    assert "13" not in corrupt.partition("<body>")[2], "a number that nobody gave"


def test_what_nobody_could_read_waits_for_a_person_and_keeps_their_points(course):
    for student in ("corrupt", "none"):
        assert {grade for name, grade in marks(course)[student].items() if name.startswith("check")} == {
            (None, None, True)
        }
    give(course, "corrupt", check_lstm_gates=1)
    for options in ((), ("--force",)):
        grade(course, *options)
        assert marks(course)["corrupt"]["check_lstm_gates"][1] == 1


def test_zeros_of_an_earlier_version_are_taken_back_without_judging_again(course):
    verdict = course / "verdicts" / LSTM / "corrupt.json"
    with sqlite3.connect(course / "gradebook.db") as book:  # as it was left by earlier versions
        book.execute("UPDATE grade SET auto_score = 0, needs_manual_grade = 0 WHERE auto_score IS NULL")
    give(course, "none", check_lstm_gates=1)
    before = verdict.read_text()
    grade(course)
    assert verdict.read_text() == before
    assert marks(course)["corrupt"]["check_lstm_gates"] == (None, None, True)
    assert marks(course)["none"]["check_lstm_cell"] == (0, None, False), "a person has settled this one"


def test_a_notebook_of_which_nothing_ran_wants_a_person(handed_in, tmp_path):
    course = copy_course(handed_in, tmp_path / "course")
    nothing = dict.fromkeys(("lstm_cell", "LSTMCell", "copy_from_torch"), "")
    hand_in(course, "ada", with_answers(lstm_gates="import os\nos._exit(1)", **nothing))
    said = grade(course, "--student", "ada")
    assert row(said, "ada")[1] == "crashed"
    found = marks(course)["ada"]
    assert found["check_lstm_cell"] == (0, None, True)


def test_an_answer_beside_its_cell_waits_and_can_be_read(handed_in, tmp_path):
    course = copy_course(handed_in, tmp_path / "course")
    released = nbformat.read(course / "release" / LSTM / NOTEBOOK, as_version=4)
    hand_in(course, "lazy", released)
    place = next(
        i
        for i, cell in enumerate(released.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == ESSAY
    )
    released.cells.insert(place + 1, new_markdown_cell("Because of the product rule."))
    released.cells[0].source += "\n\nGroup 7: Ada Lind."
    hand_in(course, "fay", released)
    grade(course, "--student", "lazy", "--student", "fay")
    marks_of = {
        name: {task["task"]: task["points"] for task in one["mark"]["tasks"]}
        for name, one in told(course).items()
        if one["mark"]
    }
    assert (marks_of["lazy"][ESSAY], marks_of["fay"][ESSAY]) == (0, None)
    done(run(course, "nbgrader", "generate_feedback", LSTM))
    page = (course / "feedback" / "fay" / LSTM / NOTEBOOK).with_suffix(".html").read_text(encoding="utf-8")
    assert "Because of the product rule." in page
    assert "Group 7: Ada Lind." in page
