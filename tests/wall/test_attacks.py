"""A class of attackers, graded by the real command: `attacks/cells.py` and `attacks/files.py` in one batch.

Whatever they do ends with an explicit status, gains nothing, costs nobody else anything and touches
nothing outside. Attacks that only a limit ends are run with smaller limits, by the batch itself.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

import autograder as package
from autograder.checking.runner.collection import collect
from tests.attacks.cells import CELLS, LOOT, OVER, READING, Attack
from tests.attacks.files import FILES
from tests.support.helpers import ASSIGNMENT, ROOT, assert_explicit
from tests.support.hostile.attackers import (
    COMMAND,
    IN_LITTLE,
    Place,
    assert_presentable,
    make_place,
    outputs,
    student_of,
)

pytestmark = pytest.mark.slow

HONEST = {"ada": 10.0, "fay": 8.0, "right": 10.0, "untouched": 0.0}
SPIES = ("source notebooks", "known mistakes", "verdicts and seed", "home")
"""Attacks that only read: without a wall they may be tried, and must succeed."""


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Everybody who does not have to be waited for, by the real command."""
    with ExitStack() as stack:
        place = make_place(tmp_path_factory.mktemp("attacks"), stack)
        for name, attack in CELLS.items():
            if not attack.hangs:
                place.attack(name)
        for name, spoiled in FILES.items():
            place.submit(student_of("file", name), spoiled.put)
        place.run(*COMMAND)
        yield place


@pytest.fixture(scope="module")
def patient_batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The attacks that only a limit ends."""
    with ExitStack() as stack:
        place = make_place(tmp_path_factory.mktemp("attacks"), stack)
        for name, attack in CELLS.items():
            if attack.hangs:
                place.attack(name)
        place.run(sys.executable, "-c", IN_LITTLE, ASSIGNMENT)
        yield place


@pytest.fixture(params=["batch", "patient_batch"])
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def hidden_titles() -> list[str]:
    """The titles of the checks that students never see."""
    checks = collect(ROOT / "autograder" / "exercises" / "lstm_cell")
    found = [check.title for check in checks.all if check.instead is not None]
    assert found
    return found


@pytest.mark.parametrize("name", CELLS)
def test_a_hostile_cell(name: str, request: pytest.FixtureRequest, hidden_titles: list[str]):
    attack: Attack = CELLS[name]
    place = request.getfixturevalue("patient_batch" if attack.hangs else "batch")
    student = student_of("cell", name)
    verdict = place.verdicts[student]
    assert_explicit(verdict)
    assert verdict["status"] != "infra_error"
    shown = assert_presentable(place, student, hidden_titles)
    told = shown + json.dumps([verdict["tasks"], verdict["findings"]])
    assert LOOT not in told
    assert attack.told in told
    if OVER in attack.source:
        assert OVER in shown, "the attack came to its end"
    assert verdict["score"] == attack.earns


@pytest.mark.parametrize("name", FILES)
def test_a_spoiled_file(name: str, batch: Place, hidden_titles: list[str]):
    spoiled = FILES[name]
    verdict = batch.verdicts[student_of("file", name)]
    assert_explicit(verdict)
    assert (verdict["status"], verdict["score"], verdict["max_score"]) == (
        spoiled.status,
        spoiled.score,
        10.0,
    )
    if spoiled.finding:
        assert spoiled.finding in {finding["kind"] for finding in verdict["findings"]}
    assert_presentable(batch, student_of("file", name), hidden_titles)


def test_there_are_as_many_as_promised():
    assert len(CELLS) >= 40
    assert len(FILES) >= 20
    assert len({student_of("", name) for name in CELLS}) == len(CELLS)
    assert len({student_of("", name) for name in FILES}) == len(FILES)


def test_what_the_documentation_names_is_there():
    table = (ROOT / "tests/attacks/README.md").read_text(encoding="utf-8").partition("| attack | layers")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = {name for line in rows for cell in line.split("|")[2:] for name in re.findall("`([^`]+)`", cell)}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    names = {name for name in named if not name.endswith((".py", "…"))} - CELLS.keys()
    assert [name for name in sorted(names) if f"def test_{name}(" not in tests] == []
    assert len(rows) > 15


def test_the_batch_ends_well_and_everybody_is_on_record(place: Place):
    assert place.told is not None
    assert place.told.returncode == 0, place.told.stderr
    assert "Traceback" not in place.told.stderr
    submitted = {path.name for path in (place.course.root / "submitted").iterdir()}
    assert set(place.verdicts) == set(place.gradebook) == submitted
    assert not set("\x07\x1b\x9b") & set(place.told.stdout + place.told.stderr)


def test_honest_scores_are_exact(place: Place):
    found = {student: place.verdicts[student] for student in HONEST}
    assert {student: (v["status"], v["score"]) for student, v in found.items()} == {
        student: ("graded", score) for student, score in HONEST.items()
    }
    assert {student: place.gradebook[student] for student in HONEST} == HONEST


def test_nothing_outside_was_changed(place: Place):
    assert place.snapshot() == place.before
    assert not list(Path(package.__file__).parent.rglob("attacked.*"))
    mine = {"verdicts", "autograded", "submitted", "source", "release", "solutions", ".autograder"}
    assert {path.name for path in place.course.root.iterdir()} == mine | {
        "gradebook.db",
        "nbgrader_config.py",
    }
    verdicts = {path.name for path in (place.course.root / "verdicts" / ASSIGNMENT).iterdir()}
    assert verdicts == {f"{student}.json" for student in (*place.verdicts, "earlier")}
    assert place.victim.poll() is None
    assert psutil.Process(place.victim.pid).status() != psutil.STATUS_STOPPED
    assert not any(
        Path("/tmp", name).exists() for name in ("owned", "stolen", "way", "shadowed", "unpickled")
    )


def test_nobody_outside_was_talked_to(place: Place):
    for listener in place.listeners:
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(100)


def test_nothing_is_left_running_or_lying_about(place: Place):
    assert place.left == []


def test_without_a_wall_the_spies_see_everything(tmp_path: Path):
    """Else the attacks above would prove nothing. With `--unsafe` there is no confinement."""
    with ExitStack() as stack:
        place = make_place(tmp_path, stack)
        for name in SPIES:
            assert name in READING
            place.attack(name)
        place.run(*COMMAND[:-1], "--unsafe", COMMAND[-1])
        for name in SPIES:
            shown = outputs(place.graded(student_of("cell", name)))
            assert LOOT in shown, name
            assert any(secret in shown for secret in place.secrets), name
