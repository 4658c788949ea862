"""The same assignment for `otter run`, where otter-grader is installed. Its tests are the notebook's tasks.

Each test is one task's visible checks, run by `check(...)` as the released notebook runs them.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from _shared import ROOT, run

from autograder.grading.assignment.cells import check_task

TEST = """\
OK_FORMAT = False
from otter.test_files import test_case
name = "{task}"
points = 1

@test_case(points=1, hidden=False)
def test_{task}(check):
    assert check("{task}") > 0
"""


def autograder(home: Path, assignment: str) -> Path:
    """The zip file of tests that `otter run` takes."""
    (source,) = (ROOT / "source" / assignment).glob("*.ipynb")
    tests = home / "tests"
    tests.mkdir(parents=True)
    for cell in nbformat.read(source, as_version=4).cells:
        if task := check_task(cell):
            (tests / f"{task}.py").write_text(TEST.format(task=task))
    run(["otter", "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"], home)
    return home / "autograder.zip"


def grade(tests: Path, notebooks: list[Path]) -> None:
    """Grade the notebooks one after the other, which is how otter does it outside containers."""
    for notebook in notebooks:
        run(["otter", "run", "-a", str(tests), "-o", str(tests.parent), str(notebook)], tests.parent)
