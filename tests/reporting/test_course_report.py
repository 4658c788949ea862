"""The report of a whole course: two assignments, really graded, and what only shows over both."""

from __future__ import annotations

import csv
import json
import shutil
from typing import Any

import pytest

from autograder.grading.course.course import Course
from autograder.grading.records.scores import Mark, Marks
from autograder.reporting.overview.behind import falling_behind
from tests.support.helpers import (
    ROOT,
    answer,
    autograder_here,
    make_course,
    released,
    submission,
    submit,
)
from tests.support.reports import HOSTILE, SCRIPT, Page, give_points

pytestmark = pytest.mark.slow

FIRST, SECOND = "03_lstm_cell", "04_lstm_layer"
ORDER = answer("lstm_gates").replace("i, f, g, o = sums", "i, f, o, g = sums")


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """Only read by the tests. `zoe` is enrolled and hands in nothing, `ben` stops after the first one."""
    root = tmp_path_factory.mktemp("course")
    course = make_course(root, (FIRST, SECOND))
    shutil.copytree(ROOT / "solutions" / "mistakes", root / "solutions" / "mistakes")
    raises = f"def lstm_cell(*arguments):\n    raise ValueError({SCRIPT!r})  # {SCRIPT}\n"
    right = submission(base=released(SECOND))
    handed_in = {
        FIRST: {"ada": submission(), "ben": submission({"lstm_gates": ORDER}), "cem": submission(),
                "dot": submission({"lstm_gates": ORDER}), HOSTILE: submission({"lstm_cell": raises})},
        SECOND: {"ada": right, "cem": right[:1000], "dot": None, HOSTILE: right},
    }  # fmt: skip
    for assignment, raws in handed_in.items():
        for student, raw in raws.items():
            submit(course, student, raw, assignment)
        told = autograder_here("grade", assignment, "--jobs", "1", "--course", root)
        assert told.returncode == 0, told.stderr
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        gradebook.add_student("zoe")
        give_points(gradebook, "ben", "check_lstm_gates", 1.0)
    return course


@pytest.fixture(scope="module")
def told(course) -> dict[str, Any]:
    result = autograder_here("report", "--json", "--course", course.root)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def page(course) -> str:
    autograder_here("report", FIRST, "--course", course.root)
    result = autograder_here("report", "--course", course.root)
    assert result.returncode == 0, result.stderr
    path = course.root / "reports" / "course.html"
    assert result.stdout.strip() == f"The report: {path}"
    return path.read_text(encoding="utf-8")


def line(told: dict[str, Any], student: str) -> dict[str, Any]:
    return next(each for each in told["students"] if each["student"] == student)


def test_a_student_s_line_has_every_assignment_and_adds_up_what_is_there(told):
    assert line(told, "ada")["scores"] == {FIRST: 10.0, SECOND: 0.0}
    assert (line(told, "ada")["total"], line(told, "ada")["share"]) == (10.0, 0.5)
    assert line(told, "cem")["scores"] == {FIRST: 10.0, SECOND: None}
    assert line(told, "cem")["states"][SECOND] == "corrupt"
    assert (line(told, "cem")["total"], line(told, "cem")["share"]) == (10.0, 1.0), (
        "what has no score is no 0"
    )
    assert (line(told, "zoe")["total"], line(told, "zoe")["share"]) == (None, None)


def test_points_of_a_person_count(told, course):
    one = json.loads(autograder_here("report", FIRST, "--json", "--course", course.root).stdout)
    score = next(each["score"] for each in one["submissions"] if each["student"] == "ben")
    assert line(told, "ben")["scores"][FIRST] == score


def test_each_assignment_says_the_same_as_in_its_own_report(told, course):
    for each in told["assignments"]:
        own = json.loads(
            autograder_here("report", each["assignment"], "--json", "--course", course.root).stdout
        )
        for name in ("scores", "handed_in", "full_marks", "need_a_person", "max_score"):
            assert each[name] == own[name], name
        assert [task["earned"] for task in each["tasks"]] == [task["earned"] for task in own["tasks"]]


def test_the_commonest_mistake_and_the_hardest_check_of_the_course_come_first(told):
    mistake = told["mistakes"][0]
    assert (mistake["assignment"], mistake["mistake"]["mistake"]) == (FIRST, "gates_in_another_order")
    assert mistake["mistake"]["students"] == ["ben", "dot"]
    rates = [each["check"]["pass_rate"] for each in told["checks"]]
    assert rates == sorted(rates)


def test_who_needs_a_person_says_in_which_assignment(told):
    reasons = {(each["assignment"], each["student"], each["kind"]) for each in told["attention"]}
    assert (SECOND, "cem", "corrupt") in reasons
    assert not any(student == "zoe" for _, student, _ in reasons)


def test_no_student_can_write_into_the_page(page):
    read = Page(page)
    assert read.open == []
    assert all(not name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert len(read.all("script")) == 1
    assert read.all("img") == []
    assert "<script>alert" not in page
    assert "&lt;img src=x" in page, "the student's name is there, as text"


def test_it_needs_no_network_and_links_the_reports_that_are_there(page):
    links = {link["href"] for link in Page(page).all("a")}
    assert f"{FIRST}.html" in links
    assert f"{SECOND}.html" not in links
    assert all(link.startswith(("#", "http://localhost:8888/formgrader", f"{FIRST}.html")) for link in links)
    assert not Page(page).all("link")


def test_the_tables_hold_the_same_numbers(course, told, tmp_path):
    result = autograder_here("report", "--csv", tmp_path / "tables", "--course", course.root)
    assert result.returncode == 0, result.stderr
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == {
        "assignments", "tasks", "students", "states", "behind", "attention", "checks", "mistakes",
    }  # fmt: skip
    with (tmp_path / "tables" / "students.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["cem"][FIRST], rows["cem"][SECOND], rows["cem"]["total"]) == ("10", "", "10")
    assert len(rows) == len(told["students"])


def test_nothing_graded_is_one_sentence(tmp_path):
    assert autograder_here("new", tmp_path / "course", "--empty").returncode == 0
    told = autograder_here("report", "--course", tmp_path / "course")
    assert told.returncode == 1
    assert "Nothing has been graded yet" in told.stderr
    assert not (tmp_path / "course" / "reports").exists()


def marks(assignment: str, **scores: float | str) -> Marks:
    """One assignment of ten points: a score, or the state of who has none."""
    found = {
        student: Mark(student, score if isinstance(score, str) else "graded", {}, 0.0,
                      None if isinstance(score, str) else score)
        for student, score in scores.items()
    }  # fmt: skip
    return Marks(assignment, {"task": 10.0}, {}, found)


class TestBehind:
    def test_two_of_the_last_three_missed(self):
        found = falling_behind(
            [marks("1", a=10), marks("2", a="missing"), marks("3", a=10), marks("4", a="missing")]
        )
        assert [(each.student, each.missed, each.share) for each in found] == [("a", ("2", "4"), None)]

    def test_long_ago_is_no_news(self):
        lines = [marks(str(n), a="missing") for n in (1, 2)] + [marks(str(n), a=9) for n in (3, 4)]
        assert falling_behind(lines) == []

    def test_less_than_half_of_the_points_of_two(self):
        assert [each.share for each in falling_behind([marks("1", a=4, b=5), marks("2", a=5.5, b=5)])] == [
            0.475
        ]

    def test_one_bad_score_is_not_enough_and_no_score_is_not_0(self):
        assert falling_behind([marks("1", a=1), marks("2", a="corrupt"), marks("3", a="not_graded")]) == []

    def test_nobody_after_one_assignment_and_whoever_never_came_after_two(self):
        assert falling_behind([marks("1", a="missing", b=0)]) == []
        (never,) = falling_behind([marks("1", a="missing"), marks("2", a="missing")])
        assert (never.student, never.missed) == ("a", ("1", "2"))
