"""The answers that the course itself keeps: its solutions, and right ones in other styles."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from autograder.grading.assignment.cells import grade_id, is_solution
from autograder.grading.assignment.instead import without_instead

ROOT = Path(__file__).parents[2]
DOCSTRING = re.compile(r'\n *""".*?"""\n+', re.DOTALL)
MARK = re.compile(r"\n *### (BEGIN|END) SOLUTION")


def cells_of(assignment: str) -> list[Any]:
    """The cells of the source notebook."""
    (path,) = (ROOT / "source" / assignment).glob("*.ipynb")
    cells: list[Any] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


def solutions_of(assignment: str) -> dict[str, str]:
    """For each task, its solution without docstrings and marks: an edit must find its words in code alone."""
    return {
        grade_id(cell): "\n" + MARK.sub("", DOCSTRING.sub("\n", without_instead(cell["source"]))) + "\n"
        for cell in cells_of(assignment)
        if is_solution(cell)
    }


def right_answers_of(assignment: str) -> dict[str, dict[str, str]]:
    """For each task, the sources by the name of the style, where `autograder validate` finds them."""
    path = ROOT / "solutions" / "variants" / f"{assignment}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
