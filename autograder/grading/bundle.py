"""All that grading an assignment needs to know, as plain data without a path in it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import autograder.exercises


@dataclass(frozen=True)
class Bundle:
    """One assignment's released notebook, its instructor's own tests, and the name of its exercise."""

    assignment: str
    notebook: str
    released: str
    """The released notebook, as text: the skeleton of every rebuilt submission."""
    instructor_tests: Mapping[str, str] = field(default_factory=dict)
    """Sources of grade cells that are an instructor's own asserts, hidden tests included, by `grade_id`."""

    def skeleton(self) -> NotebookNode:
        """A fresh copy of the released notebook, the instructor's own tests in place."""
        notebook = nbformat.reads(self.released, as_version=4)
        for cell in notebook.cells:
            if is_grade(cell) and not is_solution(cell) and grade_id(cell) in self.instructor_tests:
                cell["source"] = self.instructor_tests[grade_id(cell)]
        return notebook

    @property
    def tasks(self) -> dict[str, float]:
        """Points of each task: the grade cells that are just `check("<task>")`."""
        return {
            task: float(cell["metadata"]["nbgrader"]["points"])
            for cell in self.skeleton().cells
            if (task := check_task(cell)) and is_grade(cell)
        }

    @property
    def exercise(self) -> Path:
        """The folder of the exercise's checks; `FileNotFoundError` if the assignment has none."""
        return exercise_folder(self.notebook)

    def digest(self) -> str:
        """Changes when anything that a verdict depends on changes: skeleton, tests or checks."""
        found = hashlib.sha256(
            repr(
                (self.assignment, self.notebook, self.released, sorted(self.instructor_tests.items()))
            ).encode()
        )
        for folder in (self.exercise, Path(autograder.exercises.__file__).parent):
            for file in sorted(folder.glob("*.py")):
                found.update(file.read_bytes())
        return found.hexdigest()


def exercise_folder(notebook: str) -> Path:
    """Where the checks of a notebook lie."""
    folder = Path(autograder.exercises.__file__).parent / notebook
    if not folder.is_dir():
        raise FileNotFoundError(f"there are no checks for the notebook '{notebook}'")
    return folder


def grade_id(cell: NotebookNode) -> str:
    """nbgrader's name of a cell, `""` if it has none."""
    marks = cell["metadata"].get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def is_grade(cell: NotebookNode) -> bool:
    return _marked(cell, "grade")


def is_solution(cell: NotebookNode) -> bool:
    return _marked(cell, "solution")


def tags(cell: NotebookNode) -> list[str]:
    """The cell's tags."""
    return list(cell["metadata"].get("tags", []))


def check_task(cell: NotebookNode) -> str:
    """The task's name if the cell's source is just `check("<task>")`, else `""`."""
    if cell["cell_type"] != "code":
        return ""
    try:
        body = ast.parse(cell["source"]).body
    except (SyntaxError, ValueError):
        return ""
    match body:
        case [ast.Expr(ast.Call(ast.Name("check"), [ast.Constant(str(task))], []))]:
            return task
    return ""


def _marked(cell: NotebookNode, mark: str) -> bool:
    marks = cell["metadata"].get("nbgrader")
    return isinstance(marks, dict) and bool(marks.get(mark))
