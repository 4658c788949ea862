"""Whatever was handed in: the answers get into the released notebook, and nothing else of the file counts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from autograder.grading.assignment.rebuild import CorruptNotebook, Rebuilt, rebuild
from autograder.grading.handed_in.helpers import sources, unread
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import (
    answer,
    cell_named,
    code_cell,
    make_bundle,
    outputs_text,
    released,
    run_judge,
    scores,
    solved,
    submission,
)
from tests.support.rebuilding import CORRUPT, NO_EFFECT

ALL = {"lstm_gates": 2.0, "lstm_cell": 2.0, "LSTMCell": 4.0, "copy_from_torch": 2.0}
BUNDLE = make_bundle()
ANSWERS = {name: answer(name) for name in ALL}


def answers(rebuilt: Rebuilt) -> dict[str, str]:
    """The student's sources of the solution cells."""
    return {name: rebuilt.sources[name] for name in ANSWERS if name in rebuilt.sources}


def of(data: Any) -> Rebuilt:
    return rebuild(data if isinstance(data, bytes) else json.dumps(data).encode(), BUNDLE)


def kinds(rebuilt: Rebuilt) -> list[str]:
    return [finding.kind for finding in rebuilt.findings]


def is_released(rebuilt: Rebuilt) -> None:
    """Everything but the answers is the release: sources, order, metadata, and no output."""
    cells = [
        cell for cell in rebuilt.notebook.cells if "student-added" not in cell["metadata"].get("tags", [])
    ]
    skeleton = BUNDLE.skeleton().cells
    assert [cell["metadata"] for cell in cells] == [cell["metadata"] for cell in skeleton]
    for cell, wanted in zip(cells, skeleton, strict=True):
        if not wanted["metadata"].get("nbgrader", {}).get("solution"):
            assert cell["source"] == wanted["source"]
        assert not cell.get("outputs")
    nbformat.validate(rebuilt.notebook)
    nbformat.writes(rebuilt.notebook).encode()


def test_the_solved_notebook_is_taken_over_and_nothing_is_found():
    rebuilt = of(solved())
    assert answers(rebuilt) == ANSWERS
    assert rebuilt.findings == ()
    is_released(rebuilt)
    assert "demonstration" not in {step.role for step in rebuilt.steps}


@pytest.mark.parametrize("name", NO_EFFECT)
def test_what_has_no_effect(name: str):
    data = solved()
    NO_EFFECT[name](data)
    rebuilt = of(data)
    assert answers(rebuilt) == ANSWERS
    assert "missing_cell" not in kinds(rebuilt)
    assert {step.role for step in rebuilt.steps} <= {"run", "solution", "check", "added"}
    is_released(rebuilt)


def test_old_notebooks_are_read():
    data = nbformat.from_dict(json.loads(submission()))
    nbformat.validate(data)
    for version in (3,):
        old = nbformat.convert(data, version)
        for sheet in old["worksheets"]:
            assert sheet["cells"]
        assert answers(rebuild(json.dumps(old).encode(), BUNDLE)) == ANSWERS


def test_a_missing_cell_is_found_and_the_released_one_stands():
    data = solved()
    data["cells"].remove(cell_named(data, "lstm_cell"))
    rebuilt = of(data)
    assert kinds(rebuilt) == ["missing_cell"]
    assert rebuilt.sources["lstm_cell"] == cell_named(released(), "lstm_cell")["source"]


def test_of_a_cell_that_is_there_twice_the_last_one_changed_counts():
    data = solved()
    stub = json.loads(json.dumps(cell_named(released(), "lstm_cell")))
    other = {**stub, "source": "lstm_cell = 1"}
    data["cells"] = [other, *data["cells"], stub]
    rebuilt = of(data)
    assert kinds(rebuilt) == ["duplicate_cell"]
    assert answers(rebuilt) == ANSWERS


def test_changed_checks_and_set_up_are_the_released_ones():
    data = solved()
    cell_named(data, "check_lstm_cell")["source"] = "10.0"
    cell_named(data, "check_lstm_gates")["source"] = "check = lambda task: 10\ncheck('lstm_gates')"
    cell_named(data, "setup")["source"] = "check = lambda task: 10.0"
    rebuilt = of(data)
    assert kinds(rebuilt) == ["edited_check", "edited_check"]
    is_released(rebuilt)
    added = [step.source for step in rebuilt.steps if step.role == "added"]
    assert added == ["check = lambda task: 10.0"], "a changed set-up runs behind the released one"


def test_tests_and_given_code_of_an_earlier_release_are_no_change_of_the_students():
    data = solved()
    for name, source in {"setup": "import torch", "check_lstm_cell": "assert lstm_cell"}.items():
        cell_named(data, name)["source"] = source
    gone = json.loads(json.dumps(cell_named(data, "check_lstm_cell")))
    gone["metadata"]["nbgrader"]["grade_id"] = "a_test_that_was_taken_out"
    data["cells"].append(gone)
    for cell in (cell_named(data, "setup"), cell_named(data, "check_lstm_cell"), gone):
        cell["metadata"]["nbgrader"]["checksum"] = compute_checksum(nbformat.from_dict(cell))
    rebuilt = of(data)
    assert kinds(rebuilt) == []
    assert [step for step in rebuilt.steps if step.role == "added"] == []
    is_released(rebuilt)


def test_added_cells_keep_their_place():
    data = json.loads(submission(before="first = 1", after={"lstm_gates": "second = 2"}, end="last = 3"))
    order = [(step.role, step.name if step.role == "solution" else step.source) for step in of(data).steps]
    assert order[0] == ("added", "first = 1")
    assert order[order.index(("solution", "lstm_gates")) + 1] == ("added", "second = 2")
    assert order[-1] == ("added", "last = 3")


def test_a_cell_below_a_copy_of_a_released_one_stays_below_what_it_uses():
    data = solved()
    first = next(cell for cell in data["cells"] if cell["cell_type"] == "code")
    data["cells"] += [{**first, "id": "copy", "metadata": {}}, code_cell("lstm_gates")]
    assert [step.source for step in of(data).steps if step.role == "added"] == ["lstm_gates"]
    assert of(data).steps[-1].source == "lstm_gates"


def test_a_marked_cell_that_the_release_does_not_have_is_an_added_one():
    data = solved()
    forged = code_cell("10.0")
    forged["metadata"] = {
        "nbgrader": {"grade": True, "grade_id": "bonus", "points": 100, "schema_version": 3}
    }
    data["cells"].append(forged)
    rebuilt = of(data)
    assert rebuilt.steps[-1].role == "added"
    is_released(rebuilt)


@pytest.mark.parametrize("name", CORRUPT)
def test_what_cannot_be_read_is_corrupt_and_said_so_quickly(name: str):
    started = time.monotonic()
    with pytest.raises(CorruptNotebook) as told:
        of(CORRUPT[name])
    assert time.monotonic() - started < 5
    assert str(told.value).startswith("the file ")


ODD_BUT_READ: dict[str, Callable[[dict[str, Any]], Any]] = {
    "source null": lambda d: d["cells"][0].update(source=None),
    "source a number": lambda d: d["cells"][0].update(source=5),
    "source a dict": lambda d: d["cells"][0].update(source={"a": 1}),
    "source a list of junk": lambda d: d["cells"][0].update(source=[1, None, "x"]),
    "metadata null": lambda d: d["cells"][1].update(metadata=None),
    "metadata a list": lambda d: d["cells"][1].update(metadata=[1]),
    "marks a text": lambda d: d["cells"][1]["metadata"].update(nbgrader="x"),
    "a name that is a list": lambda d: d["cells"][1]["metadata"]["nbgrader"].update(grade_id=["x"]),
    "a type that is a list": lambda d: d["cells"][0].update(cell_type=[]),
    "an unknown type": lambda d: d["cells"][0].update(cell_type="evil"),
    "sixty megabytes of spaces": lambda d: d.update(x=" " * (60 << 20)),
    "fifty megabytes of prints": lambda d: d["cells"][1].update(
        outputs=[{"text": "[1.2345, -2.3456]\n" * (5 << 19)}]
    ),
    "not a number": lambda d: d.update(x=float("nan")),
}


@pytest.mark.parametrize("name", ODD_BUT_READ)
def test_what_is_odd_but_can_be_read(name: str):
    data = solved()
    ODD_BUT_READ[name](data)
    rebuilt = of(data)
    assert answers(rebuilt) == ANSWERS
    is_released(rebuilt)


def test_a_merge_conflict_in_the_file_is_told_with_its_line():
    text = json.dumps(solved(), indent=1).replace('\n   "source": ', '\n<<<<<<< HEAD\n   "source": ', 1)
    with pytest.raises(CorruptNotebook, match=r"marks of a merge conflict \(line \d+\)"):
        of(text.encode())


def test_a_byte_order_mark_is_no_obstacle():
    assert answers(of(b"\xef\xbb\xbf" + submission())) == ANSWERS
    assert answers(of(submission().decode().encode("utf-16"))) == ANSWERS


def test_half_a_surrogate_pair_in_a_source_can_be_written():
    rebuilt = of(submission({"lstm_cell": answer("lstm_cell", append="s = '\ud800'")}, end="'\udfff\x00'"))
    is_released(rebuilt)
    assert rebuilt.sources["lstm_cell"].endswith("s = '?'")


@pytest.mark.parametrize(
    "source", ["[" * 150_000, "x = [" + "[1]," * 60_000 + "]", "-" * 150_000 + "1", "a" + ".a" * 90_000]
)
def test_sources_that_are_hard_to_parse(source: str):
    """Where the marks are gone, the cells are found by what they define, so each is parsed."""
    data = solved()
    NO_EFFECT["Colab"](data)
    data["cells"].append(code_cell(source))
    assert answers(of(data)) == ANSWERS


@pytest.mark.parametrize(
    "line", ["import a" + ".b" * 90_000, "import a" + " . b" * 40_000, "f'" + "{x}" * 60_000 + "'"]
)
def test_code_that_takes_the_parser_seconds_is_left_out(line):
    """The square of its length is what it takes; the bound is for that alone."""
    answer = f"def lstm_gates(*arguments):\n    {line}\n"
    started = time.process_time()
    rebuilt = rebuild(submission({"lstm_gates": answer}, end=line), BUNDLE)
    assert time.process_time() - started < 2
    assert "too many to read" in rebuilt.sources["lstm_gates"]
    assert not any(line in source for source in rebuilt.sources.values())
    beside = {"h.py": line.encode(), "fine.py": b"import torch"}
    assert sources(beside) == {"fine.py": "import torch"}
    (finding,) = unread(beside)
    assert "`h.py`" in finding.message


def test_masses_of_code_are_left_out():
    started = time.monotonic()
    data = json.loads(submission({"copy_from_torch": "#" * 300_000}))
    data["cells"] += [code_cell("#" * 190_000) for _ in range(20)]
    rebuilt = of(data)
    assert sum(len(step.source) for step in rebuilt.steps) < 1_100_000
    assert rebuilt.sources["copy_from_torch"].startswith("# Here were 300000 characters")
    assert {**answers(rebuilt), "copy_from_torch": ANSWERS["copy_from_torch"]} == ANSWERS
    assert time.monotonic() - started < 5


# --- The same, graded --------------------------------------------------------------------------


GRADED = (
    "reversed order",
    "every cell twice",
    "Colab",
    "answers as markdown",
    "changed points",
    "forged outputs",
)


@pytest.mark.parametrize("name", GRADED)
def test_what_has_no_effect_has_none_on_the_score(name: str, workers: ForkServer):
    data = solved()
    NO_EFFECT[name](data)
    graded = run_judge(json.dumps(data).encode(), workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    unsolved = released()
    NO_EFFECT[name](unsolved)
    assert run_judge(json.dumps(unsolved).encode(), workers).verdict.score == 0


def test_a_helper_that_an_answer_needs_is_there_in_time(workers: ForkServer):
    data = json.loads(submission({"lstm_cell": answer("lstm_cell").replace("torch.tanh(", "helper(")}))
    place = data["cells"].index(cell_named(data, "lstm_cell"))
    data["cells"].insert(place, code_cell("import math\ndef helper(value):\n    return torch.tanh(value)"))
    assert scores(run_judge(json.dumps(data).encode(), workers)) == ALL


def test_redefining_check_changes_nothing(workers: ForkServer):
    lie = "check = lambda *a: 10.0\n"
    names = ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch")
    stubs = {name: cell_named(released(), name)["source"] + "\n" + lie for name in names}
    data = json.loads(submission(stubs, before=lie, base=released()))
    for name in names:
        cell_named(data, f"check_{name}")["source"] = lie + f"check('{name}')"
    cell_named(data, "setup")["source"] += "\n" + lie
    assert run_judge(json.dumps(data).encode(), workers).verdict.score == 0


@pytest.mark.parametrize("name", ["empty", "cut", "deep lists", "too many cells"])
def test_a_corrupt_file_gets_a_verdict_and_a_page(name: str, workers: ForkServer):
    raw = CORRUPT[name] if isinstance(CORRUPT[name], bytes) else json.dumps(CORRUPT[name]).encode()
    graded = run_judge(raw, workers)
    assert (graded.verdict.status, graded.verdict.score, graded.verdict.max_score) == ("corrupt", 0, 10)
    assert "About your submission" in graded.notebook


def test_no_file_is_missing(workers: ForkServer):
    assert run_judge(None, workers).verdict.status == "missing"


@pytest.mark.parametrize(
    "below",
    [
        "class LSTMCell(nn.Module):\n    pass",
        "del LSTMCell, lstm_gates",
        "lstm_gates = lstm_cell = LSTMCell = None",
        "%reset -f",
    ],
)
def test_an_experiment_below_takes_no_points(workers: ForkServer, below: str):
    graded = run_judge(submission(after={"check_LSTMCell": below}), workers)
    assert scores(graded) == ALL
    notes = {task.task: task.note for task in graded.verdict.tasks}
    assert ("takes the name `LSTMCell`" in notes["LSTMCell"]) == ("LSTMCell" in below)


def test_a_helper_that_is_mended_below_counts(workers: ForkServer):
    gates = answer("lstm_gates").replace("torch.sigmoid", "squash", 1)
    wrong, right = "def squash(x):\n    return x\n", "def squash(x):\n    return torch.sigmoid(x)\n"
    graded = run_judge(submission({"lstm_gates": wrong + gates}, end=right), workers)
    assert scores(graded) == ALL


def test_an_answer_below_a_cell_that_is_as_it_was_released_counts(workers: ForkServer):
    stub = str(cell_named(released(), "lstm_gates")["source"])
    graded = run_judge(submission({"lstm_gates": stub}, after={"lstm_gates": answer("lstm_gates")}), workers)
    assert scores(graded) == ALL


def test_the_cells_of_an_experiment_see_its_own_version(workers: ForkServer):
    graded = run_judge(
        submission(after={"check_lstm_gates": "lstm_gates = 7", "check_LSTMCell": "print(lstm_gates)"}),
        workers,
    )
    assert scores(graded) == ALL
    assert "function lstm_gates" in outputs_text(graded)
