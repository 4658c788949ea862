"""Two courses of other subjects, numpy and pandas, with six submissions each: `courses/NAME`, as text.

`# %% KIND NAME POINTS` begins a cell of a source, `# %% NAME` a student's answer.
"""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.adopting.plain_cases import Case, Work, asserts, marked, notebook

COURSES = Path(__file__).parent / "courses"
STUDENTS = ("right", "half", "wrong", "missing", "endless", "untouched")
_CELL = re.compile(r"^# %% (.*)\n((?:(?!# %% ).*\n)*)", re.M)


def subject(name: str) -> Case:
    """The assignment of a course and who handed it in, as it is written down."""
    folder = COURSES / name
    cells = [_cell(head.split(), text.strip()) for head, text in _cells(folder / f"{name}.txt")]
    works = {
        student: Work(
            answers={head: text.strip() for head, text in _cells(folder / "submitted" / f"{student}.txt")}
        )
        for student in STUDENTS
    }
    beside = {path.name: path.read_text() for path in folder.glob("*.csv")}
    return Case(notebook(*cells), works, beside)


def _cells(path: Path) -> list[tuple[str, str]]:
    return _CELL.findall(path.read_text())


def _cell(head: list[str], text: str) -> NotebookNode:
    match head:
        case ["text"]:
            return new_markdown_cell(re.sub(r"^# ", "", text, flags=re.M))
        case ["free"]:
            return new_code_cell(text)
        case ["given", name]:
            return marked(new_code_cell(text), name)
        case ["answer", name]:
            return marked(new_code_cell(text), name, solution=True)
        case ["test", name, points]:
            return asserts(name, float(points), text)
        case ["hand", name, points]:
            return marked(new_code_cell(text), name, float(points), solution=True)
        case ["essay", name, points]:
            return marked(new_markdown_cell(text), name, float(points), solution=True)
    raise ValueError(f"no cell: {head}")
