"""Taking a task out of an assignment: its cells, demonstrations, checks, known mistakes and right answers."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.cell_source import parse_cell
from autograder.errors import UserError
from autograder.grading.assignment.bundle import DEMONSTRATION
from autograder.grading.assignment.cells import check_task, grade_id, is_solution, tags
from autograder.grading.assignment.toml_lines import lines_of
from autograder.grading.building.source import SourceCell
from autograder.grading.course.course import Course
from autograder.grading.records.store import staged


@dataclass(frozen=True)
class Dropped:
    """The counts of what was taken out, and the cells that still speak of the task."""

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
    gone = _cells_of(notebook, task, course.told(path))
    own = path.parent / "checks"
    files = [own / f"{kind}_{task}.py" for kind in ("test", "hidden", "reference")]
    named = re.compile(rf"(?<!\w){re.escape(task)}(?!\w)")
    for file in sorted(set(own.glob("*.py")).difference(files)):
        if named.search(file.read_text(encoding="utf-8")):
            raise UserError(f"{course.told(file)} uses `{task}`, which cannot be dropped before it.")
    mistakes, answers = course.catalogue_path(assignment), course.right_answers_path(assignment)
    entries = [name for name, table in _tables(mistakes).items() if table.get("task") == task]
    styles = _tables(answers).get(task, {})
    above = notebook.cells[max(notebook.cells.index(gone[0]) - 1, 0)]
    notebook.cells = [cell for cell in notebook.cells if not any(cell is each for each in gone)]
    texts = {path: f"{nbformat.writes(notebook).rstrip()}\n"}
    if entries:
        texts[mistakes] = _without(mistakes, entries, f"# {task}")
    if styles:
        texts[answers] = _without(answers, [task], "")
    with ExitStack() as written:
        for file, text in texts.items():
            written.enter_context(staged(file, text, course.access))
    for file in files:
        file.unlink(missing_ok=True)
    left = (SourceCell(number, cell, course.told(path)) for number, cell in enumerate(notebook.cells, 1))
    still = tuple(each.where() for each in left if each.node is above or named.search(each.source))
    return Dropped(len(gone), len(entries), len(styles), still)


def _cells_of(notebook: NotebookNode, task: str, shown: str) -> list[NotebookNode]:
    """The cells that go with a task: its own first, demonstrations that use it, and their guesses.

    Raises `UserError` if another cell uses it.
    """
    own = [cell for cell in notebook.cells if task in (check_task(cell), grade_id(cell))]
    gone, guess = list(own), None
    for number, cell in enumerate(notebook.cells, 1):
        if grade_id(cell).startswith("guess"):
            guess = cell
        asked, guess = (guess, None) if "reveal(" in cell["source"] else (None, guess)
        if cell in own or cell["cell_type"] != "code" or not _uses(cell["source"], task):
            continue
        if is_solution(cell) or DEMONSTRATION not in tags(cell):
            place = SourceCell(number, cell, shown).where()
            raise UserError(f"{place}: this cell uses `{task}`, which cannot be dropped before it.")
        gone += [cell] if asked is None else [asked, cell]
    return gone


def _uses(source: str, task: str) -> bool:
    """Return whether code names a task, as a name or as in `after("task")`; words in a text do not count."""
    tree = parse_cell(source)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Name(id=name) if name == task:
                return True
            case ast.Constant(value=str(text)) if text == task:
                return True
    return False


def _tables(path: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _without(path: Path, names: Collection[str], heading: str) -> str:
    """Return a TOML file's text without some of its tables, and without the line that heads them."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    starts = {name: lines_of(text)[name,] - 1 for name in tomllib.loads(text)}
    end = len(lines)
    for name, start in reversed(starts.items()):
        if name in names:
            while not lines[end - 1].strip() or lines[end - 1].startswith("#"):
                end -= 1  # these lines head the next table
            while start and lines[start - 1] in ("", heading):
                start -= 1
            del lines[start:end]
        end = start
    return "\n".join(lines).strip("\n") + "\n"
