"""The course in nbgrader's hands: its commands beside ours, and what each leaves behind."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import pytest

from tests.support.courses import (
    CORRUPT,
    LSTM,
    NOTEBOOK,
    ROOT,
    SCRIPTS,
    TASKS,
    copy_course,
    done,
    everything,
    files,
    gradebook,
    hand_in,
    marks,
    named,
    released,
    run,
    source,
    totals,
    with_answers,
)
from tests.support.helpers import autograder_here

FORGETFUL = """
class LSTMCell(LSTMCell):
    calls = 0

    def forward(self, x, state=None):
        self.calls += self.training
        h, c = super().forward(x, state)
        return (h + 1, c) if self.calls > 3 else (h, c)
"""
"""Right for three steps of training: only a hidden check sees the fourth."""


def a_class(course: Path) -> dict[str, float | None]:
    """Hand in what students hand in, and return the scores it deserves (None: some)."""
    hand_in(course, "right", source())
    hand_in(course, "untouched", released())
    hand_in(course, "wrong", with_answers(**{name: f"def {name}(*_):\n    return 1" for name in TASKS}))
    hand_in(course, "partly", with_answers(lstm_cell="def lstm_cell(x, h, c, *weights):\n    return h, c"))
    hand_in(
        course, "turned", with_answers(lstm_cell="def lstm_cell(x, h, c, *weights):\n    return h.T, c.T")
    )
    stops = "def lstm_cell(x, h, c, *weights):\n    return nn.Linear(1, 1)(nn.Sequential(nn.ReLU())(x.T)), c"
    hand_in(course, "stopped", with_answers(lstm_cell=stops))
    hand_in(course, "forgetful", with_answers(LSTMCell=named(source(), "LSTMCell")["source"] + FORGETFUL))
    hand_in(course, "corrupt", CORRUPT)
    hand_in(course, "misnamed", source(), name="my lstm.ipynb")
    twice = source()
    for name in ("lstm_cell", "check_lstm_cell"):
        twice.cells.append(deepcopy(named(twice, name)))
        twice.cells[-1]["id"] = f"second-{len(twice.cells)}"
    hand_in(course, "duplicated", twice)
    old = source()
    for cell in old.cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 2
    hand_in(course, "old_schema", old)
    (course / "submitted" / "empty" / LSTM).mkdir(parents=True)
    none = dict.fromkeys(("untouched", "wrong", "corrupt", "empty"), 0.0)
    full = dict.fromkeys(("right", "misnamed", "duplicated", "old_schema"), 10.0)
    return {**none, **full, "partly": 8.0, "turned": 8.0, "stopped": 8.0, "forgetful": 9.0}


@pytest.fixture(scope="module")
def both(empty_course, tmp_path_factory) -> tuple[Path, Path, dict[str, float | None]]:
    """The same class twice: graded by `nbgrader autograde`, and by `autograder grade`."""
    made = tmp_path_factory.mktemp("both")
    one = copy_course(empty_course, made / "one")
    deserved = a_class(one)
    (one / ".autograder").mkdir(exist_ok=True)
    (one / ".autograder" / "seed").write_text("4711\n")
    other = copy_course(one, made / "other")
    done(run(one, "nbgrader", "autograde", LSTM))
    done(run(other, SCRIPTS / "autograder", "grade", LSTM, "--jobs", "2"))
    return one, other, deserved


def test_both_commands_leave_the_same_gradebook(both):
    one, other, deserved = both
    assert totals(one) == totals(other) == deserved
    assert marks(one) == marks(other)


def test_both_commands_leave_the_same_files(both):
    one, other, deserved = both
    by_nbgrader, by_autograder = (files(course, "autograded") for course in (one, other))
    assert (
        sorted(by_nbgrader)
        == sorted(by_autograder)
        == [f"autograded/{name}/{LSTM}/{NOTEBOOK}" for name in sorted(deserved)]
    )
    for name in by_nbgrader:
        assert without_chance(by_nbgrader[name]) == without_chance(by_autograder[name]), name
    verdicts = [
        {name: json.loads(raw) for name, raw in files(course, "verdicts").items()} for course in (one, other)
    ]
    for kept in (*verdicts[0].values(), *verdicts[1].values()):
        kept["verdict"]["seconds"] = 0
    assert verdicts[0] == verdicts[1]


def without_chance(notebook: bytes) -> bytes:
    """Without addresses in outputs, and the ids that nbformat draws for new cells."""
    return re.sub(rb'0x[0-9a-f]+|"id": "[0-9a-f]{8}"', b"", notebook)


def test_feedback_shows_the_card_and_keeps_what_is_hidden(both):
    course, _, deserved = both
    done(run(course, "nbgrader", "generate_feedback", LSTM))
    pages = {path.parent.parent.name: path.read_text() for path in course.glob(f"feedback/*/{LSTM}/*")}
    assert pages.keys() == deserved.keys()
    assert all(path.suffix == ".html" for path in course.glob("feedback/*/*/*")), (
        "more than pages is handed back"
    )
    for student, page in pages.items():
        unread = student in ("corrupt", "empty")
        score = "no score yet" if unread else f"{deserved[student]:g} of 10 points"
        assert f"<h1>lstm_cell: {score}</h1>" in page, student
        assert ("No points have been given yet: they come from your grader." in page) == unread, student
        for secret in (
            "stays equal to nn.LSTMCell",
            "of a chain",
            "4711",
            str(ROOT),
            str(course),
            str(sys.prefix),
            "fingerprint",
            "site-packages",
            "Traceback (most",
            tempfile.gettempdir(),
        ):
            assert secret not in page, (student, secret)
        for card in re.findall(r'<div role="group".*', page):
            assert not re.search(r"<script|<style|class=|\bsrc=|href=", card), student
    seen, expected = (
        re.search(f">{word}</span>(.*?)<(?:br|/div)", pages["turned"]) for word in ("seen", "expected")
    )
    assert re.findall(r">(\w+) \d+<", seen[1]) == ["hidden", "batch"]
    assert re.findall(r">(\w+) \d+<", expected[1]) == ["batch", "hidden"]
    assert "<summary" in pages["turned"]
    assert "mat1 and mat2 shapes cannot be multiplied" in pages["stopped"]
    assert "lstm_cell: 0 of 2 points" in pages["partly"]
    assert "Fed its own state, step after step, the cell stays right." in pages["forgetful"]
    assert "could not be read" in pages["corrupt"]
    assert f"Next time, hand it in as <code>{NOTEBOOK}</code>" in pages["misnamed"]
    assert f"There is no file <code>{NOTEBOOK}</code>" in pages["empty"]


def test_export_has_every_score(both):
    course, _, deserved = both
    done(run(course, "nbgrader", "export"))
    with (course / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file) if row["assignment"] == LSTM}
    unread = {student for student, row in rows.items() if row["state"] == "needs_manual_grade"}
    assert unread == {"corrupt", "empty"}
    assert all(rows[student][name] == "" for student in unread for name in ("raw_score", "score"))
    scores = {student: float(row["score"]) for student, row in rows.items() if student not in unread}
    assert scores == {student: score for student, score in deserved.items() if student not in unread}
    assert {rows[student]["state"] for student in scores} == {"graded"}
    assert {row["max_score"] for row in rows.values()} == {"10"}


def regrade(course: Path, command: str, *options: str) -> subprocess.CompletedProcess[str]:
    if command == "nbgrader":
        return run(course, "nbgrader", "autograde", LSTM, *options)
    return autograder_here("grade", LSTM, "--course", course)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["autograder", "nbgrader"])
def test_a_resubmission_replaces_the_score_and_nothing_a_person_gave(course, command):
    done(regrade(course, command))
    assert totals(course) == {"ada": 10}
    with gradebook(course) as book:
        grade = book.find_grade("check_lstm_cell", "lstm_cell", LSTM, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.25, False
        book.find_comment("lstm_cell", "lstm_cell", LSTM, "ada").manual_comment = "Nice."
        book.db.commit()
    hand_in(course, "ada", CORRUPT)
    done(regrade(course, command, "--student", "ada", "--force"))
    mine = marks(course)["ada"]
    assert mine["check_lstm_cell"] == (None, 1.25, True)
    assert mine["comment on lstm_cell"][1] == "Nice."
    assert all(mine[f"check_{task}"] == (None, None, True) for task in TASKS if task != "lstm_cell")
    hand_in(course, "ada", source(), when="2026-03-02 12:00:00 UTC")
    done(regrade(course, command))
    assert marks(course)["ada"]["check_lstm_cell"] == (2, 1.25, True)
    assert totals(course) == {"ada": 9.25}


LATE = """
from nbgrader.plugins import BasePlugin

class OnePointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["autograder", "nbgrader"])
def test_late_policies_of_the_course_hold(course, command):
    (course / "late_policy.py").write_text(LATE)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"\n')
    with gradebook(course) as book:
        book.update_or_create_assignment(LSTM, duedate="2026-03-01 09:30:00 UTC")
    hand_in(course, "bob", CORRUPT, when="2026-03-01 12:00:00 UTC")
    hand_in(course, "cai", source(), when="2026-03-01 09:00:00 UTC")
    hand_in(course, "dov", source(), when="01.03.2026 10:45")
    # A policy is a module that is found in the course: each in a process of its own.
    result = run(course, command, {"nbgrader": "autograde", "autograder": "grade"}[command], LSTM)
    assert [marks(course)[name]["late"] for name in ("ada", "bob", "cai", "dov")] == [2.5, 0, None, None], (
        result.stderr
    )
    assert totals(course)["dov"] == 10


@pytest.mark.slow
def test_a_late_policy_that_fails_is_said_so(course):
    (course / "late_policy.py").write_text(LATE.replace("3600", "0"))
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"\n')
    with gradebook(course) as book:
        book.update_or_create_assignment(LSTM, duedate="2026-03-01 09:30:00 UTC")
    before = everything(course)
    result = run(course, "autograder", "grade", LSTM)
    assert result.returncode == 1
    assert (
        "The course's late policy OnePointAnHour fails with ZeroDivisionError: float division by zero"
        in result.stderr
    )
    assert everything(course) == before
