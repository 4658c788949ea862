"""What students and teaching assistants see, in a real browser: JupyterLab, Notebook 7, formgrader."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.grading.course.course import Course
from tests.support.courses import TASKS, done, marks, run, student_with_an_exchange, totals
from tests.support.environments.browsers import (
    SCREENSHOTS,
    Lab,
    card,
    cell_of,
    hand_over,
    jupyter_lab,
    looking,
    picture,
    row_of,
    run_all,
    run_cell,
    saved,
    write_into,
)
from tests.support.helpers import (
    ASSIGNMENT,
    NOTEBOOK,
    ROOT,
    answer,
    autograder_here,
    code_cell,
    released,
    solved,
    submission,
)

pytestmark = pytest.mark.browser
UNREAD = "ismail"
"""The student of the demo whose file is no notebook."""


@dataclass(frozen=True)
class Wrong:
    """A wrong answer to `lstm_gates`, and the hint of the known mistake that it is."""

    source: str
    hint: str


@pytest.fixture(scope="module")
def wrong() -> Wrong:
    mistakes = Course.at(ROOT).bundle(ASSIGNMENT).mistakes
    mistake = next(each for each in mistakes if each.name == "gates_in_another_order")
    return Wrong(mistake.answer({"lstm_gates": answer("lstm_gates")}), mistake.hint.replace("`", ""))


@pytest.fixture(scope="module")
def formgrader(browser, demo, tmp_path_factory) -> Iterator[Lab]:
    """JupyterLab in a copy of the demo."""
    made = tmp_path_factory.mktemp("formgrader")
    with jupyter_lab(shutil.copytree(demo[0], made / "course"), made / "settings") as lab:
        yield lab


@pytest.fixture(scope="module")
def lab(browser, empty_course, wrong, tmp_path_factory) -> Iterator[Lab]:
    """JupyterLab in a course in which a student's own folder lies, too."""
    made = tmp_path_factory.mktemp("lab")
    course = shutil.copytree(empty_course, made / "course")
    answers = {ASSIGNMENT: released(), "right": solved()}
    answers["wrong"] = json.loads(submission({"lstm_gates": wrong.source}))
    imports = next(cell for cell in released()["cells"] if cell["cell_type"] == "code")
    short = [wrong.source, 'check("lstm_gates")', 'check("lstm_gate")']
    answers["short"] = {**released(), "cells": [imports, *map(code_cell, short)]}
    for name, notebook in answers.items():
        shutil.copytree(ROOT / "release" / ASSIGNMENT, course / "home" / name)
        (course / "home" / name / f"{NOTEBOOK}.ipynb").write_text(json.dumps(notebook))
    with jupyter_lab(course, made / "settings") as lab:
        yield lab


@dataclass(frozen=True)
class Opened:
    """A released notebook that was opened and run from top to bottom, and what it showed then."""

    page: Page
    cards: tuple[str, ...]
    errors: tuple[str, ...]


@pytest.fixture(scope="module")
def notebook(browser: Browser, lab: Lab) -> Iterator[Opened]:
    with looking(browser) as page:
        page.goto(lab.at(f"lab/tree/home/{ASSIGNMENT}/{NOTEBOOK}.ipynb"))
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        run_all(page)
        cards = tuple(card(page, task).text_content() or "" for task in TASKS)
        kinds = [f"[data-mime-type='application/vnd.jupyter.{kind}']" for kind in ("stderr", "error")]
        errors = page.locator(", ".join(kinds)).all_text_contents()
        yield Opened(page, cards, tuple(errors))


class TestStudent:
    def test_a_released_notebook_runs_from_top_to_bottom(self, notebook):
        assert notebook.errors == ()
        for task, told in zip(TASKS, notebook.cards, strict=True):
            assert re.match(rf"{task}: 0 of [\d.]+ points, still to do", told)

    def test_a_known_mistake_is_named_by_its_hint_and_its_correction_passes(self, notebook, wrong):
        page = notebook.page
        told = card(page, "lstm_gates")
        hand_over(page, "lstm_gates", wrong.source)
        expect(told).to_contain_text(wrong.hint)
        told.evaluate("card => card.scrollIntoView({ block: 'center' })")
        picture(page, "card-with-a-hint")
        cell = cell_of(page, released(), "check_lstm_gates")
        cell.screenshot(path=SCREENSHOTS / "students.png", animations="disabled", caret="hide")
        hand_over(page, "lstm_gates", answer("lstm_gates"))
        expect(told).to_contain_text("everything holds")
        expect(told).not_to_contain_text(wrong.hint)

    @pytest.mark.slow
    def test_a_version_that_the_cell_does_not_hold_gets_no_points(self, notebook):
        right, told = answer("lstm_gates"), card(notebook.page, "lstm_gates")
        for edited in (right.replace("return", "print(", 1), right.replace("def lstm_gates", "def gates")):
            hand_over(notebook.page, "lstm_gates", edited)
            expect(told).to_contain_text("not judged")
            hand_over(notebook.page, "lstm_gates", right)
            expect(told).to_contain_text("everything holds")


@pytest.mark.slow
def test_notebook_7_shows_the_card_and_a_wrong_name_as_a_sentence(browser, lab, wrong):
    with looking(browser) as page:
        with page.expect_websocket(lambda socket: "/channels" in socket.url) as kernel:
            page.goto(lab.at(f"notebooks/home/short/{NOTEBOOK}.ipynb"))
        kernel.value.wait_for_event("framereceived")  # it answers: cells run before that are forgotten
        expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_attached()
        run_all(page)
        expect(card(page, "lstm_gates")).to_contain_text(wrong.hint)
        error = page.locator("[data-mime-type='application/vnd.jupyter.stderr']")
        told = 'There is no task "lstm_gate". Did you mean "lstm_gates"? Tasks of lstm_cell: '
        expect(error).to_contain_text(told)
        assert (error.text_content() or "").count("\n") <= 1, "more than a sentence"
        error.scroll_into_view_if_needed()
        picture(page, "notebook-7")
        cells = page.locator(".jp-Notebook .jp-CodeCell")
        write_into(cells.nth(1), wrong.source.replace("def lstm_gates", "def gates"))
        run_cell(cells.nth(1))
        run_cell(cells.nth(2))
        expect(card(page, "lstm_gates")).to_contain_text("does not define it")


@pytest.mark.slow
class TestValidate:
    """nbgrader's button above the notebook, which runs all of it in a kernel of its own."""

    @pytest.fixture
    def validated(self, browser, lab) -> Iterator[Callable[[str], Locator]]:
        with looking(browser) as page:

            def told(folder: str) -> Locator:
                # A workspace of its own, without the tabs of other tests and their buttons.
                page.goto(lab.at(f"lab/workspaces/{folder}/tree/home/{folder}/{NOTEBOOK}.ipynb"))
                expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
                page.get_by_role("button", name="Validate", exact=True).click()
                return page.get_by_role("dialog").filter(has_text="Validation Results")

            yield told

    def test_names_the_check_that_fails_and_what_to_fix(self, validated, wrong):
        told = validated("wrong")
        expect(told).to_contain_text("The following cell failed:")
        failed = told.locator(".validation-failed pre").all_inner_texts()
        assert failed[0] == 'check("lstm_gates")'
        assert " ".join(failed[1].split()).startswith("lstm_gates: 0 of 2 points ✗ Each gate has the values")
        assert wrong.hint in " ".join(failed[1].replace("`", "").split())
        assert not any("Traceback" in each for each in failed)
        for box in told.locator(".validation-failed pre").all():
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), "a line runs out of its box"
        picture(told.page, "validate")

    def test_passes_what_is_right(self, validated):
        expect(validated("right")).to_contain_text("Success! Your notebook passes all the tests.")


@pytest.mark.slow
def test_the_assignment_list_fetches_and_submits(browser, demo, tmp_path):
    """nbgrader's list in a student's JupyterLab: what was released is fetched, checked, and handed in."""
    course = tmp_path / "course"
    shutil.copytree(demo[0], course)
    home = student_with_an_exchange(course, tmp_path)
    done(run(course, "nbgrader", "release_assignment", ASSIGNMENT))
    with jupyter_lab(home, tmp_path / "settings") as lab, looking(browser) as page:
        page.goto(lab.at("lab"))
        page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        page.get_by_role("menuitem", name="Assignment List", exact=True).click()
        page.get_by_role("button", name="Fetch", exact=True).click()
        submit = page.get_by_role("button", name="Submit", exact=True)
        expect(submit).to_be_visible()
        fetched = sorted(path.name for path in (home / ASSIGNMENT).iterdir())
        assert fetched == ["hints.json", f"{NOTEBOOK}.ipynb", "students.md", "students.png"]
        (home / ASSIGNMENT / f"{NOTEBOOK}.ipynb").write_bytes(submission())
        submit.click()
        expect(page.get_by_role("button", name="Fetch Feedback")).to_be_visible()
        picture(page, "assignment-list")
    (handed_in,) = (tmp_path / "exchange" / "recurrent-networks" / "inbound").glob(f"*/{NOTEBOOK}.ipynb")
    assert handed_in.read_bytes() == submission()


def in_formgrader(page: Page, formgrader: Lab, student: str) -> None:
    """Open a student's submission the way a person does: the list, the name, the link."""
    page.goto(formgrader.at(f"formgrader/gradebook/{ASSIGNMENT}/{NOTEBOOK}"))
    row = row_of(page, student)
    row.locator(".glyphicon-eye-open").click()
    row.get_by_role("link", name=student).click()
    expect(page.locator("#check_lstm_gates")).to_have_attribute("placeholder", re.compile(r"\d"))


@pytest.mark.slow
class TestFormgrader:
    def test_shows_a_graded_submission(self, browser, formgrader):
        with looking(browser) as page:
            in_formgrader(page, formgrader, "hilde")
            expect(card(page, "lstm_cell")).to_contain_text("1.5 of 2 points")
            expect(page.locator("#check_lstm_cell")).to_have_attribute("placeholder", "1.5")
            card(page, "lstm_cell").scroll_into_view_if_needed()
            picture(page, "formgrader")

    def test_what_could_not_be_read_waits_for_a_person_and_shows_no_score(self, browser, formgrader):
        with looking(browser) as page:
            page.goto(formgrader.at(f"formgrader/gradebook/{ASSIGNMENT}/{NOTEBOOK}"))
            row = row_of(page, UNREAD)
            expect(row.locator(".needs-manual-grade .glyphicon-ok")).to_be_visible()
            row.locator(".glyphicon-eye-open").click()
            row.get_by_role("link", name=UNREAD).click()
            expect(page.get_by_text("About your submission.")).to_be_visible()
            expect(card(page, "lstm_gates")).to_have_text(re.compile("^lstm_gates: not judged"))
            expect(page.locator("#check_lstm_gates")).to_have_value("")
            expect(page.locator(".output_text", has_text="0.0")).to_have_count(0)
            card(page, "lstm_gates").scroll_into_view_if_needed()
            picture(page, "formgrader-not-judged")

    def test_what_a_person_gives_survives_regrading_and_reaches_the_student(self, browser, formgrader):
        comment = "Your gates are right; only their order is not. See the table in part one."
        with looking(browser) as page:
            in_formgrader(page, formgrader, "farah")
            points, remark = page.locator("#check_lstm_gates"), page.locator("#lstm_gates-comment")
            with page.expect_response(saved("grade")):
                points.fill("1.5")
                points.press("Tab")
            with page.expect_response(saved("comment")):
                remark.fill(comment)
                remark.press("Tab")
            assert totals(formgrader.root)["farah"] == 9.5
            told = autograder_here(
                "grade",
                ASSIGNMENT,
                "--student",
                "farah",
                "--force",
                "--jobs",
                "1",
                "--course",
                formgrader.root,
            )
            assert told.returncode == 0, told.stderr
            assert marks(formgrader.root)["farah"]["check_lstm_gates"] == (0, 1.5, True)

            page.goto(formgrader.at(f"formgrader/gradebook/{ASSIGNMENT}/{NOTEBOOK}"))
            expect(row_of(page, "farah").locator(".needs-manual-grade .glyphicon-ok")).to_be_visible()
            expect(row_of(page, "ada").locator(".needs-manual-grade .glyphicon-ok")).to_have_count(0)
            in_formgrader(page, formgrader, "farah")
            expect(points).to_have_value("1.5")
            expect(remark).to_have_value(comment)
            card(page, "lstm_gates").scroll_into_view_if_needed()
            picture(page, "formgrader-after-regrading")
            resolve = page.locator(".nbgrader_cell").filter(has=points).get_by_role("button", name="Resolve")
            with page.expect_response(saved("grade")):
                resolve.click()
            expect(resolve).to_be_hidden()
            assert marks(formgrader.root)["farah"]["check_lstm_gates"] == (0, 1.5, False)

            done(run(formgrader.root, "nbgrader", "generate_feedback", ASSIGNMENT, "--student", "farah"))
            page.goto((formgrader.root / "feedback" / "farah" / ASSIGNMENT / f"{NOTEBOOK}.html").as_uri())
            expect(page.get_by_role("heading", name="lstm_cell: 9.5 of 10 points")).to_be_visible()
            expect(page.get_by_text(comment)).to_have_count(2)
            expect(card(page, "lstm_gates")).to_contain_text("0 of 2 points")
            said = "The checks gave 0 of 2 points; your grader gave 1.5, and that is what counts."
            expect(page.locator(".tasks").get_by_text(said)).to_be_visible()
            expect(page.locator("#cell-check_lstm_gates").get_by_text(said)).to_be_visible()
            picture(page, "feedback")
