"""What stops a batch before anything is graded: one sentence, and nothing is changed."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from autograder.errors import UserError
from autograder.grading.course.course import Course
from tests.support.courses import (
    LSTM,
    copy_course,
    everything,
    one_sentence,
    run,
    set_db_url,
)
from tests.support.helpers import autograder_here


def lock(course: Path) -> sqlite3.Connection:
    set_db_url(course, f"sqlite:///{course}/gradebook.db?timeout=1")
    book = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    book.execute("BEGIN IMMEDIATE")
    return book


def make_unknown(course: Path) -> None:
    with sqlite3.connect(course / "gradebook.db") as book:
        book.execute("UPDATE assignment SET name = 'another' WHERE name = ?", [LSTM])


def change_points(course: Path) -> None:
    with sqlite3.connect(course / "gradebook.db") as book:
        book.execute("UPDATE grade_cells SET max_score = 3 WHERE max_score = 4")


BROKEN = {
    "locked": (lock, "is locked by another program"),
    "read-only": (
        lambda course: set_db_url(course, f"sqlite:///file:{course}/gradebook.db?mode=ro&uri=true"),
        "is read-only for you",
    ),
    "no database": (
        lambda course: (course / "gradebook.db").write_bytes(b"x" * 5000),
        "is not a gradebook that can be read",
    ),
    "unknown assignment": (
        make_unknown,
        f"The gradebook does not know the assignment {LSTM}: run `autograder build {LSTM}` first.",
    ),
    "other points": (change_points, f"than the release has: run `autograder build {LSTM}` again."),
    "no release": (lambda course: shutil.rmtree(course / "release" / LSTM), "has not been built"),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("command", ["autograder", pytest.param("nbgrader", marks=pytest.mark.slow)])
def test_what_stops_a_batch_is_one_sentence_and_changes_nothing(course, how, command):
    spoil, sentence = BROKEN[how]
    before = everything(course)
    held = spoil(course)
    after_spoil = everything(course)
    if command == "nbgrader":
        result = run(course, "nbgrader", "autograde", LSTM)
    else:
        result = autograder_here("grade", LSTM, "--course", course)
    assert result.returncode == 1
    assert sentence in one_sentence(result)
    if isinstance(held, sqlite3.Connection):
        held.close()
        assert everything(course) == before
    else:
        assert everything(course) == after_spoil


def test_a_gradebook_that_is_locked_on_the_way_keeps_what_was_there(course, monkeypatch):
    from autograder.grading.judging.judge import Graded
    from autograder.grading.records import record as module
    from autograder.grading.records.store import Key
    from autograder.verdict import Verdict

    before = everything(course)
    held = lock(course)
    at = Course.at(course)
    bundle = at.bundle(LSTM)
    verdict = Verdict("ada", LSTM, "lstm_cell", "graded", 0.0, 0, (), ())
    with pytest.raises(UserError, match="is locked by another program"):
        module.record(at, bundle, [(Graded(verdict, bundle.released), Key("checks", "file"))])
    held.close()
    assert everything(course) == before
    assert not (course / "autograded").exists()
    assert not (course / "verdicts").exists()


@pytest.mark.slow
def test_what_is_not_there_is_said_in_one_sentence(course):
    spoilt = copy_course(course, course.parent / "spoilt")
    (spoilt / "nbgrader_config.py").write_text("c = get_config(\n")
    for where, arguments, sentence in (
        (course.parent, ("grade", LSTM), "There is no course in"),
        (course, ("grade", "04_nothing"), "There is no assignment '04_nothing'"),
        (course, ("grade", LSTM, "--student", "eve"), f"The student 'eve' has not submitted {LSTM}"),
        (spoilt, ("grade", LSTM), "nbgrader_config.py fails with SyntaxError"),
    ):
        result = autograder_here(*arguments, "--course", where)
        assert result.returncode == 1
        assert sentence in one_sentence(result)
    result = run(course, "nbgrader", "autograde", LSTM, "--student", "eve")
    assert result.returncode == 1
    assert "No notebooks were matched" in result.stderr
    assert not (course / "autograded").exists()
