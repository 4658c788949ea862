"""Taking a task out of an assignment: its cells, demonstrations, checks, known mistakes and right answers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.errors import UserError
from autograder.grading.assignment.bundle import DEMONSTRATION
from autograder.grading.assignment.cells import check_task, grade_id, is_solution, tags
from autograder.grading.assignment.toml_lines import lines_of
from autograder.grading.building.source import SourceCell
from autograder.grading.course.course import Course
from autograder.grading.records.store import write_whole


@dataclass(frozen=True)
class Dropped:
    """The parts that were taken out, and the cells that still speak of the task."""

    cells: int
    mistakes: int
    right_answers: int
    still_about: tuple[str, ...]
    """The places of the cells whose text leads to the task or names it, for the author to rewrite."""


def drop_task(course: Course, assignment: str, task: str) -> Dropped:
    """Take a task out of an assignment's source, all of it or nothing.

    Raises `UserError` if there is no such task, if it is the only one, or if another one uses it.
    """
    folder = course.folder("source", ".", assignment)
    notebooks = sorted(folder.glob("*.ipynb"))
    if len(notebooks) != 1:
        raise UserError(f"{course.told(folder)} has {len(notebooks)} notebooks; a task is dropped from one.")
    path = notebooks[0]
    notebook = nbformat.read(path, as_version=4)
    graded = [name for cell in notebook.cells if (name := check_task(cell))]
    if task not in graded:
        raise UserError(f"{course.told(path)} has no task `{task}`; its tasks are {', '.join(graded)}.")
    if len(graded) == 1:
        raise UserError(f"`{task}` is the only task of {assignment}: nothing would be left to grade.")
    named = re.compile(rf"(?<!\w){re.escape(task)}(?!\w)")
    gone = [cell for cell in notebook.cells if check_task(cell) == task or grade_id(cell) == task]
    for number, cell in enumerate(notebook.cells, 1):
        if cell in gone or cell["cell_type"] != "code" or not named.search(cell["source"]):
            continue
        if is_solution(cell) or DEMONSTRATION not in tags(cell):
            place = SourceCell(number, cell, course.told(path)).where()
            raise UserError(f"{place}: this cell uses `{task}`, which cannot be dropped before it.")
        gone.append(cell)
    own = path.parent / "checks"
    for file in sorted(own.glob("*.py")):
        if not file.stem.endswith(f"_{task}") and named.search(file.read_text(encoding="utf-8")):
            raise UserError(f"{course.told(file)} uses `{task}`, which cannot be dropped before it.")
    mistakes, answers = course.catalogue_path(assignment), course.right_answers_path(assignment)
    entries = [name for name, table in _tables(mistakes).items() if table.get("task") == task]
    styles = _tables(answers).get(task, {})
    above = notebook.cells[max(notebook.cells.index(gone[0]) - 1, 0)]
    notebook.cells = [cell for cell in notebook.cells if cell not in gone]
    texts = {
        mistakes: _without(mistakes, entries, f"# {task}") if entries else None,
        answers: _without(answers, [task]) if styles else None,
        path: f"{nbformat.writes(notebook).rstrip()}\n",
    }
    for file, text in texts.items():
        if text is not None:
            write_whole(file, text)
    for file in own.glob(f"*_{task}.py"):
        file.unlink()
    left = (SourceCell(number, cell, course.told(path)) for number, cell in enumerate(notebook.cells, 1))
    still = tuple(each.where() for each in left if each.node is above or named.search(each.source))
    return Dropped(len(gone), len(entries), len(styles), still)


def _tables(path: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _without(path: Path, names: Collection[str], heading: str = "") -> str:
    """Return a TOML file's text without some of its tables, and without the comment that heads them."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    starts = {name: lines_of(text)[name,] - 1 for name in tomllib.loads(text)}
    ends = [*list(starts.values())[1:], len(lines)]
    for (name, start), end in reversed(list(zip(starts.items(), ends, strict=True))):
        if name in names:
            while not lines[end - 1].strip() or lines[end - 1].startswith("#"):
                end -= 1  # these lines head the next table
            del lines[start:end]
    kept = "\n".join(line for line in lines if line != heading)
    return re.sub(r"\n{3,}", "\n\n", kept).rstrip() + "\n"
