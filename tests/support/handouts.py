"""A small course with checks of its own: a public check, a hidden one, and their reference."""

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

from autograder.checking import expect, points, reference, rule

twice = reference("reference_double:twice")


def expect_twice(submission, x, sizes):
    expect(submission.double(x), twice(x), names="doubled", dims="B", sizes=sizes)


@points(0.5)
@rule("values")
def test_doubles(submission, sizes, draw):
    """Every number is doubled."""
    expect_twice(submission, draw("B"), sizes)
'''
REFERENCE = '''def twice(x, times=2):
    """The secret of doubling."""
    return x + x
'''
HIDDEN = '''"""What students get no text of."""

import itertools

from test_double import expect_twice

from autograder.checking import case, hidden, needs, points, rule

LARGEST = 1e6
"""So large that adding two is not seen."""


@points(0.5)
@rule("generality")
@hidden("It works for other numbers than the ones you saw.")
@needs("doubles")
def test_unforeseen(submission, sizes, draw):
    """It works for very large numbers."""
    for _ in itertools.repeat(None, 3):
        with case("with large numbers"):
            expect_twice(submission, LARGEST * draw("B"), sizes)
'''
FILES = {"test_double.py": CHECKS, "hidden_double.py": HIDDEN, "reference_double.py": REFERENCE}

MISTAKES = f'''
[two_added]
task = "double"
find = "2 * x"
replace = "x + 2"
caught_by = "values"
hint = "{HINT}"
'''
SECRETS = ("LARGEST", "1e6", "itertools", "test_unforeseen", "very large", "secret of doubling", "x + x")


def small_course(root: Path, **changed: str | None) -> Path:
    """The course in an empty folder, nothing of it built; `changed` are other texts of check files."""
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    folder = root / "source" / NAME
    (folder / "checks").mkdir(parents=True)
    for name, text in {**FILES, **{f"{name}.py": text for name, text in changed.items()}}.items():
        if text is not None:
            (folder / "checks" / name).write_text(text)
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
