"""docs/authoring.md, followed literally: an instructor must get from nothing to a graded assignment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.helpers import ROOT, autograder_here

pytestmark = [pytest.mark.slow, pytest.mark.sweep]
STEP = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The course that comes out of following the page from top to bottom."""
    here = tmp_path_factory.mktemp("authoring")
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    for step in STEP.finditer(page):
        if step["language"] == "text":
            continue  # what a command says
        if step["language"] == "console":
            for line in step["text"].splitlines():
                if line.startswith("cd "):
                    here /= line.removeprefix("cd ")
                    continue
                told = subprocess.run(
                    line, shell=True, cwd=here, env=environment, capture_output=True, text=True
                )
                assert told.returncode == 0, f"{line}\n{told.stdout}\n{told.stderr}"
        else:
            assert step["file"], "every listing on the page says which file it is"
            (here / step["file"]).parent.mkdir(parents=True, exist_ok=True)
            (here / step["file"]).write_text(step["text"], encoding="utf-8")
    return here


def test_the_page_ends_with_a_graded_submission(course):
    told = autograder_here("results", "11_gru_cell", "--json", "--course", course)
    (verdict,) = json.loads(told.stdout)
    assert (verdict["student"], verdict["status"], verdict["score"]) == ("ada", "graded", 10)
    assert [task["task"] for task in verdict["tasks"]] == ["gru_cell"]


def test_the_release_has_its_checks_and_no_solution(course):
    release = course / "release" / "11_gru_cell"
    assert (release / "checks" / "test_gru_cell.py").is_file()
    made = ["checks", "gru_cell.ipynb", "hints.json", "students.md", "students.png"]
    assert sorted(path.name for path in release.iterdir()) == made
    assert "(1 - z) * n" not in (release / "gru_cell.ipynb").read_text()


def test_build_refuses_a_spoilt_solution(course):
    notebook = course / "source" / "11_gru_cell" / "gru_cell.ipynb"
    kept = notebook.read_text()
    try:
        notebook.write_text(kept.replace("z = torch.sigmoid(", "z = 1 - torch.sigmoid("))
        told = autograder_here("build", "11_gru_cell", "--course", course)
    finally:
        notebook.write_text(kept)
    assert told.returncode == 1
    assert "✗ One step gives the same state as nn.GRUCell." in told.stderr
    assert "11_gru_cell cannot be released: its own solution gets" in told.stderr
