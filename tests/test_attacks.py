"""A class of attackers, graded by the real command: `attacks/cells.py` and `attacks/files.py` in one batch.

Whatever they do ends with an explicit status, gains nothing, costs nobody else anything and touches
nothing outside. Attacks that only a limit ends are run with smaller limits, by the batch itself.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import secrets
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from attacks.cells import ADDED, CELLS, LOOT, OVER, READING, Attack
from attacks.files import FILES
from helpers import ASSIGNMENT, NOTEBOOK, ROOT, answer, assert_explicit, make_course, released, submission
from nbgrader.utils import determine_grade

import autograder as package
from autograder.grading.course import Course
from autograder.grading.store import assignment_seed
from autograder.worker import kernel

pytestmark = pytest.mark.slow

HONEST = {"ada": 10.0, "fay": 8.0, "right": 10.0, "untouched": 0.0}
SPIES = ("source notebooks", "known mistakes", "verdicts and seed", "home")
"""Attacks that only read: without a wall they may be tried, and must succeed."""
SECRET = "outstanding secret "
LARGEST = 1_000_000
"""Bytes of a graded notebook."""
COMMAND = [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--jobs", "2", "--course"]
IN_LITTLE = """
import sys
from pathlib import Path
from autograder.grading.batch import grade
from autograder.grading.course import Course
from autograder.grading.warm import RunLimits, WarmParent
with WarmParent(RunLimits(1.5, 1.5, 12, 384 << 20)) as workers:
    for done in grade(Course.at(Path(sys.argv[-1])), sys.argv[1], jobs=2, workers=workers):
        print(done.verdict["student"], done.verdict["status"])
"""
"""The batch that the command runs, with limits that make it bearable to wait for them."""


@dataclass
class Place:
    """Where a batch is run: a course, and around it what must not be seen or changed."""

    root: Path
    course: Course
    words: dict[str, str]
    secrets: list[str]
    listeners: list[socket.socket]
    victim: subprocess.Popen[bytes]
    before: dict[str, str] = field(default_factory=dict)
    told: subprocess.CompletedProcess[str] | None = None
    left: list[str] = field(default_factory=list)
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    gradebook: dict[str, float] = field(default_factory=dict)

    def submit(self, student: str, put: Callable[[Path], object]) -> None:
        path = self.path("submitted", student)
        path.parent.mkdir(parents=True)
        put(path)

    def submit_bytes(self, student: str, raw: bytes) -> None:
        self.submit(student, lambda path: path.write_bytes(raw))

    def path(self, step: str, student: str) -> Path:
        return self.course.folder(step, student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb"

    def attack(self, name: str) -> None:
        attack, source = CELLS[name], CELLS[name].source
        for word, meaning in self.words.items():
            source = source.replace(f"@{word}@", meaning)
        cells = {"before": source} if attack.place == ADDED else {"answers": {attack.place: source}}
        self.submit_bytes(student_of("cell", name), submission(base=released(), **cells))

    def snapshot(self) -> dict[str, str]:
        """A hash of everything that grading is not there to write."""
        kept = (
            "course/source",
            "course/release",
            "course/submitted",
            "course/solutions",
            "course/.autograder",
        )
        paths = [self.root / part for part in ("home", "outside", "course/nbgrader_config.py", *kept)]
        paths += [self.root / "course/verdicts" / ASSIGNMENT / "earlier.json"]
        found = {}
        for path in (below for top in paths for below in [top, *top.rglob("*")]):
            state = path.lstat()
            regular = stat.S_ISREG(state.st_mode)
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if regular else ""
            found[str(path)] = f"{state.st_mode} {state.st_uid} {state.st_nlink} {digest}"
        return found

    def run(self, *command: str) -> None:
        self.before = self.snapshot()
        scratch = self.root / "tmp"
        scratch.mkdir()
        surroundings = {**os.environ, "HOME": str(self.root / "home"), "TMPDIR": str(scratch)}
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # whatever is left behind becomes our child
        try:
            mine = {child.pid for child in psutil.Process().children(recursive=True)}
            self.told = subprocess.run(
                [*command, str(self.course.root)],
                capture_output=True,
                text=True,
                cwd="/",
                timeout=900,
                env={**surroundings, "GRADING_TOKEN": self.secrets[0]},
            )
            self.left = _left_of(mine)
        finally:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 0)
        self.left += [str(path) for path in scratch.rglob("*")]
        self._read_records()

    def _read_records(self) -> None:
        for path in self.course.verdict_path("x", ASSIGNMENT).parent.glob("*.json"):
            if self.path("submitted", path.stem).parent.is_dir():
                self.verdicts[path.stem] = json.loads(path.read_text())["verdict"]
        with self.course.gradebook() as book:
            self.gradebook = {s.student.id: s.score for s in book.assignment_submissions(ASSIGNMENT)}

    def graded(self, student: str) -> str:
        return self.path("autograded", student).read_text(encoding="utf-8")


def _left_of(mine: set[int], patience: float = 10) -> list[str]:
    """Processes of a command that has ended, after a moment to finish dying."""
    deadline = time.monotonic() + patience
    while True:
        found = [child for child in psutil.Process().children(recursive=True) if child.pid not in mine]
        alive = [child for child in found if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        if not alive or time.monotonic() > deadline:
            for child in found:
                if child.ppid() == os.getpid() and child not in alive:
                    os.waitpid(child.pid, os.WNOHANG)
            return [f"{child.pid} {child.name()}" for child in alive]
        time.sleep(0.05)


def student_of(kind: str, name: str) -> str:
    """An attack's student id."""
    return f"{kind}-" + re.sub(r"\W+", "-", name)


def _place(root: Path, stack: ExitStack) -> Place:
    """A course with fakes of all that is worth stealing, and services to abuse around it."""
    (root / "course").mkdir()
    course = make_course(root / "course")
    tell = [SECRET + secrets.token_hex(12) for _ in range(7)]
    for number, where in enumerate((
        "course/source/notes.txt", "course/solutions/mistakes/notes.toml", "home/.ssh/id_ed25519",
        f"course/verdicts/{ASSIGNMENT}/earlier.json", "outside/notes.txt",
    ), 1):  # fmt: skip
        (root / where).parent.mkdir(parents=True, exist_ok=True)
        (root / where).write_text(tell[number] + "\n")
    for path in (root, root / "home", root / "home/.ssh", root / "outside"):
        path.chmod(0o777)
    for path in ("home/.ssh/id_ed25519", "outside/notes.txt"):
        (root / path).chmod(0o666)
    seed = assignment_seed(course, ASSIGNMENT)
    drawn = (root / "course/.autograder/seed").read_text().strip()
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = tcp.getsockname()[1]
    listeners = [tcp]
    abstract = f"attacked-{secrets.token_hex(4)}"
    for kind, address in (
        (socket.SOCK_STREAM, "\0" + abstract),
        (socket.SOCK_STREAM, str(root / "outside/socket")),
    ):
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        listener.bind(address)
        listener.listen()
        listeners.append(listener)
    (root / "outside/socket").chmod(0o777)
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", port))
    listeners.append(udp)
    victim = subprocess.Popen(["sleep", "3000"], env={"VICTIM": tell[6]}, start_new_session=True)
    stack.callback(victim.wait)
    stack.callback(victim.kill)
    words = {
        "COURSE": str(course.root), "HOME": str(root / "home"), "OUTSIDE": str(root / "outside"),
        "PEER": str(course.folder("submitted", "ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"),
        "PACKAGE": str(Path(package.__file__).parent), "VICTIM": str(victim.pid), "PORT": str(port),
        "ABSTRACT": abstract,
    }  # fmt: skip
    peer = SECRET + secrets.token_hex(12)
    place = Place(root, course, words, [*tell, peer, str(seed), drawn], listeners, victim)
    place.submit_bytes("ada", submission({"lstm_gates": answer("lstm_gates", append=f"# {peer}")}))
    wrong = "def copy_from_torch(cell, torch_cell):\n    return None"
    place.submit_bytes("fay", submission({"copy_from_torch": wrong}))
    place.submit_bytes("right", submission())
    place.submit_bytes("untouched", submission(base=released()))
    return place


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Everybody who does not have to be waited for, by the real command."""
    with ExitStack() as stack:
        place = _place(tmp_path_factory.mktemp("attacks"), stack)
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
        place = _place(tmp_path_factory.mktemp("attacks"), stack)
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
    """What is written over the checks that students never see."""
    tree = ast.parse((ROOT / "autograder/exercises/lstm_cell/test_LSTMCell.py").read_text())
    found = [
        ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and "hidden(" in "".join(map(ast.unparse, node.decorator_list))
    ]
    assert all(found)
    assert found
    return found


def outputs(text: str) -> str:
    """All that a graded notebook shows, but for the cards that we put there."""
    cells = json.loads(text)["cells"]
    return json.dumps([c.get("outputs", []) for c in cells if not _is_check(c)], ensure_ascii=False)


def _is_check(cell: dict[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("grade"))


def nbgraders_score(text: str) -> float:
    """What nbgrader itself would read out of the graded notebook."""
    cells = nbformat.reads(text, as_version=4).cells
    return sum(determine_grade(cell)[0] for cell in cells if _is_check(cell))


def assert_presentable(place: Place, student: str, titles: list[str]) -> str:
    """The graded notebook is one, of a bounded size, says the score of the verdict and holds no secret."""
    verdict, text = place.verdicts[student], place.graded(student)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert len(text.encode()) < LARGEST
    assert nbgraders_score(text) == verdict["score"] == place.gradebook[student]
    told = text + json.dumps([verdict["findings"], verdict["tasks"]], ensure_ascii=False)
    for secret in place.secrets:
        assert secret not in told
    for title in titles:
        assert title not in text
    shown = outputs(text)
    messages = [finding["message"] for finding in verdict["findings"]]
    messages += [check["message"] for task in verdict["tasks"] for check in task["checks"]]
    assert not set("".join(messages)) & set("\x00\x07\x1b\x9b"), "characters that steer a terminal"
    for cell in json.loads(text)["cells"]:
        for output in cell.get("outputs", []):
            assert "<script" not in "".join(output.get("data", {}).get("text/html", ""))
    return shown


@pytest.mark.parametrize("name", CELLS)
def test_a_hostile_cell(name: str, request: pytest.FixtureRequest, hidden_titles: list[str]):
    attack: Attack = CELLS[name]
    place = request.getfixturevalue("patient_batch" if attack.hangs else "batch")
    student = student_of("cell", name)
    verdict = place.verdicts[student]
    assert_explicit(verdict)
    assert verdict["status"] != "infra_error"
    shown = assert_presentable(place, student, hidden_titles)
    assert LOOT not in shown + json.dumps(verdict["tasks"])
    if OVER in attack.source:
        assert OVER in shown, "the attack came to its end"
    if attack.known and verdict["score"] > attack.earns:
        assert "unusual_code" in {finding["kind"] for finding in verdict["findings"]}
        pytest.xfail(attack.known)
    assert not attack.known, "it gains nothing any more: say so in the list of attacks"
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
    table = (ROOT / "docs/security.md").read_text(encoding="utf-8").partition("| attack | layers")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = {name for line in rows for cell in line.split("|")[2:] for name in re.findall("`([^`]+)`", cell)}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py"))
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
        place = _place(tmp_path, stack)
        for name in SPIES:
            assert name in READING
            place.attack(name)
        place.run(*COMMAND[:-1], "--unsafe", COMMAND[-1])
        for name in SPIES:
            shown = outputs(place.graded(student_of("cell", name)))
            assert LOOT in shown, name
            assert any(secret in shown for secret in place.secrets), name
