"""docs/authoring.md, followed literally: an author must get from nothing to a graded assignment."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.support.helpers import ROOT, autograder_here
from tests.support.pages import Followed, follow, lines_of_code, steps

PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
STEPS = list(steps(ROOT / "docs" / "authoring.md", {}))
NAME = "01_conv1d"
NOTEBOOK = f"source/{NAME}/conv1d.ipynb"
CHECKS = f"source/{NAME}/checks/test_conv1d.py"
CATALOGUE = f"solutions/mistakes/{NAME}.toml"
MOST_LINES = 18


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Followed:
    return follow(STEPS, tmp_path_factory.mktemp("authoring"))


@pytest.mark.slow
class TestFollowed:
    def test_it_ends_with_two_graded_submissions(self, followed):
        told = autograder_here("results", NAME, "--json", "--course", followed.course)
        ada, ben = json.loads(told.stdout)
        assert (ada["student"], ada["status"], ada["score"]) == ("ada", "graded", 10)
        assert (ben["student"], ben["status"], ben["score"]) == ("ben", "graded", 1)
        (named,) = (check["diagnosis"] for check in ben["tasks"][0]["checks"] if check["diagnosis"])
        assert named["mistake"] == "kernel_reversed"

    def test_the_release_has_its_checks_and_no_solution(self, followed):
        release = followed.course / "release" / NAME
        assert (release / "checks" / "test_conv1d.py").is_file()
        made = ["checks", "conv1d.ipynb", "hints.json", "students.md", "students.png"]
        assert sorted(path.name for path in release.iterdir()) == made
        assert "weight[:, :, k]" not in (release / "conv1d.ipynb").read_text()

    def test_commands_say_what_the_page_shows(self, followed):
        said = [step for step in STEPS if step.mark.startswith("said by: ")]
        shown = {step.mark.removeprefix("said by: "): step.text for step in said}
        assert len(shown) == 2
        for command, text in shown.items():
            assert words(text) in words(followed.said[command]), command

    def test_three_slips_are_told_as_the_page_shows(self, followed, tmp_path):
        course = tmp_path / "course"
        shutil.copytree(followed.course, course)
        for file, old, new in (
            (NOTEBOOK, "### END SOLUTION", "pass"),
            (CHECKS, '"conv1d",', '"conv1",'),
            (CATALOGUE, 'find = "(length // 2, length // 2)"', 'find = "(length / 2, length / 2)"'),
        ):
            text = (course / file).read_text(encoding="utf-8")
            assert old in text
            (course / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        (shown,) = (step.text for step in STEPS if step.mark == "said of three slips")
        told = autograder_here("build", NAME, "--course", course)
        assert (told.returncode, told.stderr) == (1, shown)

    def test_the_release_names_its_kernel(self, followed):
        """The source that jupytext made names none, and a front end would ask every student for one."""
        assert "kernelspec" not in json.loads((followed.course / NOTEBOOK).read_text())["metadata"]
        (release,) = (followed.course / "release" / NAME).glob("*.ipynb")
        assert json.loads(release.read_text())["metadata"]["kernelspec"]["name"] == "python3"

    def test_build_refuses_a_spoilt_solution(self, followed):
        notebook = followed.course / NOTEBOOK
        kept = notebook.read_text()
        assert "for k in range(length)" in kept
        try:
            notebook.write_text(kept.replace("for k in range(length)", "for k in range(1, length)"))
            told = autograder_here("build", NAME, "--course", followed.course)
        finally:
            notebook.write_text(kept)
        assert told.returncode == 1
        assert "✗ y has the right values." in told.stderr
        assert f"{NAME} cannot be released: its own solution gets" in told.stderr


def test_the_checks_take_few_lines():
    (text,) = (step.text for step in STEPS if step.file == CHECKS)
    assert 10 < lines_of_code(text) <= MOST_LINES


def test_it_is_about_another_subject():
    assert not re.search(r"\b(LSTM|GRU|RNN|hidden state)\b", PAGE)


def words(text: str) -> str:
    """The text without what depends on the terminal (line breaks) and on the course (sizes)."""
    return re.sub(r"all \d+ numbers", "all numbers", " ".join(text.split()))
