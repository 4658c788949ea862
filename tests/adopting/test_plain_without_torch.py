"""A plain course without torch: adopted, built, graded, reported, in workers that lack it, too."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.adopting.plain_cases import GUIDE

BLOCKED = """
import sys
sys.modules["torch"] = None
sys.argv[0] = "autograder"
from autograder.cli import main
main()
"""


def without_torch(*command: object) -> str:
    told = subprocess.run([sys.executable, "-c", BLOCKED, *map(str, command)], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return told.stdout


def add_cell(path: Path, source: str) -> None:
    notebook = nbformat.read(path, 4)
    notebook.cells.append(nbformat.v4.new_code_cell(source))
    del notebook.cells[-1]["id"]  # its format has none
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nbgrader's example course, adopted, with a submission whose cell looks for what its worker has."""
    root = tmp_path_factory.mktemp("plain")
    shutil.copytree(GUIDE / "source/ps1", root / "source/ps1")
    shutil.copytree(GUIDE / "submitted/hacker", root / "submitted/ada")
    looks = 'import sys\nfor each in ("torch", "numpy"):\n    print(each, each in sys.modules)'
    add_cell(root / "submitted/ada/ps1/problem1.ipynb", looks)
    add_cell(root / "source/ps1/problem1.ipynb", "import numpy as np")
    without_torch("adopt", "--yes", root)
    return root


@pytest.mark.slow
def test_a_plain_course_needs_no_torch(course):
    without_torch("grade", "ps1", "--course", course)
    graded = (course / "autograded/ada/ps1/problem1.ipynb").read_text()
    assert "torch False" in graded
    assert "numpy True" in graded, "the source imports it"
    assert json.loads(without_torch("results", "ps1", "--json", "--course", course))
    without_torch("report", "ps1", "--course", course)
    notebook = course / "submitted/ada/ps1/problem1.ipynb"
    assert "correct_squares" in without_torch("check", notebook, "--course", course)
