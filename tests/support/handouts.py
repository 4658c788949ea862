"""A small course with checks of its own: one public check, one hidden one, and what only that one needs."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

from tests.support.courses import ROOT

NAME, NOTEBOOK = "01_double", "double"
SOLUTION = (
    'def double(x):\n    """Twice x."""\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n'
)
HINT = "You have added two where the number is to be taken twice."

CHECKS = '''"""`double(x)`: twice a tensor."""

import itertools

import torch

from autograder.checking import case, expect, hidden, needs, points, recorded, rule

LARGEST = 1e6
"""So large that adding two is not seen."""


@recorded
def twice(x):
    """The secret of doubling."""
    return x + x


# Numbers that nobody thinks of.
def odd_numbers(draw):
    return [LARGEST * draw("B") for _ in itertools.repeat(None, 3)]


@points(0.5)
@rule("values")
def test_doubles(submission, sizes, draw):
    """Every number is doubled."""
    x = draw("B")
    expect(submission.double(x), twice(x), names="doubled", dims="B", sizes=sizes)


@points(0.5)
@rule("generality")
@hidden("It works for other numbers than the ones you saw.")
@needs(test_doubles)
def test_unforeseen(submission, sizes, draw):
    """It works for very large numbers."""
    for x in odd_numbers(draw):
        with case("with large numbers"):
            expect(submission.double(x), twice(x), names="doubled", dims="B", sizes=sizes)
'''

MISTAKES = f'''
[two_added]
task = "double"
find = "2 * x"
replace = "x + 2"
caught_by = "values"
hint = "{HINT}"
'''
SECRETS = (
    "hidden",
    "LARGEST",
    "1e6",
    "odd_numbers",
    "nobody thinks of",
    "itertools",
    "test_unforeseen",
    "x + x",
)


def small_course(root: Path, checks: str = CHECKS) -> Path:
    """The course in an empty folder, nothing of it built."""
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    folder = root / "source" / NAME
    (folder / "checks").mkdir(parents=True)
    (folder / "checks" / "test_double.py").write_text(checks)
    new = nbformat.v4
    notebook = new.new_notebook(
        cells=[
            new.new_code_cell("from autograder import check", id="start"),
            new.new_code_cell(SOLUTION, id="answer", metadata={"nbgrader": _marks("double", solution=True)}),
            new.new_code_cell(
                'check("double")',
                id="judged",
                metadata={"nbgrader": _marks("check_double", points=1, grade=True)},
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    catalogue = root / "solutions" / "mistakes" / f"{NAME}.toml"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(MISTAKES)
    return root


def _marks(name: str, *, grade: bool = False, solution: bool = False, **more: float) -> dict[str, object]:
    locked = {"locked": grade, "task": False, "schema_version": 3}
    return {"grade_id": name, "grade": grade, "solution": solution, **locked, **more}
