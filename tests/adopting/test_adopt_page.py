"""docs/adopt.md, followed literally: from nbgrader's example course to its first protected task."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.support.environments.browsers import looking, picture
from tests.support.helpers import ROOT, autograder_here
from tests.support.pages import Followed, follow, steps

STEPS = list(steps(ROOT / "docs" / "adopt.md", {}))


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Followed:
    return follow(STEPS, tmp_path_factory.mktemp("adopt"))


@pytest.mark.slow
class TestFollowed:
    def test_it_ends_with_a_graded_class_and_a_check(self, followed):
        told = json.loads(autograder_here("results", "ps1", "--json", "--course", followed.course).stdout)
        assert [(each["student"], each["status"], each["score"]) for each in told] == [
            ("bitdiddle", "graded", 1.5),
            ("hacker", "graded", 3),
        ]
        first = told[0]["tasks"][0]
        assert (first["task"], first["checks"][0]["message"]) == (
            "problem1/squares",
            "`squares(1)` must be `[1]`. It is `[0]`.",
        )
        assert (followed.course / "reports" / "ps1.html").is_file()
        assert (followed.course / "feedback" / "hacker" / "ps1" / "problem1.html").is_file()

    def test_commands_say_what_the_page_shows(self, followed):
        shown = [step for step in STEPS if step.mark.startswith("said by: ")]
        assert len(shown) == 4
        for step in shown:
            assert step.text in followed.said[step.mark.removeprefix("said by: ")], step.text

    @pytest.mark.browser
    def test_its_picture_is_of_the_feedback_page(self, followed, browser):
        with looking(browser, viewport={"width": 1000, "height": 620}) as page:
            page.goto((followed.course / "feedback/bitdiddle/ps1/problem1.html").as_uri())
            expect(page.locator(".first")).to_be_in_viewport(ratio=1)
            picture(page, "plain-feedback")
