"""Putting a student's answers into the released notebook; nothing else of the submitted file counts.

The skeleton is what was released. From the submission come the sources of its solution cells, by
`grade_id`, and the code cells the student added, each behind the cell it followed. Metadata, tags,
outputs, points, kernels and the order of cells are the skeleton's.
"""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.cell_source import MAX_LINKS, links, parse_cell
from autograder.grading.assignment.bundle import DEMONSTRATION, Bundle
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution, tags
from autograder.jupyter.inside import is_holding
from autograder.verdict import Finding

MAX_BYTES = 64 << 20
MAX_CELLS = 2000
MAX_PARTS = 8_000_000
"""Opening brackets in the file: sixty megabytes of `{}` would take gigabytes of memory to read."""
_CELL_TYPES = ("code", "markdown", "raw", "heading", "html")
MAX_CELL_CODE = 200_000
MAX_CODE = 1_000_000
"""Characters of code in one cell, and in all of them: parsing takes a thousand times that in memory."""


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

    def digest(self) -> str:
        """The digest of all that counts in the submitted file; saving the file again does not change it."""
        cells = [(cell["cell_type"], cell["source"]) for cell in self.notebook.cells]
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
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorruptNotebook("the file is not text") from error
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
    except Exception as error:  # json and nbformat raise whatever the broken file made them trip over
        raise CorruptNotebook(f"the file is not a Jupyter notebook ({type(error).__name__})") from error
    # No cell of the student's: it came with the notebook, and may be longer than any code.
    notebook.cells = [cell for cell in notebook.cells if not is_holding(cell["source"])]
    _leave_out_masses(notebook.cells)
    return notebook


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
    return kept


def _joined(source: Any) -> str:
    if isinstance(source, str):
        return source
    return "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else ""


def _leave_out_masses(cells: list[NotebookNode]) -> None:
    left, links_left = MAX_CODE, 3 * MAX_LINKS
    for cell in cells:
        size = len(cell["source"]) if cell["cell_type"] == "code" else 0
        linked = links(cell["source"]) if size else 0
        if size > min(MAX_CELL_CODE, left) or linked > min(MAX_LINKS, links_left):
            cell["source"] = (
                f"# Here were {size} characters of code: too many to read, so they were left out."
            )
        else:
            left -= size
            links_left -= linked


def rebuild(raw: bytes, bundle: Bundle) -> Rebuilt:
    """The released notebook with this submission's answers in it."""
    submitted = read_notebook(raw)
    notebook = bundle.skeleton()
    findings: list[Finding] = []
    answers, claimed = _find_answers(submitted.cells, notebook.cells, findings)
    followers = _find_added(submitted.cells, notebook.cells, claimed, findings)
    cells: list[NotebookNode] = []
    steps: list[Step] = []

    def put(cell: NotebookNode, role: str, name: str) -> None:
        steps.append(Step(len(cells), role, name, cell["source"]))
        cells.append(cell)

    for source in followers.get(-1, ()):
        put(_student_cell(source, len(cells)), "added", f"added cell {len(cells)}")
    for position, cell in enumerate(notebook.cells):
        name = grade_id(cell) or str(cell.get("id", position))
        if is_solution(cell) and name in answers:
            cell["source"] = answers[name]
        put(cell, _role(cell), check_task(cell) or name if is_grade(cell) else name)
        for source in followers.get(position, ()):
            put(_student_cell(source, len(cells)), "added", f"added cell {len(cells)}")
    notebook.cells = cells
    return Rebuilt(notebook, tuple(step for step in steps if step.role != "skip"), tuple(findings))


def _role(cell: NotebookNode) -> str:
    if cell["cell_type"] != "code":
        return "skip"
    if is_solution(cell):
        return "solution"
    if is_grade(cell):
        return "check" if check_task(cell) else "unprotected"
    return "skip" if DEMONSTRATION in tags(cell) else "run"


def _find_answers(
    submitted: list[NotebookNode], skeleton: list[NotebookNode], findings: list[Finding]
) -> tuple[dict[str, str], set[int]]:
    """The student's source for each solution cell, and which submitted cells are thereby spoken for."""
    answers: dict[str, str] = {}
    claimed: set[int] = set()
    defined: dict[int, set[str]] = {}
    for cell in skeleton:
        if not is_solution(cell):
            continue
        name = grade_id(cell)
        copies = [i for i, other in enumerate(submitted) if grade_id(other) == name]
        if not copies:
            # Some front ends drop nbgrader's metadata but keep the cell's id, and some drop both.
            copies = [i for i, other in enumerate(submitted) if i not in claimed and _same_id(other, cell)]
        if not copies and cell["cell_type"] == "code":
            defined = defined or {i: _defined_names(other) for i, other in enumerate(submitted)}
            copies = [i for i, names in defined.items() if i not in claimed and name in names][-1:]
        if not copies:
            findings.append(Finding("missing_cell", f"The cell `{name}` is not in the submitted notebook."))
            continue
        changed = [i for i in copies if submitted[i]["source"] != cell["source"]]
        if len(copies) > 1:
            findings.append(
                Finding(
                    "duplicate_cell",
                    f"The cell `{name}` is there {len(copies)} times; the last one changed counts.",
                )
            )
        chosen = (changed or copies)[-1]
        answers[name] = submitted[chosen]["source"]
        claimed.update(copies)
    return answers, claimed


def _find_added(
    submitted: list[NotebookNode], skeleton: list[NotebookNode], claimed: set[int], findings: list[Finding]
) -> dict[int, list[str]]:
    """The student's own code cells, under the position of the skeleton's cell each one follows (-1: none)."""
    positions = {grade_id(cell): i for i, cell in enumerate(skeleton) if grade_id(cell)}
    by_id = {str(cell["id"]): i for i, cell in enumerate(skeleton) if cell.get("id")}
    by_source = {cell["source"].strip(): i for i, cell in enumerate(skeleton)}
    added: dict[int, list[str]] = {}
    anchor = -1
    for index, cell in enumerate(submitted):
        source = cell["source"]
        position = positions.get(
            grade_id(cell), by_id.get(str(cell.get("id")), by_source.get(source.strip()))
        )
        if index in claimed:
            anchor = position if position is not None else anchor
            continue
        released = skeleton[position] if position is not None else None
        if released is not None:
            anchor = max(anchor, position) if position is not None else anchor
            if released["source"].strip() == source.strip() or is_solution(released):
                continue
            if is_grade(released):
                findings.append(
                    Finding(
                        "edited_check",
                        f"The cell `{grade_id(released)}` was changed; the released one was used.",
                    )
                )
                continue
        if cell.get("cell_type") == "code" and source.strip():
            added.setdefault(anchor, []).append(source)
    return added


def _same_id(one: NotebookNode, other: NotebookNode) -> bool:
    return (
        bool(one.get("id"))
        and one.get("id") == other.get("id")
        and one.get("cell_type") == other.get("cell_type")
    )


def _defined_names(cell: NotebookNode) -> set[str]:
    if cell.get("cell_type") != "code":
        return set()
    tree = parse_cell(cell["source"])
    return set(_names(tree.body)) if tree else set()


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _student_cell(source: str, number: int) -> Any:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["student-added"]})
    cell["id"] = f"added-{number}"  # not by chance: grading twice gives the same file
    return cell
