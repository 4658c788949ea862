"""Students' answers as they were graded: the code cells of the notebooks in `autograded/`."""

from __future__ import annotations

import json
from typing import Any

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course


def graded_answers(course: Course, student: str, bundle: Bundle) -> dict[str, str]:
    """The source of each solution cell by its name in a verdict; none of a notebook that cannot be read.

    The file is read as plain JSON: it was written here, and a class has hundreds of them.
    """

    def answers(part: Bundle) -> dict[str, str]:
        try:
            cells = _cells(course, student, part)
            return {name: _joined(cell["source"]) for cell in cells if (name := _name(cell)) in part.stubs}
        except (KeyError, TypeError, AttributeError):
            return {}

    return bundle.of_all(answers)


def graded_code(course: Course, student: str, bundle: Bundle) -> list[str]:
    """The sources of all code cells, in order; empty if the graded notebook cannot be read."""
    try:
        cells = [cell for part in bundle.parts for cell in _cells(course, student, part)]
        return [_joined(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError):
        return []


def _cells(course: Course, student: str, bundle: Bundle) -> list[dict[str, Any]]:
    folder = course.folder("autograded", student, bundle.assignment)
    try:
        cells = json.loads((folder / f"{bundle.notebook}.ipynb").read_bytes())["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return cells if isinstance(cells, list) else []


def _name(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _joined(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
