"""Files beside the notebook are there at grading, and points lost to technicalities are told to a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.grading.course.course import Course
from autograder.grading.handed_in.helpers import used
from tests.support.courses import run
from tests.support.helpers import (
    ASSIGNMENT,
    answer,
    autograder,
    autograder_here,
    cell_named,
    code_cell,
    make_course,
    solved,
    submission,
)
from tests.support.intake import EXPECTED, hand_in, zipped

GATES = answer("lstm_gates")
OWN = "from helpers import joined\n" + GATES
HELPERS = b"import torch\n\ndef joined(a, b):\n    return torch.cat([a, b], dim=-1)\n"
DATA = 'import csv\nassert open("sizes.csv").read() == "1,2\\n"\n' + GATES
GIVEN = "import given\nassert given.BY == 'instructor'\n" + GATES
RENAMED = GATES.replace("def lstm_gates", "def my_gates")
LINES = [line for line in GATES.split("\n") if "SOLUTION" not in line]


def split(end: str, begin: str, close: str = "") -> bytes:
    """The first answer broken before its `return`, the rest in a cell of its own."""
    data = json.loads(submission({"lstm_gates": "\n".join(LINES[:-1]) + end}))
    place = data["cells"].index(cell_named(data, "lstm_gates"))
    data["cells"].insert(place + 1, code_cell(begin + LINES[-1].strip().removeprefix("return ") + close))
    return json.dumps(data).encode()


def misplaced() -> str:
    """The answer with one line a blank too far to the right."""
    return "\n".join([*LINES[:-1], " " + LINES[-1]])


HONEST: dict[str, dict[str, bytes]] = {
    "own": {EXPECTED: submission({"lstm_gates": OWN}), "helpers.py": HELPERS},
    "own-zipped": {
        "hw.zip": zipped({f"hw/{EXPECTED}": submission({"lstm_gates": OWN}), "hw/helpers.py": HELPERS})
    },
    "data": {EXPECTED: submission({"lstm_gates": DATA}), "sizes.csv": b"1,2\n"},
    "folder": {
        EXPECTED: submission({"lstm_gates": "from tools.more import joined\n" + GATES}),
        "tools/more.py": HELPERS,
        "tools/__init__.py": b"",
    },
    "given": {
        EXPECTED: submission({"lstm_gates": "import given\nassert given.BY == 'instructor'\n" + GATES})
    },
    "changed": {
        EXPECTED: submission({"lstm_gates": GIVEN}),
        "given.py": b"BY = 'student'\n",
    },
    "readme": {EXPECTED: submission(), "README.txt": b"I worked alone.\n"},
}
"""Right answers that need what lies beside them."""
LOST: dict[str, tuple[str, bytes]] = {
    "absent": ("missing_module", submission({"lstm_gates": OWN})),
    "renamed": (
        "renamed_function",
        submission({"lstm_gates": RENAMED}),
    ),
    "misplaced": ("indentation", submission({"lstm_gates": misplaced()})),
    "split": ("split_cell", split("", "    return ")),
    "split-inside": ("split_cell", split("\n    return (", "        ", ")")),
}
"""By student, the kind of finding, and a notebook that loses the points of one task to it."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = make_course(tmp_path_factory.mktemp("course"))
    (course.folder("source", ".", ASSIGNMENT) / "given.py").write_text("BY = 'instructor'\n")
    for student, files in HONEST.items():
        hand_in(course, student, files)
    for student, (_, raw) in LOST.items():
        hand_in(course, student, {EXPECTED: raw})
    hand_in(course, "plain", {EXPECTED: json.dumps(solved()).encode()})
    return course


@pytest.fixture(scope="module")
def verdicts(course: Course) -> dict[str, dict[str, Any]]:
    """Grade with the real command, and return the verdicts."""
    told = autograder("grade", ASSIGNMENT, "--jobs", "2", "--course", course.root)
    assert told.returncode == 0, told.stderr
    found = json.loads(autograder_here("results", ASSIGNMENT, "--json", "--course", course.root).stdout)
    return {verdict["student"]: verdict for verdict in found}


def kinds(verdict: dict[str, Any]) -> set[str]:
    return {finding["kind"] for finding in verdict["findings"]}


@pytest.mark.parametrize("student", HONEST)
@pytest.mark.slow
def test_what_lies_beside_the_notebook_is_there_when_it_is_graded(student, verdicts):
    assert verdicts[student]["score"] == 10.0, verdicts[student]["tasks"][0]


@pytest.mark.slow
def test_a_person_is_told_whose_files_were_used(verdicts):
    told = {student: verdicts[student]["findings"] for student in ("own", "folder", "data", "changed")}
    assert [finding["kind"] for finding in told["own"]] == ["helper_file"]
    assert "The notebook uses `helpers.py`" in told["own"][0]["message"]
    assert "`tools/more.py`" in told["folder"][0]["message"]
    assert "`sizes.csv`" in told["data"][0]["message"]
    assert "the released one was used" in told["changed"][0]["message"]
    assert not verdicts["readme"]["findings"], "what no cell mentions needs nobody"
    assert not verdicts["given"]["findings"]
    assert not verdicts["plain"]["findings"]


@pytest.mark.parametrize(
    ("path", "code", "is_told"),
    [
        ("lstm_cell.pdf", "def lstm_cell(x):\n    return x", False),
        ("step.txt", "for step in x: pass", False),
        ("notes.csv", "open('data/notes.csv')", True),
        ("tools/more.py", "from tools.more import joined", True),
        ("more.py", "more = 1", False),
        ("more.py", "    import torch, more as m", True),
        ("more.py", "%run more.py", True),
    ],
)
def test_a_file_is_used_where_its_name_or_an_import_stands(path: str, code: str, is_told: bool):
    assert bool(used({path: b""}, [code])) is is_told


@pytest.mark.parametrize("student", LOST)
@pytest.mark.slow
def test_points_lost_to_a_technicality_are_told_to_a_person(student, course, verdicts):
    kind = LOST[student][0]
    assert verdicts[student]["score"] == 8.0
    assert kinds(verdicts[student]) - {"cell_error"} == {kind}
    report = json.loads(autograder_here("report", ASSIGNMENT, "--json", "--course", course.root).stdout)
    assert kind in {reason["kind"] for reason in report["attention"] if reason["student"] == student}


@pytest.mark.slow
def test_nbgrader_autograde_finds_the_files_too(course, verdicts, tmp_path):
    fresh = make_course(tmp_path)
    (fresh.folder("source", ".", ASSIGNMENT) / "given.py").write_text("BY = 'instructor'\n")
    for student in ("own", "changed"):
        hand_in(fresh, student, HONEST[student])
    told = run(fresh.root, "nbgrader", "autograde", ASSIGNMENT)
    assert told.returncode == 0, told.stderr
    for student in ("own", "changed"):
        path = fresh.root / "verdicts" / ASSIGNMENT / f"{student}.json"
        verdict = json.loads(path.read_text())["verdict"]
        assert (verdict["score"], verdict["findings"]) == (10.0, verdicts[student]["findings"])


@pytest.mark.slow
def test_a_changed_helper_is_judged_again_and_an_untouched_one_is_not(course, verdicts, tmp_path):
    fresh = make_course(tmp_path)
    folder = hand_in(fresh, "own", HONEST["own"])

    def graded() -> float:
        told = autograder_here("grade", ASSIGNMENT, "--jobs", "1", "--course", fresh.root)
        assert told.returncode == 0, told.stderr
        path = fresh.root / "verdicts" / ASSIGNMENT / "own.json"
        return float(json.loads(path.read_text())["verdict"]["score"])

    notebook = fresh.root / "autograded" / "own" / ASSIGNMENT / EXPECTED
    assert graded() == 10.0
    before = notebook.stat().st_mtime_ns
    assert graded() == 10.0
    assert notebook.stat().st_mtime_ns == before
    (folder / "helpers.py").write_text("raise ValueError\n")
    assert graded() == 8.0


def test_nothing_of_a_students_is_imported_on_the_trusted_side(tmp_path: Path):
    """Reading a folder runs nothing in it, and looking for a module does not import it."""
    from autograder.grading.handed_in.technical import _installed

    (tmp_path / "loud.py").write_text("raise SystemExit('imported')\n")
    assert not _installed("loud")
    assert _installed("torch")
