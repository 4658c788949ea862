"""Submitted cells matched with released ones: by nbgrader's name, cell id, what they define, or place.

Web services and editors drop nbgrader's metadata, copy it with a cell, or reformat code. The student did none
of that, so it costs no points and is not reported as a change.
"""

from __future__ import annotations

import ast

import nbformat
from nbformat import NotebookNode

from autograder.cell_source import bound_names, parse_cell
from autograder.grading.assignment.bundle import DEMONSTRATION
from autograder.grading.assignment.cells import (
    check_task,
    grade_id,
    is_as_released,
    is_grade,
    is_locked,
    is_solution,
    tags,
)
from autograder.grading.assignment.images import with_placeholders
from autograder.verdict import Finding

STUDENTS = "student-added"
"""The tag of cells that a student added."""


def find_answers(
    submitted: list[NotebookNode], released: list[NotebookNode], findings: list[Finding]
) -> tuple[dict[str, int], set[int]]:
    """The submitted cell that counts for each solution cell, and all that are taken for one."""
    answers: dict[str, int] = {}
    claimed: set[int] = set()
    as_released = {cell["source"].strip() for cell in released}
    defined: dict[int, set[str]] = {}
    for position, cell in enumerate(released):
        if not is_solution(cell):
            continue
        name, is_code = grade_id(cell), cell["cell_type"] == "code"
        copies = [i for i, other in enumerate(submitted) if grade_id(other) == name]
        if not copies:
            # Some front ends drop nbgrader's metadata but keep the cell's id, and some drop both.
            copies = [i for i, other in enumerate(submitted) if i not in claimed and _same_id(other, cell)]
        if not copies and is_code:
            defined = defined or {
                i: _made_in(other)
                for i, other in enumerate(submitted)
                if other["cell_type"] == "code" and other["source"].strip() not in as_released
            }
            asked = {name} | _defined(cell["source"])
            copies = [i for i, names in defined.items() if i not in claimed and asked & names][-1:]
        copies = copies or _in_its_place(position, submitted, released, claimed)
        if not copies:
            message = f"The cell `{name}` was not found in the notebook; the released one was used."
            findings.append(Finding("missing_cell", message, message))
            continue
        changed = [i for i in copies if submitted[i]["source"] != cell["source"]]
        if len(copies) > 1:
            message = f"The cell `{name}` is there {len(copies)} times; the last one changed counts"
            message += ", and those before it ran, too." if is_code and changed[1:] else "."
            findings.append(Finding("duplicate_cell", message))
        answers[name] = (changed or copies)[-1]
        claimed.update(copies)
    return answers, claimed


def _in_its_place(
    position: int, submitted: list[NotebookNode], released: list[NotebookNode], claimed: set[int]
) -> list[int]:
    """The one submitted cell of a released cell's type that stands between the released cells around it."""
    texts = [cell["source"].strip() for cell in released]
    known = {text: i for i, text in enumerate(texts) if text and texts.count(text) == 1}
    there = {known[text]: i for i, cell in enumerate(submitted) if (text := cell["source"].strip()) in known}
    first = max((place for place in there if place < position), default=None)
    last = min((place for place in there if place > position), default=None)
    if first is None and last is None:
        return []  # not this notebook
    between = range(0 if first is None else there[first] + 1, len(submitted) if last is None else there[last])
    found = [
        i
        for i in between
        if i not in claimed
        and not grade_id(submitted[i])
        and submitted[i]["source"].strip()
        and submitted[i]["cell_type"] == released[position]["cell_type"]
    ]
    return found if len(found) == 1 else []


def find_added(
    submitted: list[NotebookNode],
    released: list[NotebookNode],
    claimed: set[int],
    counting: set[int],
    findings: list[Finding],
    *,
    restored: bool,
) -> dict[int, list[NotebookNode]]:
    """The student's own cells, under the position of the released cell each one follows (-1: none).

    Of `claimed` cells those that are `counting` are answers; other versions of an answer run before it. Of
    other cells that were released the lines that the student wrote into them are kept as text. A locked cell
    that was changed runs behind the released one, unless such cells are `restored`, as by nbgrader.
    """
    positions = {grade_id(cell): i for i, cell in enumerate(released) if grade_id(cell)}
    by_id = {str(cell["id"]): i for i, cell in enumerate(released) if cell.get("id")}
    by_source = {cell["source"].strip(): i for i, cell in enumerate(released)}

    def released_as(cell: NotebookNode) -> int | None:
        source = cell["source"].strip()
        return positions.get(grade_id(cell), by_id.get(str(cell.get("id")), by_source.get(source)))

    places = list(map(released_as, submitted))
    whole = {
        place
        for place, cell in zip(places, submitted, strict=True)
        if place is not None and _is_same(cell, released[place])
    }
    added: dict[int, list[NotebookNode]] = {}
    anchor = -1
    for index, (cell, position) in enumerate(zip(submitted, places, strict=True)):
        if position is not None:
            anchor = position if index in claimed else max(anchor, position)
        there = released[position] if position is not None else None
        if not cell["source"].strip() or index in counting:
            continue
        if is_as_released(cell) and (there is not None or is_grade(cell)):
            continue  # of an earlier release, whose tests and given code this one replaces
        if there is None or position is None:
            added.setdefault(anchor, []).append(_students_cell(cell))
            continue
        if _is_same(cell, there):
            continue
        if is_grade(there) and not is_solution(there) and position not in whole:
            findings.append(
                Finding(
                    "edited_check", f"The cell `{grade_id(there)}` was changed; the released one was used."
                )
            )
        version = index in claimed and there["cell_type"] == "code"
        runs = cell["cell_type"] == "code" and (version or role(there) in ("run", "skip"))
        runs = runs and not (restored and is_locked(there))
        own = _students_cell(cell) if runs else _written_into(cell, there)
        if own is not None:
            added.setdefault(position - 1 if version else anchor, []).append(own)
    return added


def _is_same(cell: NotebookNode, released: NotebookNode) -> bool:
    """Return whether a cell is as it was released, but for how an editor lays out its code."""
    source, other = cell["source"].strip(), released["source"].strip()
    if source == other or cell["cell_type"] != "code" or source.count("#") != other.count("#"):
        return source == other
    tree, wanted = parse_cell(source), parse_cell(other)
    return tree is not None and wanted is not None and ast.dump(tree) == ast.dump(wanted)


def _students_cell(cell: NotebookNode) -> NotebookNode:
    """A cell of the student's own: code, or text to be read."""
    if cell["cell_type"] == "code":
        return nbformat.v4.new_code_cell(cell["source"], metadata={"tags": [STUDENTS]})
    text = cell["source"] if cell["cell_type"] == "markdown" else _as_it_is(cell["source"])
    made = nbformat.v4.new_markdown_cell(text, metadata={"tags": [STUDENTS]})
    with_placeholders(made, cell.get("attachments", {}))
    return made


def _written_into(cell: NotebookNode, released: NotebookNode) -> NotebookNode | None:
    """The lines that a student wrote into a released cell, as text to be read; `None` if there are none."""
    known = set(map(str.strip, released["source"].split("\n")))
    text = "\n".join(line for line in cell["source"].split("\n") if line.strip() not in known)
    if not text.strip():
        return None
    shown = text if cell["cell_type"] == "markdown" else _as_it_is(text)
    said = f"*Written into the cell above:*\n\n{shown}"
    return _students_cell(NotebookNode(cell, cell_type="markdown", source=said))


def _as_it_is(text: str) -> str:
    """Return Markdown that shows a text letter by letter."""
    return "".join(f"    {line}\n" for line in text.split("\n"))


def _same_id(one: NotebookNode, other: NotebookNode) -> bool:
    return (
        bool(one.get("id"))
        and one.get("id") == other.get("id")
        and one.get("cell_type") == other.get("cell_type")
    )


def definitions(source: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes that a cell defines."""
    tree = parse_cell(source)
    return [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))] if tree else []


def _made_in(cell: NotebookNode) -> set[str]:
    """The names that a cell may be the answer for; a test, say, binds some for a while."""
    return _defined(cell["source"]) if grade_id(cell) else defined_names(cell["source"])


def _defined(source: str) -> set[str]:
    return {node.name for node in definitions(source)}


def defined_names(source: str) -> set[str]:
    tree = parse_cell(source)
    return set(bound_names(tree.body)) if tree else set()


def role(cell: NotebookNode) -> str:
    if cell["cell_type"] != "code":
        return "skip"
    if is_solution(cell):
        return "solution"
    if is_grade(cell):
        return "check" if check_task(cell) else "unprotected"
    return "skip" if DEMONSTRATION in tags(cell) else "run"
