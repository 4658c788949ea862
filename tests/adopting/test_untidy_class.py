"""An untidy class: each student has an explicit status, and nobody is accused of what a tool has done."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.adopting.plain_cases import GUIDE
from tests.adopting.test_same_as_nbgrader import STOCK, run_stock
from tests.adopting.untidy_class import CLASS, Work
from tests.support.courses import copy_course, done, run
from tests.support.helpers import assert_explicit, autograder_here
from tests.support.intake import zipped

ACCUSED = ("was changed", "deleted", "Error)")
UNTOLD = {"unprotected_cell"}


def results(course: Path) -> dict[str, dict[str, Any]]:
    """Grade the class with the real command, and return the results by student."""
    done(autograder_here("grade", "ps1", "--course", course))
    told = json.loads(done(autograder_here("results", "ps1", "--json", "--course", course)))
    return {each["student"]: each for each in told}


def kinds(result: dict[str, Any]) -> set[str]:
    return {each["kind"] for each in result["findings"]} - UNTOLD


def messages(result: dict[str, Any]) -> list[str]:
    """Return the messages of a submission: of its findings and of its checks."""
    checks = [check for task in result["tasks"] for check in task["checks"]]
    return [each["message"] for each in (*result["findings"], *checks)]


@pytest.fixture(scope="module")
def adopted(tmp_path_factory) -> Path:
    """nbgrader's example course, adopted; nobody has handed in."""
    course = tmp_path_factory.mktemp("untidy") / "course"
    shutil.copytree(GUIDE / "source" / "ps1", course / "source" / "ps1")
    done(autograder_here("adopt", course, "--yes"))
    return course


@pytest.fixture(scope="module")
def course(adopted, tmp_path_factory) -> Path:
    """The class has handed in, into its folders."""
    made = copy_course(adopted, tmp_path_factory.mktemp("class") / "course")
    for name, student in CLASS.items():
        folder = made / "submitted" / name / "ps1"
        folder.mkdir(parents=True)
        for path, raw in student.make(Work.solved(made / "release" / "ps1")).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(raw)
        student.prepare(folder)
    return made


@pytest.fixture(scope="module")
def graded(course) -> dict[str, dict[str, Any]]:
    return results(course)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASS)
def test_each_has_the_right_outcome(name, graded):
    expected, result = CLASS[name], graded[name]
    assert_explicit(result)
    assert tuple(each["status"] for each in result["notebooks"]) == expected.status
    assert result["score"] == expected.score
    waiting = [task["max_points"] for task in result["mark"]["tasks"] if task["points"] is None]
    assert sum(waiting) == expected.waits
    assert kinds(result) == set(expected.kinds)
    assert any(expected.says in each for each in (*messages(result), ""))
    assert not [each for each in messages(result) if any(word in each for word in ACCUSED)]


@pytest.mark.slow
def test_a_student_of_whom_nothing_is_to_be_said_reads_no_note(course, graded):
    noted = {
        path.parents[1].name
        for path in course.glob("autograded/*/ps1/*.ipynb")
        if "autograder" in nbformat.read(path, as_version=4).cells[0]["metadata"].get("tags", [])
    }
    with_reason = {name for name, student in CLASS.items() if student.kinds}
    assert noted == with_reason - {"split", "conflict-in-cell", "tab"}  # those only graders read


@pytest.mark.slow
def test_collected_from_a_platform_the_class_has_the_same_scores(adopted, tmp_path, graded):
    """Only names of files are mended on the way, links are followed by nobody, and nothing is nothing."""
    course = copy_course(adopted, tmp_path / "course")
    roster = io.StringIO()
    rows = csv.writer(roster)
    rows.writerow(["Identifier", "Full name", "Email address"])
    sent = {}
    for number, (name, student) in enumerate(CLASS.items(), 1):
        rows.writerow([f"Participant {number}", f"Student {name}", f"{name}@school.example"])
        for path, raw in student.make(Work.solved(course / "release" / "ps1")).items():
            sent[f"Student {name}_{number}_assignsubmission_file/{path}"] = raw
    (tmp_path / "all.zip").write_bytes(zipped(sent))
    (tmp_path / "roster.csv").write_text(roster.getvalue())
    options = ("--from", tmp_path / "all.zip", "--roster", tmp_path / "roster.csv", "--course", course)
    done(autograder_here("collect", "ps1", *options))
    collected = results(course)
    assert collected.keys() == graded.keys()
    others = {name for name in graded if collected[name]["score"] != graded[name]["score"]}
    assert others == {"swapped", "link"}
    assert collected["swapped"]["score"] == collected["link"]["score"] == 3
    assert {name for name in collected if "other_name" in kinds(collected[name])} == set()
    assert {each["status"] for each in collected["nothing"]["notebooks"]} == {"missing"}


@pytest.mark.slow
def test_nbgraders_own_command_gives_the_same(course, graded, tmp_path):
    some = ("kaggle", "zip-renamed", "swapped", "split")
    fresh = copy_course(course, tmp_path / "course")
    for name in graded.keys() - set(some):
        shutil.rmtree(fresh / "submitted" / name)
    shutil.rmtree(fresh / "verdicts")
    done(run(fresh, "nbgrader", "autograde", "ps1", "--force"))
    told = json.loads(done(autograder_here("results", "ps1", "--json", "--course", fresh)))
    again = {each["student"]: each for each in told}
    for name in some:
        assert (again[name]["score"], again[name]["findings"]) == (
            graded[name]["score"],
            graded[name]["findings"],
        )


@pytest.mark.slow
def test_nbgrader_as_it_comes_gives_no_more(course, graded, tmp_path):
    """The others were compared by hand: only the link, which it follows, gets more points there."""
    (tmp_path / "nbgrader_config.py").write_text(STOCK)
    shutil.copytree(course / "source", tmp_path / "source")
    done(run_stock(tmp_path, "generate_assignment", "ps1"))
    some = {"vs-code": 3, "formatted": 3, "reversed": 0, "kaggle": None}
    for name in some:
        shutil.copytree(course / "submitted" / name, tmp_path / "submitted" / name)
    run_stock(tmp_path, "autograde", "ps1")
    tests = {each["task"] for each in graded["tidy"]["tasks"]}
    found: dict[str, list[float | None]] = {}
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        for submission in book.assignment_submissions("ps1"):
            cells = [(part.name, grade) for part in submission.notebooks for grade in part.grades]
            found[submission.student.id] = [
                grade.auto_score for part, grade in cells if f"{part}/{grade.name}" in tests
            ]
    assert {name: None if None in each else sum(each) for name, each in found.items()} == some
