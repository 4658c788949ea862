"""A course with an invented class: right, partly right, wrong in known ways, unreadable, endless, hostile.

Who hands in what is written in `solutions/demo_class.toml` of the packaged course; this module only
makes the files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode

from autograder.errors import UserError
from autograder.grading.assignment.cells import grade_id
from autograder.grading.course.template import course_files, new_course

if TYPE_CHECKING:
    from autograder.grading.course.course import Course

CLASS_FILE = Path("solutions") / "demo_class.toml"


def make_demo(
    directory: Path,
    origin: Path | None,
    say: Callable[[str], None],
    advance: Callable[[int, int], None],
) -> str:
    """Make the course, build its assignment and write what the class hands in; return the assignment.

    `origin` is the course that is copied; the packaged one if it is `None`. `say` and `advance` are those of
    `build`.
    """
    invented = read_class(origin)
    assignment = str(invented["assignment"])
    new_course(directory, origin)
    say(f"Made the course. Building {assignment}")
    # These imports take seconds: nobody is to wait for the first line so long.
    from autograder.grading.build import build
    from autograder.grading.course.course import Course

    course = Course.at(directory)
    build(course, [assignment], say, advance=advance)
    say(f"{assignment}: writing the notebooks of {len(invented['submission'])} invented students")
    write_class(course, invented)
    enrol(course, invented)
    return assignment


def read_class(origin: Path | None = None) -> dict[str, Any]:
    """The invented class as the course at `origin`, or the packaged one, has it written down."""
    path = (origin or course_files()) / CLASS_FILE
    if not path.is_file():
        raise UserError(f"There is no invented class in {path.parent.parent}: {CLASS_FILE} is missing.")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def enrol(course: Course, invented: dict[str, Any]) -> None:
    """Enter the class into the gradebook, with the names that formgrader and the report show."""
    with course.gradebook() as gradebook:
        for one in invented["submission"]:
            first, _, last = one.get("name", "").partition(" ")
            gradebook.update_or_create_student(one["student"], first_name=first, last_name=last)


def write_class(course: Course, told: dict[str, Any]) -> None:
    """Write every submission where nbgrader collects them."""
    from autograder.grading.building.markers import Markers

    bundle = course.bundle(told["assignment"])
    marks = Markers.of(course.config).solution.marks
    answers = {
        task: "\n".join(line for line in source.split("\n") if not any(mark in line for mark in marks))
        for task, source in bundle.solution.items()
    }
    bases = {"solution": bundle.with_answers(answers).decode(), "release": bundle.released}
    for one in told["submission"]:
        notebook = nbformat.reads(bases[one["base"]], as_version=4)
        _change(notebook, one)
        text = str(nbformat.writes(notebook))
        folder = course.folder("submitted", one["student"], bundle.assignment)
        folder.mkdir(parents=True)
        spoil = one.get("spoil")
        if spoil == "misnamed":  # as JupyterLab exports it: Python code, which is no notebook any more
            code = (cell["source"] for cell in notebook.cells if cell["cell_type"] == "code")
            (folder / f"{bundle.notebook}.py").write_text("\n\n".join(code), encoding="utf-8")
            continue
        (folder / f"{bundle.notebook}.ipynb").write_text(
            text[: len(text) // 2] if spoil == "truncated" else text, encoding="utf-8"
        )


def _change(notebook: NotebookNode, one: dict[str, Any]) -> None:
    cells = {grade_id(cell): cell for cell in notebook.cells if grade_id(cell)}
    for edit in one.get("edits", []):
        cell = cells[edit["task"]]
        if cell["source"].count(edit["find"]) != 1:
            raise UserError(
                f"{CLASS_FILE}: the edit of {one['student']} does not apply exactly once to `{edit['task']}`."
            )
        cell["source"] = cell["source"].replace(edit["find"], edit["replace"])
    for task, source in one.get("cells", {}).items():
        cells[task]["source"] = source.strip()
    for extra in one.get("extra", []):
        position = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == extra["after"])
        notebook.cells.insert(position + 1, nbformat.v4.new_code_cell(extra["source"].strip()))
