"""A source notebook as its author sees it: cells, each with its number, its name and its place."""

from __future__ import annotations

import ast
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode, ValidationError

from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution, tags
from autograder.grading.assignment.instead import without_instead
from autograder.grading.assignment.rebuild import conflict_line
from autograder.grading.course.problem import Problem

MAY_FAIL = "raises-exception"
"""Jupyter's tag of a cell that is meant to stop with an error."""
_SHOWN = 40
"""Characters of the first line by which a cell without an id is named."""


@dataclass(frozen=True)
class SourceCell:
    """A cell of a source notebook. `number` counts from 1, as an author does."""

    number: int
    node: NotebookNode
    file: str

    @property
    def source(self) -> str:
        return str(self.node["source"])

    @property
    def is_code(self) -> bool:
        return bool(self.node["cell_type"] == "code")

    @property
    def is_solution(self) -> bool:
        return is_solution(self.node)

    @property
    def solution(self) -> str:
        """The text without what students are given in place of the stub."""
        return without_instead(self.source)

    @property
    def is_grade(self) -> bool:
        return is_grade(self.node)

    @property
    def grade_id(self) -> str:
        return grade_id(self.node)

    @property
    def tags(self) -> list[str]:
        return tags(self.node)

    @property
    def task(self) -> str:
        """The task that this cell grades: its text is just `check("<task>")`; `""` if it is no such cell."""
        return check_task(self.node) if self.is_grade else ""

    @property
    def name(self) -> str:
        """The cell in words: by its id, else by its number and first line."""
        if self.grade_id:
            return f"cell `{self.grade_id}`"
        first = next((line.strip() for line in self.source.splitlines() if line.strip()), "")
        shown = first if len(first) <= _SHOWN else f"{first[: _SHOWN - 1]}…"
        return f"cell {self.number} ({shown or 'empty'})"

    def where(self, line: int | None = None) -> str:
        """The file, the cell, and the line in it, counted from 1."""
        return f"{self.file}, {self.name}" + (f", line {line}" if line else "")

    def tree(self) -> ast.Module | None:
        """The cell's Python, magics taken for what they are; `None` where it is none.

        Raises `SyntaxError` with the line in the cell.
        """
        if not self.is_code or self.source.lstrip().startswith("%%"):
            return None
        text = TransformerManager().transform_cell(self.source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a string is the author's affair
            compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            return ast.parse(text)


def read_source(path: Path, file: str) -> tuple[list[SourceCell], list[Problem]]:
    """The cells of a source notebook, or what keeps it from being read. `file` is how it is called."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [Problem(file, f"is no text in UTF-8 (byte {error.start}): save it again from Jupyter.")]
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{file}, line {error.lineno}, column {error.colno}"
        marked = " It holds the marks of a merge that was not finished." if conflict_line(text) else ""
        return [], [Problem(where, f"is no JSON that can be read: {error.msg}.{marked}")]
    except RecursionError:
        return [], [Problem(file, "is no notebook: its JSON is nested too deeply.")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cell without an id of its own gets one
            notebook = nbformat.reads(json.dumps(data), as_version=4)
            nbformat.validate(notebook)
    except ValidationError as error:
        return [], [Problem(_invalid(file, error), f"is no valid notebook: {error.message}.")]
    except Exception as error:  # nbformat meets anything that JSON can say
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        return [], [Problem(file, f"is no valid notebook: {told}")]
    return [SourceCell(number, node, file) for number, node in enumerate(notebook.cells, 1)], []


def _invalid(file: str, error: Any) -> str:
    steps = list(getattr(error, "relative_path", ()))
    in_cell = len(steps) > 1 and steps[0] == "cells"
    return f"{file}, cell {steps[1] + 1}" if in_cell else file
