"""Cells of a notebook as nbgrader marks them: their names, and what each is for."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode


def grade_id(cell: NotebookNode) -> str:
    """The name that nbgrader has for a cell, `""` if it has none."""
    marks = cell["metadata"].get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def is_grade(cell: NotebookNode) -> bool:
    return _marked(cell, "grade")


def is_solution(cell: NotebookNode) -> bool:
    return _marked(cell, "solution")


def is_task(cell: NotebookNode) -> bool:
    """Return whether a cell is one of nbgrader's manually graded tasks."""
    return _marked(cell, "task")


def is_locked(cell: NotebookNode) -> bool:
    """Return whether a cell is one that nbgrader puts back as it was: marked so, or a test cell."""
    return not is_solution(cell) and (is_grade(cell) or _marked(cell, "locked"))


def is_as_released(cell: NotebookNode) -> bool:
    """Return whether a locked cell is as it came with a release, be it an earlier one: by its checksum."""
    if not is_locked(cell):
        return False
    from nbgrader.utils import compute_checksum  # a second, for the few notebooks that need it

    try:
        return bool(cell["metadata"]["nbgrader"]["checksum"] == compute_checksum(cell))
    except (AttributeError, KeyError, TypeError, ValueError):  # students can write anything there
        return False


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


def other_language(metadata: Mapping[str, Any]) -> str:
    """The language of a notebook whose kernel is of another than Python, by its metadata; else `""`."""
    found = ((metadata.get("kernelspec"), "language"), (metadata.get("language_info"), "name"))
    named = [str(about.get(key) or "") for about, key in found if isinstance(about, Mapping)]
    language = next(filter(None, named), "")  # a kernel's own name is anybody's choice
    return "" if "python" in language.lower() else language


def prose_and_code(raw: bytes) -> tuple[str, str]:
    """Return the two parts of a notebook: its prose, which only people read, and all the rest.

    Prose are the Markdown cells that nbgrader does not mark. A file that is no notebook has none.
    """
    try:
        notebook = json.loads(raw)
        cells = list(notebook["cells"])
        is_prose = [_is_prose(cell) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", raw.decode(errors="backslashreplace")
    prose = [cell if alone else None for cell, alone in zip(cells, is_prose, strict=True)]
    code = [cell for cell, alone in zip(cells, is_prose, strict=True) if not alone]
    return json.dumps(prose, sort_keys=True), json.dumps({**notebook, "cells": code}, sort_keys=True)


def _is_prose(cell: Mapping[str, Any]) -> bool:
    return cell["cell_type"] == "markdown" and not cell["metadata"].get("nbgrader")


def _marked(cell: NotebookNode, mark: str) -> bool:
    marks = cell["metadata"].get("nbgrader")
    return isinstance(marks, dict) and bool(marks.get(mark))
