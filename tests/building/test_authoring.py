"""docs/authoring.md, followed literally: an author must get from nothing to a graded assignment."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.helpers import ROOT, autograder_here

PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
STEP = re.compile(
    r"(?:<!-- (?:file: (?P<file>\S+)|said by: (?P<said_by>[^>]+)|(?P<said_of>said of three slips)) -->\n)?"
    r"```(?P<language>\w+)\n(?P<text>.*?)```",
    re.DOTALL,
)
NAME = "01_conv1d"
NOTEBOOK = f"source/{NAME}/conv1d.ipynb"
CHECKS = f"source/{NAME}/checks/test_conv1d.py"
CATALOGUE = f"solutions/mistakes/{NAME}.toml"
MOST_LINES = 25


@dataclass
class Followed:
    """The course that comes out of following the page from top to bottom, and what its commands said."""

    course: Path
    said: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Followed:
    found = Followed(tmp_path_factory.mktemp("authoring"))
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for step in STEP.finditer(PAGE):
        if step["language"] == "text":
            continue
        if step["language"] == "console":
            for line in step["text"].splitlines():
                if line.startswith("cd "):
                    found.course /= line.removeprefix("cd ")
                    continue
                told = subprocess.run(
                    line, shell=True, cwd=found.course, env=environment, capture_output=True, text=True
                )
                assert told.returncode == 0, f"{line}\n{told.stdout}\n{told.stderr}"
                found.said[line] = told.stdout
        else:
            assert step["file"], "every listing on the page says which file it is"
            (found.course / step["file"]).parent.mkdir(parents=True, exist_ok=True)
            (found.course / step["file"]).write_text(step["text"], encoding="utf-8")
    return found


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
        shown = {step["said_by"]: step["text"] for step in STEP.finditer(PAGE) if step["said_by"]}
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
        (shown,) = (step["text"] for step in STEP.finditer(PAGE) if step["said_of"])
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
        assert "✗ It gives what F.conv1d gives." in told.stderr
        assert f"{NAME} cannot be released: its own solution gets" in told.stderr


def test_the_checks_take_few_lines():
    """Lines of code: no blank ones, no comments, no docstring."""
    (text,) = (step["text"] for step in STEP.finditer(PAGE) if step["file"] == CHECKS)
    module = ast.parse(text)
    docstring = module.body[0]
    assert ast.get_docstring(module)
    nothing = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
    tokens = [
        each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in nothing
    ]
    lines = {each.start[0] for each in tokens} - set(range(1, (docstring.end_lineno or 0) + 1))
    assert 10 < len(lines) <= MOST_LINES


def test_it_is_about_another_subject():
    assert not re.search(r"\b(LSTM|GRU|RNN|hidden state)\b", PAGE)


def words(text: str) -> str:
    """The text without what depends on the terminal (line breaks) and on the course (sizes)."""
    return re.sub(r"all \d+ numbers", "all numbers", " ".join(text.split()))
