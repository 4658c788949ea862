"""Cells that stopped when a notebook was run: which one, at which line, with what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder.grading.assignment.bundle import DEMONSTRATION, Bundle
from autograder.grading.assignment.cells import tags
from autograder.grading.building.source import MAY_FAIL, SourceCell

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SHELL = re.compile(
    r"get_ipython\(\)\.(system|getoutput|run_(line|cell)_magic\('(pip|conda|bash|sh|script)')"
)
"""The calls that IPython makes of lines of a cell that start programs."""
_FRAME = re.compile(r"^Cell In\[\d+\], line (\d+)", re.MULTILINE)
"""IPython's heading of the part of a traceback about a cell; the first is of the cell that was run."""


def with_demonstrations(bundle: Bundle) -> Bundle:
    """Return the assignment as it is where demonstrations are run, too, as a student does."""
    notebook = nbformat.reads(bundle.released, as_version=4)
    for cell in notebook.cells:
        cell["metadata"]["tags"] = [tag for tag in tags(cell) if tag != DEMONSTRATION]
    return replace(bundle, released=str(nbformat.writes(notebook)))


def stopped_at(cell: SourceCell, error: NotebookNode) -> tuple[str, str]:
    """The place of the cell, with its line where a traceback tells it, and what was raised there."""
    traceback = error.get("traceback", [])
    found = _FRAME.search(_COLOURS.sub("", "\n".join(traceback)))
    lines, line = cell.source.split("\n"), int(found[1]) if found else 0
    code = lines[line - 1].strip() if 0 < line <= len(lines) else "".join(traceback[:-1][:1])
    raised = ": ".join(filter(None, [error["ename"], error["evalue"]]))
    return cell.where(line or None), f"it stops with {raised}" + (f"\n    {code}" if code else "")


def shown_by(cell: NotebookNode) -> str:
    """Return what a cell showed, as text: of a card, the part for those who see no page."""
    texts = []
    for output in cell["outputs"]:
        data: Any = output.get("data", {})
        texts.append(str(data.get("text/plain") or output.get("text") or ""))
    return "\n".join(filter(None, texts))


def left_out(bundle: Bundle, file: str) -> list[str]:
    """Say, once if at all, in which cells of the source notebook `file` programs would be started."""
    cells = nbformat.reads(bundle.with_answers(bundle.solution), as_version=4).cells
    numbered = (SourceCell(number, cell, file) for number, cell in enumerate(cells, 1))
    found = [cell.name for cell in numbered if cell.is_code and _SHELL.search(_transformed(cell.source))]
    if not found:
        return []
    return [f"{file}: shell lines are left out when grading, with a line in the output: {', '.join(found)}."]


def _transformed(source: str) -> str:
    try:
        return TransformerManager().transform_cell(source)
    except SyntaxError:
        return ""


def stops_unsolved(solved: str, unsolved: str, file: str) -> Iterator[tuple[str, str, str]]:
    """The cells that stop in the unsolved notebook and not in the solved one, both run in the same way.

    Each comes as its place in the source notebook `file`, what is to be said of it, and what to do where a
    notebook is not to stop.

    Answers and tests are meant to stop there; what stops in both may be the doing of the wall behind which
    it was run, since the solved notebook ran in a kernel of its own.
    """
    pairs = zip(*(nbformat.reads(each, as_version=4).cells for each in (unsolved, solved)), strict=False)
    for number, (cell, right) in enumerate(pairs, 1):
        here = SourceCell(number, cell, file)
        if not here.is_code or here.is_solution or here.is_grade or MAY_FAIL in here.tags:
            continue
        error = _error(cell)
        if error is not None and right["cell_type"] == "code" and _error(right) is None:
            place, told = stopped_at(here, error)
            yield place, told, '\n    What needs a task belongs into `with after("<task>"):`.'


def _error(cell: NotebookNode) -> NotebookNode | None:
    return next((output for output in cell["outputs"] if output["output_type"] == "error"), None)
