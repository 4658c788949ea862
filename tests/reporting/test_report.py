"""The instructor's report of a graded class: what is told apart, and that no student can write into it."""

from __future__ import annotations

import csv
import html
import itertools
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest

from autograder.grading.course.course import Course
from autograder.grading.feedback import PointsOfAPerson
from autograder.reporting.page import page as written
from autograder.reporting.page import write_page
from autograder.reporting.report import Report, gather
from autograder.reporting.statistics import spread
from tests.support.courses import copy_course
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, autograder, autograder_here
from tests.support.reports import FORMULA, HOSTILE, SCRIPT, Page, give_points


@pytest.fixture(scope="module")
def course(graded_class, tmp_path_factory) -> Course:
    """Only read by the tests."""
    return Course.at(copy_course(graded_class, tmp_path_factory.mktemp("copy") / "course"))


@pytest.fixture(scope="module")
def told(course) -> dict[str, Any]:
    result = autograder_here("report", ASSIGNMENT, "--json", "--course", course.root)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def page(course) -> str:
    result = autograder("report", ASSIGNMENT, "--course", course.root)
    assert result.returncode == 0, result.stderr
    path = course.root / "reports" / f"{ASSIGNMENT}.html"
    assert result.stdout.strip() == f"The report: {path}"
    return path.read_text(encoding="utf-8")


# --- a graded class ---


def test_it_tells_who_has_no_score(told):
    states = {line["student"]: (line["state"], line["score"]) for line in told["submissions"]}
    assert states == {
        "ada": ("graded", 10.0),
        "ben": ("graded", 6.5),  # an hour and a half late
        "cem": ("graded", 9.25),  # 1.25 points from a person
        "dot": ("graded", 10.0),
        "eve": ("graded", 10.0),
        "fay": ("graded", 0.0),
        "gus": ("corrupt", None),
        "hal": ("missing", None),
        "ida": ("graded", 10.0),
        "jon": ("graded", 10.0),
        HOSTILE: ("graded", 8.0),
        FORMULA: ("graded", 8.0),
        "nil": ("missing", None),
        "waits": ("not_graded", None),
    }
    assert told["states"] == {"graded": 10, "missing": 2, "corrupt": 1, "not_graded": 1}
    assert (told["students"], told["handed_in"], told["judged"], told["full_marks"]) == (14, 12, 10, 5)


def test_what_has_no_score_is_in_no_distribution(told):
    scores = told["scores"]
    assert scores["count"] == 10 == sum(bar["count"] for bar in scores["bins"])
    assert scores["mean"] == pytest.approx(8.175)
    assert (scores["lowest"], scores["highest"]) == (0.0, 10.0)


def test_the_most_frequent_mistake_comes_with_its_count_and_an_example(told):
    first = told["mistakes"][0]
    assert (first["task"], first["mistake"]) == ("lstm_gates", "gates_in_another_order")
    assert first["students"] == ["ben", "cem"]
    assert first["hint"]
    assert "i, f, o, g = sums" in first["example"]["cell"]
    assert '"""' not in first["example"]["cell"], "the docstring that everybody was given"


def test_it_names_whom_a_person_should_look_at_and_why(told):
    kinds: dict[str, set[str]] = {}
    for reason in told["attention"]:
        kinds.setdefault(reason["kind"], set()).add(reason["student"])
    assert kinds == {
        "corrupt": {"gus"},
        "missing": {"hal"},
        "not_graded": {"waits"},
        "unusual_code": {"ida", "jon"},
    }
    assert told["need_a_person"] == 5


def test_points_of_a_person_for_an_unreadable_file_are_a_score_when_no_cell_waits_for_more(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    expected = [("needs_manual_grade", None)] * 3 + [("graded", 1.5)]
    for task, seen in zip(("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch"), expected, strict=True):
        with at.gradebook() as gradebook:
            give_points(gradebook, "gus", f"check_{task}", 1.5 if task == "LSTMCell" else 0.0)
        marks = {line.student: (line.state, line.score) for line in gather(at, ASSIGNMENT).submissions}
        assert marks["gus"] == seen


def test_a_cell_without_points_is_no_zero(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    with at.gradebook() as gradebook:
        grade = gradebook.find_grade("check_LSTMCell", NOTEBOOK, ASSIGNMENT, "ada")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    report = gather(at, ASSIGNMENT)
    assert {line.student: line.score for line in report.submissions}["ada"] is None
    assert ("ada", "needs_manual_grade") in {(each.student, each.kind) for each in report.attention}


# --- the page ---


def test_no_student_can_write_into_the_page(page):
    read = Page(page)
    assert read.open == []
    assert len(read.all("script")) == 1
    assert "hacked" not in read.text["script"]
    assert read.all("img") == []
    assert [name for _, attributes in read.elements for name in attributes if name.startswith("on")] == []
    assert page.count("alert(1)") >= 1, "the hostile name is shown, as text"
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(" in page


def test_it_needs_nothing_from_elsewhere(page):
    read = Page(page)
    assert read.all("link") == []
    for tag, attributes in read.elements:
        assert "src" not in attributes, tag
        assert tag == "a" or "href" not in attributes, tag
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = [each["content"] for each in read.all("meta") if "http-equiv" in each]
    assert policy.startswith("default-src 'none'")


def sentence(report: Report, heading: str) -> str:
    """The first paragraph below a heading, as it is read."""
    found = re.search(rf"<h2[^>]*>{heading}</h2>.*?<p[^>]*>(.*?)</p>", written(report, Path()), re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(re.sub("<[^>]*>", "", found[1])).split())


def test_its_sentences_are_right_for_nobody_one_and_many(course):
    report = gather(course, ASSIGNMENT)
    first = report.mistakes[0]
    many = replace(first, students=("ada", "ben", "cem"))
    lone = replace(first, students=("ada",))
    full = replace(report.scores, count=14, median=report.max_score)
    eight = replace(report.scores, count=10, median=8.0)
    needs, nobody = {"need_a_person": 5, "waiting": 2}, {"need_a_person": 0, "waiting": 0}
    for changes, told in (
        (
            {"scores": eight, "students": 12, "mistakes": (many,), **needs},
            f"10 of 12 students have a score, and half of those have 8 or more of the 10 points. The most "
            f"frequent known mistake is {first.mistake} in {first.task}: 3 students made it. "
            "A person should look at 5 submissions. 2 submissions wait for points.",
        ),
        (
            {"scores": full, "students": 14, "mistakes": (lone,), **nobody, "full_marks": 9},
            "14 of 14 students have a score, and 9 of those have all 10 points. No known mistake was made "
            "by more than one student. No submission needs a person.",
        ),
        (
            {"scores": replace(eight, count=1), "students": 1, "judged": 1, "mistakes": (lone,)}
            | {"need_a_person": 1, "waiting": 1},
            "The only student has a score: 8 of 10 points. A person should look at 1 submission. "
            "1 submission waits for points.",
        ),
        (
            {"scores": replace(eight, count=1), "students": 3, "mistakes": (), **nobody},
            "1 of 3 students has a score: 8 of 10 points. No submission needs a person.",
        ),
        (
            {"scores": spread([], 10.0), "mistakes": (), "tasks": (), **nobody},
            "Nobody has a score yet. No submission needs a person.",
        ),
        (  # all alike, so that nobody is listed
            {"scores": spread([], 10.0), "mistakes": (), "tasks": (), "need_a_person": 0, "waiting": 6},
            "Nobody has a score yet. 6 submissions wait for points.",
        ),
    ):
        assert sentence(replace(report, **changes), "What happened") == told
    for explained, told in (
        (1, "1 student, who was told the hint."),
        (2, "2 students; each of them"),
    ):
        shown = replace(report, explained=explained, mistakes=(lone,), found={**report.found, "mistakes": 1})
        assert f"1 known mistake explains wrong answers of {told}" in sentence(
            shown, "What the class did not understand"
        )


def test_feedback_shows_it_above_the_card_of_that_student_alone(course):
    for student, count in (("cem", 1), ("ben", 0)):
        path = course.folder("autograded", student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
        about = {"notebook": NOTEBOOK, "assignment": ASSIGNMENT, "student": student}
        resources = {"nbgrader": about | {"db_url": course.directory.db_url}}
        notebook, _ = PointsOfAPerson().preprocess(nbformat.read(path, as_version=4), resources)
        first = [str(cell.outputs[0]) for cell in notebook.cells if cell.get("outputs")]
        assert sum("your grader gave 1.25" in each for each in first) == count
        nbformat.validate(notebook)


def test_links_are_right_wherever_the_page_lies(course, tmp_path):
    path = tmp_path / "here" / "page.html"
    feedback = course.folder("feedback", "ada", ASSIGNMENT) / f"{NOTEBOOK}.html"
    report = gather(course, ASSIGNMENT)
    assert {line.feedback for line in report.submissions} == {None}
    lines = [
        replace(line, feedback_pages=(feedback,)) if line.student == "ada" else line
        for line in report.submissions
    ]
    report = replace(report, submissions=tuple(lines))
    write_page(report, path, "https://hub/fg/")
    links = [str(each["href"]) for each in Page(path.read_text()).all("a")]
    pages = [unquote(link) for link in links if link.endswith(".html")]
    assert {(path.parent / page).resolve() for page in pages} == {feedback.resolve()}
    with course.gradebook() as gradebook:
        number = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ada").id
    assert f"https://hub/fg/submissions/{number}" in links


def test_headings_tables_and_figures_can_be_read_without_seeing_them(page):
    read = Page(page)
    levels = [int(tag[1]) for tag, _ in read.elements if tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(cell.get("scope") in {"col", "row"} for cell in read.all("th"))
    assert len(read.all("title")) == 1 + len(read.all("svg"))
    assert len(read.all("desc")) == len(read.all("svg")) >= 3
    identifiers = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in read.elements:
        for name in str(attributes.get("aria-labelledby") or "").split():
            assert name in identifiers
    assert all(str(link["href"])[1:] in identifiers for link in read.all("a") if str(link["href"])[0] == "#")


def test_the_same_course_gives_the_same_page(course, page):
    again = course.root / "reports" / "again.html"
    write_page(gather(course, ASSIGNMENT), again)
    assert again.read_text(encoding="utf-8") == page


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCRIPTED = """
<script>
const table = document.querySelector("#submissions");
const rows = () => [...table.tBodies[0].rows];
const shown = () => rows().filter((row) => !row.hidden).map((row) => row.cells[0].textContent.trim());
const scores = () => rows().map((row) => row.cells[2].dataset.value).join(" ");
const press = (column) => table.tHead.rows[0].cells[column].querySelector("button").click();
const told = [];
press(2); told.push(scores());
press(2); told.push(scores());
told.push(table.tHead.rows[0].cells[2].getAttribute("aria-sort"));
const input = document.querySelector("#submissions-filter");
input.value = "corrupt"; input.dispatchEvent(new Event("input"));
told.push(shown().join(" "), document.querySelector("#submissions-filter + output").textContent);
document.title = told.join("|");
</script></body>"""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_tables_are_sorted_and_filtered_without_a_network(page, tmp_path):
    scripted = tmp_path / "page.html"
    scripted.write_text(page.replace("</body>", SCRIPTED), encoding="utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        f"file://{scripted}",
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    (title,) = re.findall("<title>([^<]*)</title>", told.stdout)
    up, down, direction, left, count = title.split("|")
    assert up.split() == ["0.0", "6.5", "8.0", "8.0", "9.25", *["10.0"] * 5], "who has no score comes last"
    assert down.split() == up.split()[::-1]
    assert (direction, left, count) == ("descending", "gus", "1 of 14 rows")


# --- the other forms ---


def test_the_tables_have_the_same_numbers(course, told, tmp_path):
    assert autograder_here("report", ASSIGNMENT, "--csv", tmp_path, "--course", course.root).returncode == 0

    def table(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((tmp_path / f"{name}.csv").open(newline="", encoding="utf-8-sig")))

    lines = {line["student"].removeprefix("'"): line for line in table("submissions")}
    for line in told["submissions"]:
        written = lines[line["student"]]["score"]
        assert written == "" if line["score"] is None else float(written) == line["score"]
    assert f"'{FORMULA}" in {line["student"] for line in table("submissions")}
    assert len(table("checks")) == len(told["checks"])
    summary = {line["what"]: line["value"] for line in table("summary")}
    assert float(summary["scores_median"]) == told["scores"]["median"]
