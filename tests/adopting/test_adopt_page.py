"""docs/adopt.md, followed literally: from nbgrader's example course to a graded class."""

from __future__ import annotations

import json

import pytest

from tests.support.helpers import ROOT, autograder_here
from tests.support.pages import Followed, follow, steps

STEPS = list(steps(ROOT / "docs" / "adopt.md", {}))


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Followed:
    return follow(STEPS, tmp_path_factory.mktemp("adopt"))


@pytest.mark.slow
class TestFollowed:
    def test_it_ends_with_a_graded_class(self, followed):
        told = json.loads(autograder_here("results", "ps1", "--json", "--course", followed.course).stdout)
        assert [(each["student"], each["status"], each["score"]) for each in told] == [
            ("bitdiddle", "graded", 1.5),
            ("hacker", "graded", 3),
        ]
        assert (followed.course / "reports" / "ps1.html").is_file()
        assert (followed.course / "feedback" / "hacker" / "ps1" / "problem1.html").is_file()

    def test_commands_say_what_the_page_shows(self, followed):
        shown = [step for step in STEPS if step.mark.startswith("said by: ")]
        assert len(shown) == 3
        for step in shown:
            assert step.text in followed.said[step.mark.removeprefix("said by: ")], step.text
