"""What a report is made of: names that may be broken, colours, a grader's points, fields of a table."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import reporting
from autograder.grading.feedback.points import sentence as sentence_of
from autograder.reporting.attention import first_to_see
from autograder.reporting.page import breakable
from autograder.reporting.spreadsheet import csv_text
from autograder.verdict import CheckVerdict, Finding, TaskVerdict, Verdict
from tests.support.contrast import contrast
from tests.support.helpers import ASSIGNMENT, autograder_here, make_course


@pytest.mark.parametrize(
    ("given", "extra", "said"),
    [
        (None, None, ""),
        (0.0, None, ""),
        (1.25, None, "The checks gave 0 of 2 points; your grader gave 1.25, and that is what counts."),
        (None, 0.5, "The checks gave 0 of 2 points; extra credit adds 0.5."),
        (
            2.0,
            1.0,
            "The checks gave 0 of 2 points; your grader gave 2, and that is what counts; "
            "extra credit adds 1.",
        ),
    ],
)
def test_feedback_says_whose_points_count(given, extra, said):
    grade = SimpleNamespace(auto_score=0.0, manual_score=given, extra_credit=extra, max_score=2.0)
    assert sentence_of(grade) == said
    grade.auto_score = None
    waits = "2 points here come from your grader, who has not given any yet." if given is None else ""
    assert sentence_of(grade) == waits, "nothing that a person's points stand in place of"


def test_a_long_name_may_be_broken_and_stays_the_same_name():
    for name in ("copy_from_torch", "x" * 60, "__init__", "a<b>_&c", "_", "LSTMCell"):
        pieces = str(breakable(name)).split("<wbr>")
        assert html.unescape("".join(pieces)) == name
        assert all(len(html.unescape(piece).rstrip("_")) <= 10 for piece in pieces)
    assert str(breakable("copy_from_torch")) == "copy_<wbr>from_<wbr>torch"


def test_the_first_thing_to_see_is_what_cost_most():
    failed = CheckVerdict(
        "shape", "shape", "It has the shape.", "failed", 0.0, 1.0, "Two numbers,\n not three."
    )
    task = TaskVerdict("double", 1.0, (failed,))
    remark, wanted = Finding("prints", "It prints."), Finding("other_version", "There are two.")
    unread = Finding("corrupt", "It is no notebook.")
    for status, findings, tasks, first in (
        ("corrupt", (remark, unread), (), "It is no notebook."),
        ("graded", (remark, wanted), (task,), "double: Two numbers, not three."),
        ("graded", (remark, wanted), (), "There are two."),
        ("graded", (remark,), (), "It prints."),
        ("graded", (), (), ""),
    ):
        assert first_to_see(Verdict("ada", "a", "n", status, 1.0, 1, findings, tasks)) == first


STYLE = Path(reporting.__file__).parent / "templates" / "report.css"
PALETTES = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
THEMES = {"light": PALETTES[0], "dark": PALETTES[1]}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("paper", ["paper", "panel"])
@pytest.mark.parametrize("ink", ["ink", "soft", "accent", "warn", "bad"])
def test_text_can_be_read_on_a_light_and_on_a_dark_screen(theme, paper, ink):
    """WCAG AA: a contrast of 4.5 at least."""
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", THEMES[theme]))
    assert contrast(colours[ink], colours[paper]) >= 4.5
    assert contrast(colours["mark"], colours["mark-ink"]) >= 4.5
    assert contrast(colours["bar"], colours["paper"]) >= 3, "a graphical object needs 3"


def test_csv_runs_nothing():
    rows = [
        [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "  =1",
            "\uff1d1",
            "a,b",
            'say "so"',
            -1.5,
            None,
            2.0,
        ]
    ]
    (read,) = csv.reader(csv_text(rows).splitlines(keepends=True))
    assert [field[0] for field in read[:8]] == ["'"] * 8
    assert read[8:] == ["a,b", 'say "so"', "-1.5", "", "2"]


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("99_none", "There is no assignment '99_none'"),
        (ASSIGNMENT, "Nothing has been graded yet: run `autograder grade 03_lstm_cell` first."),
    ],
)
def test_what_cannot_be_reported_is_one_sentence(tmp_path, assignment, words):
    make_course(tmp_path)
    told = autograder_here("report", assignment, "--course", tmp_path)
    assert (told.returncode, told.stdout) == (1, "")
    assert words in told.stderr
    assert not (tmp_path / "reports").exists()
