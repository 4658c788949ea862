"""A small class, graded by the real command, with all in it that a report tells apart; a reader of pages."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from autograder.grading.course.course import Course
from tests.support.courses import copy_course, done, run
from tests.support.helpers import (
    ASSIGNMENT,
    NOTEBOOK,
    ROOT,
    answer,
    autograder,
    make_course,
    released,
    submission,
    submit,
)

SCRIPT = "</code></pre></script><script>alert('hacked')</script>"
HOSTILE = "<img src=x onerror=alert(1)>"
"""A student's name of the kind that a folder can have."""
FORMULA = "=1+cmd|' C calc'!A0"
"""A student's name that a spreadsheet would run."""

LATE_POLICY = """
from nbgrader.plugins import BasePlugin

class OnePointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""
SETTINGS = 'c.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"'

OWN_STYLE = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    joined = torch.cat([x, h], dim=-1)
    stacked_weights = torch.cat([w_ih, w_hh], dim=-1)
    blocks = F.linear(joined, stacked_weights, b_ih + b_hh).unflatten(-1, (4, -1))
    entry, keep, news, exit_ = blocks.unbind(-2)
    return [entry.sigmoid(), keep.sigmoid(), news.tanh(), exit_.sigmoid()]
"""
RENAMED = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    # my own idea
    a = torch.cat([x, h], dim=-1); b = torch.cat([w_ih, w_hh], dim=-1)
    c = F.linear(a, b, b_ih + b_hh).unflatten(-1, (4, -1))
    p, q, r, s = c.unbind(-2)
    return [p.sigmoid(), q.sigmoid(), r.tanh(), s.sigmoid()]
"""


def graded_class(root: Path) -> Course:
    """The class, graded: fourteen students, one of whom handed in nothing and one of whom waits."""
    (root / "late_policy.py").write_text(LATE_POLICY)
    course = make_course(root, settings=SETTINGS)
    shutil.copytree(ROOT / "solutions" / "mistakes", root / "solutions" / "mistakes")
    order = answer("lstm_gates").replace("i, f, g, o = sums", "i, f, o, g = sums")
    raises = f"def lstm_cell(*arguments):\n    raise ValueError({SCRIPT!r})  # {SCRIPT}\n"
    corrupt = submission()
    handed_in = {
        "ada": submission(),
        "ben": submission({"lstm_gates": order}),
        "cem": submission({"lstm_gates": order}),
        "dot": submission({"lstm_gates": OWN_STYLE}),
        "eve": submission({"lstm_gates": RENAMED}),
        "fay": json.dumps(released()).encode(),
        "gus": corrupt[: len(corrupt) // 2],
        "hal": None,
        "ida": submission(end="import ctypes"),
        "jon": submission({"lstm_cell": answer("lstm_cell", prepend="import ctypes")}),
        HOSTILE: submission({"lstm_cell": raises}),
        FORMULA: submission({"lstm_cell": raises}),
    }
    for student, raw in handed_in.items():
        submit(course, student, raw)
    when = course.folder("submitted", "ben", ASSIGNMENT) / "timestamp.txt"
    when.write_text("2026-11-21 13:30:00 UTC")
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=datetime(2026, 11, 21, 12))
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace", email="ada@example.org")
        gradebook.add_student("ben", first_name="<b>Ben</b>", last_name="=HYPERLINK(1)", lms_user_id="4711")
        gradebook.add_student("nil", first_name="Nil", last_name="Nobody")
    told = autograder("grade", ASSIGNMENT, "--jobs", "1", "--course", root)
    assert told.returncode == 0, told.stdout + told.stderr
    submit(course, "waits", submission())
    with course.gradebook() as gradebook:
        give_points(gradebook, "cem", "check_lstm_gates", 1.25)
    return course


def give_points(gradebook: Gradebook, student: str, cell: str, points: float | None) -> None:
    """Save what formgrader saves when a person types points into a cell."""
    grade = gradebook.find_grade(cell, NOTEBOOK, ASSIGNMENT, student)
    grade.manual_score, grade.needs_manual_grade = points, False
    gradebook.db.commit()


COMMENT = "Look at the *order* of the blocks.\n\nThen try again."
ODD_CELLS = (
    "My drawing: ![drawing](attachment:foo.png)",
    "<script>document.title = 'hacked'</script><img src=https://evil.example/pixel.png>",
    "![remote](https://evil.example/pixel.png) and $\\frac$ and $h_t$",
    "[" * 30_000,
    "half a pair: \ud800",
    "# BEGIN HIDDEN TESTS",
)
"""Markdown that students added: each would stop nbgrader's own page, reach for the network, or lie."""


def with_feedback(graded_class: Path, folder: Path) -> Path:
    """A copy of the graded class with its pages: `cem` has a person's comments, `ada` odd cells."""
    course = copy_course(graded_class, folder / "course")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for cell in ("lstm_gates", "LSTMCell"):
            book.find_comment(cell, NOTEBOOK, ASSIGNMENT, "cem").manual_comment = COMMENT
        book.db.commit()
    add_cells(course, "ada", *ODD_CELLS)
    done(run(course, "nbgrader", "generate_feedback", ASSIGNMENT))
    return course


def add_cells(course: Path, student: str, *sources: str) -> None:
    """Put Markdown cells into a graded notebook as the rebuild keeps those that a student added."""
    path = course / "autograded" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for source in sources:
        notebook.cells.append(nbformat.v4.new_markdown_cell(source, metadata={"tags": ["student-added"]}))
    text = nbformat.writes(notebook).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    path.write_text(text.replace("\ufffd\ufffd\ufffd", "\\ud800"))


def page_of(course: Path, student: str) -> Path:
    return course / "feedback" / student / ASSIGNMENT / f"{NOTEBOOK}.html"


VOID = {"meta", "br", "img", "input", "link", "wbr"}


class Page(HTMLParser):
    """A page as a browser reads it: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "an element that is not closed, or closed twice"

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        place = self.open[-1] if self.open else ""
        self.text[place] = self.text.get(place, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]
