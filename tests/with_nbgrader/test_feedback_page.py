"""The feedback page as `nbgrader generate_feedback` makes it: what it says of each kind of submission."""

from __future__ import annotations

import itertools
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from autograder.grading.course.course import Course
from autograder.grading.records.store import load_verdict
from tests.support.courses import LSTM, done, run
from tests.support.reports import FORMULA, HOSTILE, Page, page_of, with_feedback


@pytest.fixture(scope="module")
def course(graded_class: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class with its pages; the tests only read it."""
    return with_feedback(graded_class, tmp_path_factory.mktemp("feedback"))


def words(course: Path, student: str, until: str = "") -> str:
    """A page's words, up to a heading if one is named."""
    body = page_of(course, student).read_text().partition("<body>")[2]
    body = body.partition(f">{until}</h2>")[0] if until else body
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_it_begins_with_points_tasks_and_what_to_look_at_first(course):
    told = words(course, "ben", until="Your notebook")
    assert told.startswith(
        f"{LSTM} lstm_cell: 6.5 of 10 points Handed in 1.5 hours late: 1.5 of 8 points are taken off."
    )
    verdict = load_verdict(Course.at(course), "ben", LSTM)
    first = verdict.verdict.tasks[0].first_to_read
    for sentence in (first.title, first.message, first.diagnosis.hint):
        assert sentence.replace("`", "") in re.sub(r" ([.,;:])", r"\1", told.replace("`", ""))
    tasks = told.partition("Tasks")[2]
    rows = ("✗ lstm_gates 0 of 2", "✓ lstm_cell 2 of 2", "✓ LSTMCell 4 of 4", "✓ copy_from_torch 2 of 2")
    assert [row for row in rows if f"{row} points" in tasks] == list(rows)
    assert "Every check passed." in words(course, "ada", until="Your notebook")
    assert "Not written yet" in words(course, "fay", until="Tasks")


@pytest.mark.parametrize("student", ["gus", "hal"])
def test_what_nobody_could_read_says_so_and_shows_no_number(course, student):
    told = words(course, student)
    reason = {
        "gus": "The submitted file could not be read: the file is cut off at its end.",
        "hal": "There is no file lstm_cell.ipynb , and nothing else that could be it was handed in.",
    }[student]
    assert f"lstm_cell: no score yet About your submission. {reason}" in told
    assert told.endswith("No points have been given yet: they come from your grader.")
    assert not re.search(r"\d", told.replace(LSTM, ""))
    assert "No response" not in told
    assert "Tasks" not in told


def test_a_persons_points_and_words_are_above_and_at_the_cell(course):
    told = words(course, "cem")
    top, _, below = told.partition("Your notebook")
    sentence = "The checks gave 0 of 2 points; your grader gave 1.25, and that is what counts."
    comment = "Your grader: Look at the order of the blocks. Then try again."
    assert top.startswith(f"{LSTM} lstm_cell: 9.25 of 10 points")
    assert (top.count(sentence), below.count(sentence)) == (1, 1)
    assert (top.count(comment), below.count(comment)) == (2, 2)


def test_the_courses_text_is_folded_and_the_students_cells_and_cards_are_open(course):
    page = page_of(course, "ben").read_text()
    folded = "".join(re.findall(r'<details class="course">.*?</details>', page, re.DOTALL))
    assert "you write one step of an LSTM twice" in folded
    for part in ('def</span><span class="w"> </span><span class="nf">lstm_gates', "Checks of lstm_gates"):
        assert part in page
        assert part not in folded
    assert "<summary>The LSTM cell</summary>" in folded
    assert "<h3>What you added</h3>" in page_of(course, "ida").read_text()
    assert "$" not in re.sub(r"<(code|pre).*?</\1>", "", page, flags=re.DOTALL), (
        "a formula that was left as it is"
    )


def test_every_page_is_whole_without_anything_else(course):
    students = ("ada", "ben", "cem", "fay", "gus", "hal", "ida", "jon", HOSTILE, FORMULA)
    for student in students:
        page = page_of(course, student).read_text()
        read = Page(page.partition("<!DOCTYPE html>")[2])
        assert not read.all("script")
        assert not read.all("link")
        assert all(str(each["src"]).startswith("data:image/") for each in read.all("img"))
        assert not re.search(r"url\(|@import|srcset", page)
        identifiers = [each["id"] for _, each in read.elements if "id" in each]
        assert len(identifiers) == len(set(identifiers))
        links = [str(each["href"]) for each in read.all("a") if each.get("href")]
        assert all(link[1:] in identifiers for link in links if link.startswith("#"))
        levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_nothing_that_a_student_writes_stops_the_page(course):
    page = page_of(course, "ada").read_text()
    told = words(course, "ada")
    assert "(image foo.png is missing in the file)" in told
    assert "(image https://evil.example/pixel.png: nothing is loaded from the network)" in told
    assert "<msub><mi>h</mi><mi>t</mi></msub>" in page
    assert "[" * 30_000 in page
    assert "half a pair:" in told
    assert "BEGIN HIDDEN TESTS" in told
    assert told.count("What you added") == 6


OLDER = """
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "autograder.grading.feedback.PointsOfAPerson",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    "autograder.grading.feedback.WithoutHiddenTests",
]
"""


@pytest.mark.slow
def test_the_configuration_of_an_older_course_works_with_either_page(course, tmp_path):
    shutil.copytree(course, tmp_path / "course", symlinks=True)
    mine, config = tmp_path / "course", tmp_path / "course" / "nbgrader_config.py"
    made = page_of(course, "cem").read_text()
    lines = config.read_text()
    config.write_text(lines + OLDER)
    done(run(mine, "nbgrader", "generate_feedback", LSTM, "--student", "cem", "--force"))
    assert page_of(mine, "cem").read_text() == made
    config.write_text(lines.replace("c.GenerateFeedback.exporter_class", "c.Nothing.at_all") + OLDER)
    done(run(mine, "nbgrader", "generate_feedback", LSTM, "--student", "cem", "--force"))
    stock = page_of(mine, "cem").read_text()
    assert "(Score: 9.25 / 10.0)" in stock
    assert stock.count("your grader gave 1.25, and that is what counts.") == 1


@pytest.mark.slow
def test_without_a_verdict_on_record_the_points_are_still_the_gradebooks(course, tmp_path):
    shutil.copytree(course, tmp_path / "course", symlinks=True)
    mine = tmp_path / "course"
    shutil.rmtree(mine / "verdicts")
    done(run(mine, "nbgrader", "generate_feedback", LSTM, "--force"))
    assert "6.5 of 10 points" in words(mine, "ben")
    assert "no score yet" in words(mine, "hal")
