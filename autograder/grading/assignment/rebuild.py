"""Putting a student's answers into the released notebook; nothing else of the submitted file counts.

The skeleton is what was released. From the submission come the answers in its solution cells, by
`grade_id`, and the cells that the student added, each behind the cell it followed. Text that the student
wrote into a released cell stands below that cell, to be read. Metadata, tags, outputs, points, kernels and
the order of cells are the skeleton's.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.cell_source import MAX_LINKS, links, parse_cell
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import (
    check_task,
    grade_id,
    is_grade,
    is_solution,
    is_task,
)
from autograder.grading.assignment.images import images_of, with_placeholders
from autograder.grading.assignment.matching import defined_names, find_added, find_answers, role
from autograder.jupyter.inside import is_holding
from autograder.verdict import Finding

MAX_BYTES = 64 << 20
MAX_CELLS = 2000
MAX_PARTS = 8_000_000
"""Opening brackets in the file: sixty megabytes of `{}` would take gigabytes of memory to read."""
_CELL_TYPES = ("code", "markdown", "raw", "heading", "html")
MAX_CELL = 200_000
MAX_TEXT = 1_000_000
"""Characters in one cell, and in all cells of a kind: parsing code takes a thousand times that in memory."""


class CorruptNotebook(Exception):
    """An error: the submitted file is no notebook that could be read. The text says why."""


@dataclass(frozen=True)
class Step:
    """One cell of the rebuilt notebook and what grading does with it.

    `role` is `run` (a released cell), `solution`, `added` (the student's own), `check` (judged
    outside), `unprotected` (an instructor's own test, run beside the student's code) or `skip`.
    """

    index: int
    role: str
    name: str
    source: str
    task: str = ""
    """The task that the cell defines: its own, if the student has changed it. A cell that is as it was
    released leaves the name to others."""


@dataclass(frozen=True)
class Rebuilt:
    """A notebook ready to be run and judged."""

    notebook: NotebookNode
    steps: tuple[Step, ...]
    findings: tuple[Finding, ...]

    @property
    def sources(self) -> dict[str, str]:
        """The sources of the student's cells, in order: answers by `grade_id`, added cells by their name."""
        return {step.name: step.source for step in self.steps if step.role in ("solution", "added")}

    @property
    def taken_names(self) -> list[str]:
        """The tasks whose names a cell that the student added below takes, or takes away."""
        own = {step.task: step.index for step in self.steps if step.task}
        changed = {step.index: _changed_names(step.source) for step in self.steps if step.role == "added"}
        return [
            task for task, at in own.items() if any(at < i and task in names for i, names in changed.items())
        ]

    def digest(self) -> str:
        """The digest of all that counts in the submitted file; saving the file again does not change it."""
        cells = [(cell["cell_type"], cell["source"]) for cell in self.notebook.cells]
        images = [cell["attachments"] for cell in self.notebook.cells if cell.get("attachments")]
        cells += [("images", repr(images))] if images else []
        return hashlib.sha256(repr((cells, self.findings)).encode("utf-8", "replace")).hexdigest()


def read_notebook(raw: bytes) -> NotebookNode:
    """A submitted file's bytes as a notebook of the current format; raises `CorruptNotebook`."""
    if not raw.strip():
        raise CorruptNotebook("the file is empty")
    if len(raw) > MAX_BYTES:
        raise CorruptNotebook(f"the file is larger than {MAX_BYTES >> 20} MB")
    if raw.count(b"{") + raw.count(b"[") > MAX_PARTS:
        raise CorruptNotebook("the file has more parts than a notebook can have")
    try:
        text = raw.decode(json.detect_encoding(raw))
    except UnicodeDecodeError as error:
        raise CorruptNotebook("the file is not text in UTF-8, as notebooks are") from error
    try:
        kept = json.dumps(_needed(json.loads(text)), ensure_ascii=False)
        # JSON can say half a surrogate pair, which no file can be written with afterwards.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbformat's words on cell ids are for authors of notebooks
            notebook = nbformat.convert(nbformat.reader.reads(kept.encode("utf-8", "replace").decode()), 4)
        for cell in notebook["cells"]:
            cell.setdefault("source", "")  # JSON that was written by hand may have a cell without
        if len(notebook["cells"]) > MAX_CELLS:
            raise CorruptNotebook(f"the file has more than {MAX_CELLS} cells")
    except CorruptNotebook:
        raise
    except Exception as error:
        if line := conflict_line(text):
            raise CorruptNotebook(f"the file holds the marks of a merge conflict (line {line})") from error
        # json and nbformat raise whatever the broken file made them trip over
        raise CorruptNotebook(_why_unread(text, error)) from error
    # No cell of the student's: it came with the notebook, and may be longer than any code.
    notebook.cells = [cell for cell in notebook.cells if not is_holding(cell["source"])]
    _leave_out_masses(notebook.cells)
    return notebook


def conflict_line(text: str) -> int:
    """Return the number of the line in which git has marked a merge conflict; 0 for none."""
    found = re.search(r"^<{7} ", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _why_unread(text: str, error: Exception) -> str:
    """Say why a file is no notebook, as far as its beginning and the place of the error tell."""
    begins = text.lstrip()[:9].lower()
    if begins.startswith(("<!doctype", "<html")):
        return "the file is a web page, not a Jupyter notebook"
    if begins.startswith("{") and isinstance(error, json.JSONDecodeError):
        at_end = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        return "the file is cut off at its end" if at_end else f"the file is damaged in line {error.lineno}"
    return "the file is not a Jupyter notebook"


def _needed(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of a notebook's JSON that count. The rest may have any shape and size."""
    kept: dict[str, Any] = {
        "nbformat": data["nbformat"],
        "nbformat_minor": data.get("nbformat_minor", 0),
        "metadata": {},
    }
    if "cells" in data:
        return {**kept, "cells": _needed_of_cells(data["cells"])}
    sheets = [_needed_of_cells(sheet["cells"]) for sheet in data["worksheets"]]
    return {**kept, "worksheets": [{"cells": cells, "metadata": {}} for cells in sheets]}


def _needed_of_cells(cells: Any) -> list[dict[str, Any]]:
    if not isinstance(cells, list):
        raise TypeError("cells are a list")
    return [_needed_of_cell(cell) for cell in cells]


def _needed_of_cell(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    kind = cell["cell_type"] if cell["cell_type"] in _CELL_TYPES else "raw"
    kept: dict[str, Any] = {
        "cell_type": kind,
        "metadata": {"nbgrader": marks} if isinstance(marks, dict) else {},
    }
    for name in ("source", "input"):  # a code cell's source is its `input` in old notebooks
        if name in cell:
            kept[name] = _joined(cell[name])
    if isinstance(cell.get("id"), str):
        kept["id"] = cell["id"]
    if kind == "code":
        kept.update(outputs=[], execution_count=None)
    elif kind == "markdown" and (images := images_of(cell)):
        kept["attachments"] = images
    return kept


def _joined(source: Any) -> str:
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else ""


def _leave_out_masses(cells: list[NotebookNode]) -> None:
    left = {"code": MAX_TEXT}
    links_left = 3 * MAX_LINKS
    for cell in cells:
        kind, size = cell["cell_type"], len(cell["source"])
        linked = links(cell["source"]) if kind == "code" else 0
        if size > min(MAX_CELL, left.setdefault(kind, MAX_TEXT)) or linked > min(MAX_LINKS, links_left):
            told, what = ("# ", " of code") if kind == "code" else ("", "")
            cell["source"] = (
                f"{told}Here were {size} characters{what}: too many to read, so they were left out."
            )
        else:
            left[kind] -= size
            links_left -= linked


def answers_in(raw: bytes, bundle: Bundle) -> dict[str, str]:
    """The sources of a submitted file's answers, by the names of their cells; raises `CorruptNotebook`."""
    cells = read_notebook(raw).cells
    answers, _ = find_answers(cells, bundle.handed_out().cells, [])
    return {name: cells[index]["source"] for name, index in answers.items()}


def rebuild(raw: bytes, bundle: Bundle) -> Rebuilt:
    """The released notebook with this submission's answers in it."""
    submitted = read_notebook(raw)
    notebook = bundle.skeleton()
    findings: list[Finding] = []
    handed_out = bundle.handed_out()
    answers, claimed = find_answers(submitted.cells, handed_out.cells, findings)
    counting = set(answers.values())
    followers = find_added(
        submitted.cells, handed_out.cells, claimed, counting, findings, restored=not bundle.has_checks
    )
    beside = _written_beside(notebook.cells, followers)
    cells: list[NotebookNode] = []
    steps: list[Step] = []

    def put(cell: NotebookNode, role: str, name: str, task: str = "") -> None:
        steps.append(Step(len(cells), role, name, cell["source"], task))
        cells.append(cell)

    def put_students(cell: NotebookNode) -> None:
        give_id(notebook, cell, f"added-{len(cells)}")  # not by chance: grading twice gives the same file
        put(cell, "added" if cell["cell_type"] == "code" else "skip", f"added cell {len(cells)}")

    for added in followers.get(-1, ()):
        put_students(added)
    for position, cell in enumerate(notebook.cells):
        name, stub = grade_id(cell) or str(cell.get("id", position)), cell["source"]
        if is_solution(cell) and name in answers:
            _answer(cell, submitted.cells[answers[name]], findings)
        untouched = cell["source"] == handed_out.cells[position]["source"]
        if is_solution(cell) and is_grade(cell) and untouched and position in beside:
            # By it nbgrader, too, would take the cell for no answer, and give it 0 without a person.
            cell["metadata"]["nbgrader"].pop("checksum", None)
            findings.append(Finding("answer_beside", _BESIDE.format(name)))
        own = name if is_solution(cell) and cell["source"] != stub else ""
        put(cell, role(cell), check_task(cell) or name if is_grade(cell) else name, own)
        for added in followers.get(position, ()):
            put_students(added)
    notebook.cells = cells
    return Rebuilt(notebook, tuple(step for step in steps if step.role != "skip"), tuple(findings))


def give_id(notebook: NotebookNode, cell: NotebookNode, id: str) -> None:
    """Give a new cell of a notebook an id, or none in a format that knows no ids."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) >= (4, 5):
        cell["id"] = id
    else:
        cell.pop("id", None)


_BESIDE = "The answer `{}` is as it was released, and text of the student's stands beside it: read that."


def _answer(cell: NotebookNode, given: NotebookNode, findings: list[Finding]) -> None:
    """Put a student's answer into its cell."""
    cell["source"] = given["source"]
    if given["cell_type"] != cell["cell_type"]:
        findings.append(
            Finding(
                "cell_type",
                f"The cell `{grade_id(cell)}` was handed in as a {given['cell_type']} cell; its text counts "
                f"as that of a {cell['cell_type']} cell.",
            )
        )
    if cell["cell_type"] == "markdown":
        with_placeholders(cell, given.get("attachments", {}))


def _written_beside(released: list[NotebookNode], added: Mapping[int, list[NotebookNode]]) -> set[int]:
    """The positions of the solution cells that have text of the student's around them.

    Around a cell is what stands between the solution, grade or task cells before and after it.
    """
    marked = [i for i, cell in enumerate(released) if is_solution(cell) or is_grade(cell) or is_task(cell)]
    found = set()
    for before, position, after in zip([-1, *marked], marked, [*marked[1:], len(released)], strict=False):
        kinds = {own["cell_type"] for i in range(before + 1, after) for own in added.get(i, ())}
        if kinds & {"markdown", released[position]["cell_type"]}:
            found.add(position)
    return found


def _changed_names(source: str) -> set[str]:
    """The names that a cell binds or deletes where its statements stand."""
    tree = parse_cell(source)
    deleted = (
        (each for node in tree.body if isinstance(node, ast.Delete) for each in node.targets) if tree else ()
    )
    return defined_names(source) | {each.id for each in deleted if isinstance(each, ast.Name)}
