"""A course of one small assignment, `01_double`, whose checks can be spoiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

from tests.support.helpers import ROOT

SOLUTION = """def double(x):
    \"\"\"x: a tensor of numbers. Returns twice the numbers.\"\"\"
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
"""
CHECKS = '''"""`double(x)`: twice the numbers."""

from autograder.checking import compare, expect, fail, needs, points, rule


@points(1)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns the shape that it is given."""
    x = draw("B D")
    expect(submission.double(x), x, names="y", dims="B D", sizes=sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_values(submission, sizes, draw):
    """It doubles every number."""
    x = draw("B D")
    y = submission.double(x)
    if compare(y, 2 * x):
        fail("The numbers are not twice those that were given.")
'''
SLIP = CHECKS.replace("        fail(", '        print("debug", sen)\n        fail(')
"""The checks with a name that is not defined, where only wrong answers come."""
MISTAKES = """[three_times]
task = "double"
find = "2 * x"
replace = "3 * x"
caught_by = "values"
hint = "You multiply by three."

[one_less]
task = "double"
find = "2 * x"
replace = "2 * x[1:]"
caught_by = "shape"
hint = "You leave the first one out."
"""
IMPORTS = "import torch\nfrom autograder import check"


def make_own_course(root: Path) -> Path:
    """Write the course's files, nothing of it built; return the folder of its checks."""
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    cells = [
        nbformat.v4.new_code_cell(IMPORTS, id="imports"),
        _cell(SOLUTION, "double", solution=True),
        _cell('check("double")', "check_double", grade=True, points=2),
    ]
    folder = root / "source" / "01_double"
    (folder / "checks").mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "double.ipynb")
    catalogue = root / "solutions" / "mistakes" / "01_double.toml"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(MISTAKES)
    checks = folder / "checks" / "test_double.py"
    checks.write_text(CHECKS)
    return checks


def hand_in(root: Path, student: str, body: str) -> None:
    """A submission in which `double` returns what `body` says."""
    notebook = nbformat.read(root / "release" / "01_double" / "double.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "double":
            cell["source"] = f"def double(x):\n    return {body}"
    folder = root / "submitted" / student / "01_double"
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "double.ipynb")


def _cell(source: str, name: str, *, solution: bool = False, **marks: object) -> nbformat.NotebookNode:
    given = {"schema_version": 3, "grade_id": name, "locked": not solution, "solution": solution}
    given |= {"grade": False, "task": False, **marks}
    return nbformat.v4.new_code_cell(source, id=name, metadata={"nbgrader": given})
