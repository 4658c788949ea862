"""Any file at all is rebuilt into the released notebook or told as corrupt, and nothing else happens."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import nbformat
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import is_as_released
from autograder.grading.assignment.rebuild import CorruptNotebook, Rebuilt, read_notebook, rebuild
from tests.support.properties import PARTS, QUICK, changed, damaged, trees

ASSIGNMENTS = ("01_shapes", "03_lstm_cell", "09_ragged_batches")
DEEP = "(deep)"
"""The text that is written as lists in lists."""


# Read here: what `tests.support.helpers` imports takes longer than these tests.


def committed(kind: str, assignment: str) -> str:
    file = Path(__file__).parents[3] / kind / assignment / f"{assignment[3:]}.ipynb"
    return file.read_text(encoding="utf-8")


BUNDLES = {each: Bundle(each, each[3:], committed("release", each)) for each in ASSIGNMENTS}
HANDED_IN = {
    (kind, each): json.loads(committed(kind, each))
    for kind in ("release", "solutions")
    for each in ASSIGNMENTS
}
"""Notebooks that are right before they are changed, as students got them and with every answer in them."""
CELLS = [cell for data in HANDED_IN.values() for cell in data["cells"]]

FIELDS = (
    "cells",
    "cell_type",
    "source",
    "input",
    "metadata",
    "nbgrader",
    "grade_id",
    "solution",
    "id",
    "level",
)
KEYS = st.sampled_from(FIELDS)
WORDS = st.sampled_from(
    ["code", "markdown", "raw", "heading", "html", "lstm_cell", "x", "", DEEP, "check('x')"]
)
ODD = trees(PARTS | WORDS | KEYS, KEYS)
"""Parts that a notebook may have somewhere, but not here."""

MARKS = st.fixed_dictionaries(
    {}, optional={"grade_id": WORDS | ODD, "solution": st.booleans() | ODD, "grade": ODD}
).map(lambda marks: {"nbgrader": marks})
ODD_CELL = st.fixed_dictionaries(
    {"cell_type": WORDS},
    optional={"source": ODD, "input": ODD, "metadata": MARKS | ODD, "id": ODD, "level": ODD},
)
CELL = st.sampled_from(CELLS).flatmap(lambda cell: changed(cell, ODD, most=2)) | ODD_CELL
VERSIONS = st.sampled_from([*[4] * 10, 3, 3, 3, 2, 1, 0, 5, -4, 4.0, True, None, "4", 10**30, [4]])
NOTEBOOKS = st.fixed_dictionaries(
    {"nbformat": VERSIONS},
    optional={
        "nbformat_minor": st.integers(-1, 9) | PARTS,
        "metadata": ODD,
        "cells": st.lists(CELL, max_size=3) | ODD,
        "worksheets": st.lists(st.fixed_dictionaries({"cells": st.lists(CELL, max_size=3)}), max_size=2)
        | ODD,
    },
)


ODD_CELLS = st.lists(ODD_CELL, max_size=3).map(lambda cells: {"nbformat": 4, "cells": cells})


def written(data: Any, deep: int) -> bytes:
    """JSON data as a file, with so many lists in each other where it says `DEEP`."""
    return json.dumps(data).replace(f'"{DEEP}"', "[" * deep + "]" * deep).encode()


def rebuilt_or_told(raw: bytes, assignment: str) -> Rebuilt | None:
    """Return what is rebuilt, or `None` if the file is told as corrupt; either is soon done."""
    started = time.process_time()
    rebuilt, told = None, ""
    try:
        rebuilt = rebuild(raw, BUNDLES[assignment])
    except CorruptNotebook as error:
        told = str(error)
    assert told.startswith("the file ") or rebuilt is not None
    assert time.process_time() - started < 3
    if rebuilt is not None:
        assert_released(rebuilt, raw, assignment)
    return rebuilt


def assert_released(rebuilt: Rebuilt, raw: bytes, assignment: str) -> None:
    """Fail unless the cells are the released ones, in order, but for answers and added cells."""
    cells, skeleton = rebuilt.notebook.cells, BUNDLES[assignment].skeleton()
    submitted = read_notebook(raw).cells
    handed_in = [cell["source"] for cell in submitted]
    added = [cell for cell in cells if "student-added" in cell["metadata"].get("tags", [])]
    kept = [cell for cell in cells if cell not in added]
    assert list(map(without_source, kept)) == list(map(without_source, skeleton.cells))
    for cell, wanted in zip(kept, skeleton.cells, strict=True):
        if wanted["metadata"].get("nbgrader", {}).get("solution"):
            assert cell["source"] in (wanted["source"], *handed_in)
        else:
            assert cell["source"] == wanted["source"]
    for cell in added:
        if cell["cell_type"] == "code":
            assert cell["source"] in handed_in
    shown = "\n".join(cell["source"] for cell in cells)
    for each in submitted:  # nothing that a student wrote is lost
        assert is_as_released(each) or all(line.strip() in shown for line in each["source"].split("\n"))
    assert {**rebuilt.notebook, "cells": ()} == {**skeleton, "cells": ()}
    assert [(step.source, step.role == "added") for step in rebuilt.steps] == [
        (cells[step.index]["source"], cells[step.index] in added) for step in rebuilt.steps
    ]
    assert not any(cells[step.index]["cell_type"] == "markdown" for step in rebuilt.steps)
    assert len({cell["id"] for cell in cells}) == len(cells)
    nbformat.validate(copy.deepcopy(rebuilt.notebook))
    nbformat.writes(rebuilt.notebook).encode()
    rebuilt.digest()
    for finding in rebuilt.findings:
        assert finding.message


def without_source(cell: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in cell.items() if key != "source"}


@settings(QUICK, max_examples=100)
@given(st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode()))
def test_any_bytes_are_told_as_corrupt(raw: bytes):
    assert rebuilt_or_told(raw, ASSIGNMENTS[0]) is None


@settings(QUICK, max_examples=150)
@given(ODD | NOTEBOOKS | ODD_CELLS | ODD_CELLS, st.sampled_from([3, 300, 900, 100_000]))
@example({"nbformat": 4, "cells": [{"cell_type": "code"}]}, 3)
def test_any_json_is_rebuilt_or_told_as_corrupt(data: Any, deep: int):
    rebuilt_or_told(written(data, deep), ASSIGNMENTS[1])


@settings(QUICK, max_examples=150)
@given(st.data())
def test_a_notebook_with_parts_changed_is_rebuilt_or_told_as_corrupt(data: st.DataObject):
    assignment = data.draw(st.sampled_from(ASSIGNMENTS))
    handed_in = data.draw(changed(data.draw(st.sampled_from(list(HANDED_IN.values()))), ODD | CELL, most=6))
    rebuilt_or_told(written(handed_in, data.draw(st.sampled_from([3, 300, 900, 100_000]))), assignment)


@settings(QUICK, max_examples=50)
@given(st.data())
def test_the_bytes_of_a_notebook_with_places_changed_are_rebuilt_or_told_as_corrupt(data: st.DataObject):
    assignment = data.draw(st.sampled_from(ASSIGNMENTS))
    raw = committed(data.draw(st.sampled_from(["release", "solutions"])), assignment).encode()
    rebuilt_or_told(data.draw(damaged(raw)), assignment)


@settings(QUICK, max_examples=50)
@given(st.data())
def test_whatever_is_changed_outside_of_the_cells_answers_are_found(data: st.DataObject):
    """The file's own metadata, outputs and what else a front end may put in have no effect."""
    assignment = data.draw(st.sampled_from(ASSIGNMENTS))
    handed_in = copy.deepcopy(HANDED_IN["solutions", assignment])
    wanted = rebuild(written(handed_in, 3), BUNDLES[assignment])
    handed_in["metadata"] = data.draw(ODD)
    for cell in data.draw(st.lists(st.sampled_from(handed_in["cells"]), max_size=8)):
        field = data.draw(st.sampled_from(["outputs", "execution_count", "attachments", "id", "x"]))
        cell[field] = data.draw(ODD)
    seen = rebuilt_or_told(written(handed_in, 3), assignment)
    assert seen is not None
    assert (seen.sources, seen.findings) == (wanted.sources, wanted.findings)
