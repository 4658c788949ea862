"""An assignment as one file: its released notebook with the checks that students get in a cell of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.grading.assignment.cells import check_task
from autograder.grading.course.course import Course
from autograder.grading.records.store import write_whole
from autograder.grading.releasing.handout import handout
from autograder.jupyter.inside import cell_holding

FOLDER = "one-file"
"""The course's folder for these notebooks; from `release/`, nbgrader would hand out both kinds."""
CELL = "checks_inside"


@dataclass(frozen=True)
class OneFile:
    """A notebook that was written, and what it needs besides."""

    path: Path
    left_out: tuple[str, ...]
    """Files of the release that the notebook may read, and that are not in it."""


def write_one_file(course: Course, assignment: str) -> OneFile:
    """Write the built assignment as one file, in place of the last. Raises `UserError` if it is not built."""
    bundle = course.bundle(assignment)
    notebook = nbformat.reads(bundle.released, as_version=4)
    tasks = {task: bundle.tasks.get(task) for cell in notebook.cells if (task := check_task(cell))}
    marks = {"cell_type": "code", "grade": False, "grade_id": CELL, "locked": True}
    cell = nbformat.v4.new_code_cell(
        cell_holding(handout(course, bundle).files, bundle.notebook, tasks),
        id=CELL,
        metadata={
            "nbgrader": {**marks, "schema_version": 3, "solution": False, "task": False},
            "deletable": False,
            "editable": False,
            "jupyter": {"source_hidden": True},
            "cellView": "form",  # what hides a cell's text in Colab
        },
    )
    # Behind the first cell with code, which says what to install where the package is missing.
    first = next((place for place, each in enumerate(notebook.cells, 1) if each["cell_type"] == "code"), 0)
    notebook.cells.insert(first, cell)
    path = course.root / FOLDER / assignment / f"{bundle.notebook}.ipynb"
    write_whole(path, f"{nbformat.writes(notebook)}\n")
    return OneFile(path, tuple(sorted(bundle.files)))
