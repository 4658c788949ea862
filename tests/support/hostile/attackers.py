"""A place where a class of attackers is graded: a course, what is worth stealing, and what is left."""

from __future__ import annotations

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
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbgrader.utils import determine_grade

import autograder as package
from autograder.grading.course.course import Course
from autograder.grading.records.store import assignment_seed
from autograder.worker.sandbox import syscalls
from tests.attacks.cells import ADDED, CELLS
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, answer, make_course, released, submission

SECRET = "outstanding secret "
LARGEST = 1_000_000
"""Bytes of a graded notebook."""
COMMAND = [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--jobs", "2", "--course"]
IN_LITTLE = """
import sys
from pathlib import Path
from autograder.grading.batch import grade
from autograder.grading.judging.judge_pool import LocalJudges
from autograder.grading.course.course import Course
from autograder.grading.workers.forkserver import RunLimits, ForkServer
with ForkServer(RunLimits(1.5, 1.5, 12, 384 << 20)) as workers:
    for done in grade(Course.at(Path(sys.argv[-1])), sys.argv[1], judges=LocalJudges(workers, 2)):
        print(done.verdict.student, done.verdict.status)
"""
"""The batch that the command runs, with limits that make it bearable to wait for them."""


@dataclass
class Place:
    """The place of a batch: a course, and around it what must not be seen or changed."""

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
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)  # whatever is left behind becomes our child
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
            syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 0)
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


def make_place(root: Path, stack: ExitStack) -> Place:
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


def outputs(text: str) -> str:
    """All that a graded notebook shows, but for the cards that we put there."""
    cells = json.loads(text)["cells"]
    return json.dumps([c.get("outputs", []) for c in cells if not _is_check(c)], ensure_ascii=False)


def _is_check(cell: dict[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("grade"))


def nbgraders_score(text: str) -> float:
    """The score that nbgrader itself would read out of the graded notebook."""
    cells = nbformat.reads(text, as_version=4).cells
    return sum(determine_grade(cell)[0] for cell in cells if _is_check(cell))


def assert_presentable(place: Place, student: str, titles: list[str]) -> str:
    """The graded notebook is one, of a bounded size, says the score of the verdict and holds no secret."""
    verdict, text = place.verdicts[student], place.graded(student)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert len(text.encode()) < LARGEST
    assert nbgraders_score(text) == (verdict["score"] or 0.0) == place.gradebook[student]
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
