"""The instructor's report in a real browser: sorted, filtered, and as wide as the window and the paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from autograder.grading.course.course import Course
from autograder.reporting.page import FORMGRADER, write_page
from autograder.reporting.report import Report, gather
from tests.support.environments.browsers import HEIGHT, WIDTH, looking, picture
from tests.support.helpers import ASSIGNMENT

pytestmark = pytest.mark.browser


LETTER = 964
"""The width of US letter paper, which is smaller than A4, on its side and without margins, in CSS pixels."""


def with_long_names(report: Report) -> Report:
    """A report whose tasks and students are called as nobody should be called."""
    tasks = [f"copy_the_weights_of_torch_{name}" for name in ("forwards_and_backwards", "x" * 40, "LSTMCell")]
    tasks += ["BidirectionalStackedLanguageModelWithTiedWeights", "a"]
    submissions = tuple(
        replace(
            line,
            name=f"عبد الرحمن بن خلدون {'w' * 40}",
            state="needs_manual_grade",
            tasks=dict.fromkeys(tasks, 2.25),
        )
        for line in report.submissions
    )
    statistics = tuple(replace(report.tasks[0], task=task) for task in tasks)
    checks = tuple(replace(check, task=tasks[at % 5]) for at, check in enumerate(report.checks))
    return replace(report, tasks=statistics, checks=checks, submissions=submissions)


@pytest.mark.slow
class TestReport:
    @pytest.fixture
    def page(self, browser, demo) -> Iterator[Page]:
        with looking(browser) as page:
            page.goto((demo[0] / "reports" / f"{ASSIGNMENT}.html").as_uri())
            yield page

    def students(self, page: Page) -> list[str]:
        told = page.locator("#submissions tbody tr:visible th").all_inner_texts()
        return [each.split()[0] for each in told]  # a name stands behind it

    def test_begins_with_the_class_at_a_glance(self, page):
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        expect(page.locator("dl.cards")).to_be_in_viewport()
        picture(page, "report")

    def test_sorts_by_a_column_both_ways_with_missing_scores_last(self, page):
        table = page.locator("#submissions")
        head = table.get_by_role("columnheader", name=re.compile("^score"))
        assert self.students(page)[:3] == ["ada", "bela", "chidi"]
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "ascending")
        assert self.students(page)[:2] == ["dana", "emil"]
        assert set(self.students(page)[-2:]) == {"ismail", "lea"}, "they have no score"
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "descending")
        assert set(self.students(page)[:3]) == {"ada", "bela", "chidi"}
        assert set(self.students(page)[-2:]) == {"ismail", "lea"}
        table.scroll_into_view_if_needed()
        picture(page, "report-sorted")

    def test_filters_rows_by_text_and_says_how_many_are_left(self, page):
        search = page.get_by_label("Show only rows with this text: Everybody")
        search.fill("corrupt")
        assert self.students(page) == ["ismail"]
        expect(page.get_by_text("1 of 12 rows")).to_be_visible()
        search.fill("nobody is called so")
        assert self.students(page) == []
        search.fill("")
        assert len(self.students(page)) == 12

    @pytest.mark.parametrize("names", ["as they are", "long"])
    def test_every_table_fits_the_window_and_the_printed_page(self, browser, demo, tmp_path, names):
        report = gather(Course.at(demo[0]), ASSIGNMENT)
        if names == "long":
            report = with_long_names(report)
        write_page(report, tmp_path / "report.html")
        with looking(browser) as page:
            page.goto((tmp_path / "report.html").as_uri())
            tables = page.locator(".scroll").evaluate_all(
                "all => all.map(each => [each.ariaLabel, each.scrollWidth - each.clientWidth])"
            )
            assert len(tables) == 7
            assert [table for table in tables if table[1] > 0] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
            page.emulate_media(media="print")
            page.set_viewport_size({"width": LETTER, "height": HEIGHT})
            assert page.evaluate("document.documentElement.scrollWidth") <= LETTER

    def test_links_lead_to_the_submission_in_formgrader(self, page, demo):
        report = gather(Course.at(demo[0]), ASSIGNMENT)
        (farah,) = (line for line in report.submissions if line.student == "farah")
        link = page.locator("#submissions").get_by_role("link", name="formgrader for farah")
        expect(link).to_have_attribute("href", f"{FORMGRADER}/submissions/{farah.notebook_id}")
