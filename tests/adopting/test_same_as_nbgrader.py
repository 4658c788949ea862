"""Plain assignments get nbgrader's scores, cell by cell, but for the differences listed here.

All of `plain_cases.py` is graded twice: by nbgrader as it comes, and by ours.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import Step
from autograder.grading.course.course import Course
from autograder.grading.course.settings import SETTINGS, with_settings
from autograder.grading.judging.ran import Ran
from autograder.reporting.attention import attention, first_to_see
from autograder.reporting.page import page
from autograder.reporting.report import gather
from autograder.verdict import Verdict
from tests.adopting.plain_cases import (
    FILES,
    LOOK,
    SQUARE,
    Case,
    Work,
    asserts,
    honest,
    notebook,
    own,
    read,
    task,
    theirs,
)
from tests.support.courses import ROOT, SCRIPTS, done, environment
from tests.support.helpers import autograder_here, run_judge

TIMEOUT = 4
"""Seconds for a cell, in both: less than the notebook `timeout` of nbgrader's tests sleeps."""
STOCK = f"""c = get_config()
c.CourseDirectory.course_id = "same"
c.Execute.timeout = {TIMEOUT}
"""


def run_stock(course: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run an nbgrader command as in an environment that is activated: nbgrader looks for `alembic`."""
    there = environment(course)
    path = f"{SCRIPTS}:{there['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=course, env={**there, "PATH": path}, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip


def made_courses(folder: Path, cases: Mapping[str, Case]) -> tuple[Path, Path]:
    """Make a course of the cases twice, with all that was handed in: for nbgrader and for ours."""
    stock, ours = folder / "stock", folder / "ours"
    for course in (stock, ours):
        course.mkdir(parents=True)
        (course / "nbgrader_config.py").write_text(with_settings(STOCK, SETTINGS if course == ours else ()))
        shutil.copyfile(FILES / "autotests.yml", course / "autotests.yml")
    for name, case in cases.items():
        home = stock / "source" / name
        home.mkdir(parents=True)
        nbformat.write(case.source, home / f"{name}.ipynb")
        for path, text in case.beside.items():
            (home / path).write_text(text)
    shutil.copytree(stock / "source", ours / "source")
    done(run_stock(stock, "generate_assignment", "*"))
    for name, case in cases.items():
        for student, work in case.students.items():
            home = stock / "submitted" / student / name
            home.mkdir(parents=True)
            nbformat.write(
                work.notebook(read(stock / "release" / name / f"{name}.ipynb")), home / f"{name}.ipynb"
            )
            for path, text in {**case.beside, **work.beside}.items():
                (home / path).write_text(text)
    shutil.copytree(stock / "submitted", ours / "submitted")
    return stock, ours


def marks(course: Path) -> dict[str, dict[str, float | None]]:
    """The automatic score of each cell that has points, by `assignment/student`."""
    found = {}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for assignment in book.assignments:
            for submission in assignment.submissions:
                (graded,) = submission.notebooks
                scores = {grade.name: grade.auto_score for grade in graded.grades}
                found[f"{assignment.name}/{submission.student.id}"] = scores
    return found


_OTHER_TYPE = {"foo": (None, 1), "bar": (None, 0), "baz": (None, 0), "quux": (None, 0)}
_TWICE = dict.fromkeys(("first", "second", "third"), (None, 1)) | {"essay": (None, 0)}
DIFFERENCES = {
    "warned/s0": ("prints a warning", {"test": (0, 2)}),
    "cells/no-test": ("a deleted test cell", {"first": (None, 1)}),
    "cells/no-essay": ("a deleted free answer", {"essay": (None, 0)}),
    "twice/zz": ("a cell that is there twice", _TWICE),
    "submitted/p-answer-cell-type-changed": ("a cell of another type", _OTHER_TYPE),
    "submitted/p-grade-cell-type-changed": ("a cell of another type", _OTHER_TYPE),
    "cells/beside": ("beside an untouched free answer", {"by_hand": (0, None)}),
    "submitted/locked-cell-changed": ("into a locked cell for example", {"quux": (0, None)}),
    "asked/s0": ("`input()` in a cell", {"test": (0, 2)}),
    "shell/s1": ("comes from a program", {"test": (2, 0)}),
    "ended/s0": ("a cell that ends its kernel", {"test": (None, 0)}),
}  # fmt: skip
"""Where scores differ: what docs/plain-courses.md says of it, and nbgrader's score and ours of each cell."""


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Path, Path]:
    """The course of all cases, graded by nbgrader and by ours."""
    cases = {**theirs(), **honest()}
    stock, ours = made_courses(tmp_path_factory.mktemp("same"), cases)
    run_stock(stock, "autograde", "*")  # it ends with the submissions that it cannot grade
    built = autograder_here("build", "--course", ours)
    assert built.returncode == 0, built.stderr
    (ours / "built.txt").write_text(built.stdout)
    for name in cases:
        graded = autograder_here("grade", name, "--course", ours)
        assert graded.returncode == 0, graded.stderr
    return stock, ours


@pytest.mark.slow
def test_every_cell_has_nbgraders_score_or_a_reason(both):
    stock, ours = map(marks, both)
    assert stock.keys() == ours.keys()
    assert len(stock) > 60
    found = {
        key: {cell: (score, ours[key][cell]) for cell, score in cells.items() if score != ours[key][cell]}
        for key, cells in stock.items()
        if cells != ours[key]
    }
    assert found == {key: cells for key, (_, cells) in DIFFERENCES.items()}


def test_every_difference_is_on_the_page():
    text = (ROOT / "docs" / "plain-courses.md").read_text()
    assert [reason for reason, _ in DIFFERENCES.values() if reason not in text] == []


@pytest.mark.slow
def test_what_grading_leaves_out_is_said_in_one_sentence(both):
    _, ours = both
    told = {
        name: (ours / "autograded" / "s0" / name / f"{name}.ipynb").read_text() for name in ("asked", "shell")
    }
    left_out = [line for line in (ours / "built.txt").read_text().splitlines() if "shell lines" in line]
    assert left_out == [
        "  source/shell/shell.ipynb: shell lines are left out when grading, with a line in the output: "
        "cell `t`, cell `test`."
    ]
    assert "Nobody is asked when grading; the answer to this is empty: Your name?" in told["asked"]
    assert "Shell lines are not run when grading; this one was left out: !echo hello" in told["shell"]


@pytest.mark.slow
def test_the_report_says_once_what_can_be_forged(both):
    _, ours = both
    report = gather(Course.at(ours), "guide-problem1")
    text = " ".join(page(report, ours).split())
    assert text.count("4 test cells run beside the student's code") == 1
    kinds = {each.kind for each in report.attention if each.student in ("hacker", "bitdiddle")}
    assert kinds == {"edited_check", "needs_manual_grade"}


def judged(workers, case: Case) -> dict[str, Verdict]:
    """The verdicts on a case that nbgrader would hang at."""
    bare = without_solutions(case.source)
    texts = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in case.source.cells
        if cell["metadata"]["nbgrader"]["grade"]
    }
    bundle = Bundle("plain", "plain", nbformat.writes(bare), texts, cell_seconds=1)
    return {
        student: run_judge(nbformat.writes(work.notebook(deepcopy(bare))).encode(), workers, bundle).verdict
        for student, work in case.students.items()
    }


def without_solutions(source: NotebookNode) -> NotebookNode:
    made = deepcopy(source)
    for cell in made.cells:
        cell["source"] = cell["source"].split("### BEGIN")[0]
    return made


STUBBORN = """def f(x):
    while x == 3:
        try:
            while True:
                pass
        except KeyboardInterrupt:
            pass
    return x * x"""


def test_a_loop_that_catches_the_interrupt_costs_its_cell(quick_workers):
    cells = task("t", SQUARE), asserts("loops", 1, LOOK), asserts("holds", 1, "assert f(2) == 4")
    flood = read(FILES / "infinite-loop-with-output.ipynb").cells[0]["source"]  # nbgrader's own tests skip it
    work = Work(answers={"t": STUBBORN}, after={"t": flood})
    verdict = judged(quick_workers, Case(notebook(*cells), {"s0": work}))["s0"]
    assert {each.task: each.score for each in verdict.tasks} == {"loops": 0, "holds": 1}
    assert verdict.status == "graded"
    assert [each.message for each in verdict.findings if each.kind == "timeout"] == [
        "An added cell did not end in time and was left out; everything else was graded.",
        "The test cell `loops` did not end in time and was left out; everything else was graded.",
    ]


def test_a_test_cell_that_had_no_time_left_has_not_passed():
    step = Step(5, "unprotected", "m", "")
    assert "no time left" in str(Ran().out_of_time([step]).skipped(step).errors["m"])


def test_more_than_its_points_are_the_points_of_a_asserts(quick_workers):
    verdicts = judged(
        quick_workers, own(SQUARE, "f(3)", SQUARE, "def f(x):\n    return float('nan')", "f = 1 .__add__")
    )
    assert [verdict.score for verdict in verdicts.values()] == [2, 2, 2]


def test_what_cannot_be_forged_is_not_said_of_students(quick_workers):
    verdict = judged(quick_workers, own(SQUARE, LOOK, SQUARE))["s0"]
    assert {each.kind for each in verdict.findings} == {"unprotected_cell"}
    assert first_to_see(verdict) == ""
    assert attention([verdict], {}, ["s0"]) == []
