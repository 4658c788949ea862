"""What works in a student's notebook works when it is graded: the same cells in a kernel and in a worker."""

from __future__ import annotations

import ast
import copy
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import nbclient
import nbformat
import pytest

from autograder.grading.assignment.bundle import DEMONSTRATION
from autograder.grading.assignment.cells import tags
from autograder.grading.handed_in.folder import File, HandedIn
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import ROOT, cell_named, code_cell, make_bundle, run_judge, scores, solved
from tests.support.parity_cases import BESIDE, COMPILED, FILES, MAGICS, PYTHON, SHELL, WIDE, Case

NOTEBOOKS: dict[str, tuple[str, tuple[str, ...], Sequence[Case]]] = {
    "shell and magics": ("03_lstm_cell", ("lstm_gates", "lstm_cell", "LSTMCell"), SHELL + MAGICS),
    "files and Python": ("02_rnn_cell", ("rnn_cell", "rnn_layer", "run_stepwise"), FILES + PYTHON),
    "compilers and settings": (
        "04_lstm_layer",
        ("to_time_major", "run_lstm_cell", "LSTMLayer"),
        COMPILED + WIDE,
    ),
}
"""By name: the assignment, the tasks whose answers use the cases, and the cases."""
FOREIGN = "trove_classifiers"
"""A package that is here for the building of wheels: nothing of a course brings it."""


@dataclass(frozen=True)
class Ran:
    """One notebook after a run: by case the outputs of its cells, and by task its points."""

    outputs: dict[str, list[list[dict[str, Any]]]]
    points: dict[str, float]
    cards: str = ""
    """The texts of all cards that a student sees."""


def notebook_of(name: str) -> dict[str, Any]:
    """The solved notebook with the cases' cells in front of the answers that use them.

    Demonstrations, which grading leaves out, are left out: they would train what the cases slow down.
    """
    assignment, tasks, cases = NOTEBOOKS[name]
    data = copy.deepcopy(solved(assignment))
    data["cells"] = [cell for cell in data["cells"] if DEMONSTRATION not in tags(cell)]
    for number, task in enumerate(tasks):
        cell = cell_named(data, task)
        mine = {f"same_{cases.index(case)}": case for case in cases[number :: len(tasks)]}
        added = [code_cell(named(source, same)) for same, case in mine.items() for source in case.cells]
        place = data["cells"].index(cell)
        data["cells"][place:place] = added
        cell["source"] = beginning_with(cell["source"], task, [f"x = {same}(x)" for same in mine])
    cell_named(data, tasks[0])["source"] += f"\n!echo from a task\nimport {FOREIGN}\n"
    return data


def named(source: str, same: str) -> str:
    return source.replace("SAME", same)


def beginning_with(source: str, task: str, lines: Sequence[str]) -> str:
    """The source of an answer with lines at the beginning of the function, or of the class's `forward`."""
    node = next(node for node in ast.parse(source).body if getattr(node, "name", "") == task)
    if isinstance(node, ast.ClassDef):
        node = next(each for each in node.body if getattr(each, "name", "") == "forward")
    first = next(each for each in node.body if not isinstance(getattr(each, "value", None), ast.Constant))
    written = source.split("\n")
    written[first.lineno - 1 : first.lineno - 1] = [" " * first.col_offset + line for line in lines]
    return "\n".join(written)


def outputs_by_case(name: str, cells: Sequence[Any]) -> dict[str, list[list[dict[str, Any]]]]:
    cases = NOTEBOOKS[name][2]
    by_source = {cell["source"]: cell["outputs"] for cell in cells if cell["cell_type"] == "code"}
    return {
        case.name: [by_source[named(source, f"same_{number}")] for source in case.cells]
        for number, case in enumerate(cases)
    }


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """Each notebook as "Restart and run all" leaves it, in a real kernel."""

    @cache
    def ran(name: str) -> Ran:
        assignment = NOTEBOOKS[name][0]
        folder = tmp_path_factory.mktemp("student")
        for file in (ROOT / "release" / assignment).glob("*.*"):
            shutil.copyfile(file, folder / file.name)
        for path, raw in BESIDE.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(raw)
        notebook = nbformat.from_dict(notebook_of(name))
        there = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(
            notebook, resources=there, kernel_name="python3", timeout=120, allow_errors=True
        ).execute()
        shown = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
        cards = "".join(output["data"].get("text/plain", "") for output in shown)
        return Ran(outputs_by_case(name, notebook.cells), points_of(notebook), cards)

    return ran


def points_of(notebook: Any) -> dict[str, float]:
    """The values of the cells `check("…")`."""
    found = {}
    for cell in notebook.cells:
        if cell["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("check_"):
            results = [
                o["data"]["text/plain"] for o in cell["outputs"] if o["output_type"] == "execute_result"
            ]
            task = cell["metadata"]["nbgrader"]["grade_id"].removeprefix("check_")
            found[task] = float(results[-1]) if results else -1.0
    return found


@pytest.fixture(scope="module")
def graded(workers: ForkServer):
    """Each notebook as grading leaves it."""

    @cache
    def ran(name: str) -> Ran:
        handed_in = HandedIn(
            json.dumps(notebook_of(name)).encode(),
            beside=tuple(File(path, raw) for path, raw in BESIDE.items()),
        )
        judged = run_judge(handed_in, workers, make_bundle(NOTEBOOKS[name][0]))
        return Ran(outputs_by_case(name, nbformat.reads(judged.notebook, as_version=4).cells), scores(judged))

    return ran


def marks_of(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Return the marks of a notebook's tests: one of them is run in `make test`."""
    return () if name == next(iter(NOTEBOOKS)) else (pytest.mark.slow,)


CASES = [
    pytest.param(name, case, id=case.name, marks=marks_of(name))
    for name, (_, _, cases) in NOTEBOOKS.items()
    for case in cases
]


def stopped(outputs: Sequence[Sequence[dict[str, Any]]]) -> list[str]:
    return [f"{o['ename']}: {o['evalue']}" for cell in outputs for o in cell if o["output_type"] == "error"]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_a_cell_runs_to_its_end_in_both(name: str, case: Case, jupyter, graded):
    there, here = jupyter(name).outputs[case.name], graded(name).outputs[case.name]
    assert stopped(there) == []
    assert stopped(here) == []
    told = "".join(o["text"] for cell in here for o in cell if o["output_type"] == "stream")
    for what in case.left_out:
        assert "left out: " in told
        assert what in told


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in NOTEBOOKS])
def test_what_the_cells_made_earns_all_points_in_both(name: str, jupyter, graded):
    whole = make_bundle(NOTEBOOKS[name][0]).tasks
    assert jupyter(name).points == whole
    assert graded(name).points == whole


@pytest.mark.slow
def test_what_will_not_be_there_is_said_beforehand_and_once(jupyter):
    for name in NOTEBOOKS:
        cards = jupyter(name).cards
        assert cards.count(f"`{FOREIGN}`: not available when this is graded") == 1
        assert cards.count("Shell lines in this cell are skipped when it is graded.") == 1
