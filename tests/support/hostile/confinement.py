"""Workers that attack the wall: a stand-in for the fork server starts them, and the judge hears them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.worker.sandbox.probe import Layer, Level, best_level

ROOT = Path(__file__).parents[3]
NOBODY = 65534
MIB = 1 << 20

# What stands in for the fork server: it forks one supervisor and waits. `sabotage` is run before the fork.
PARENT = """
import json, os, socket, sys
from autograder.worker.sandbox.probe import Level, Limits, default_readable
from autograder.worker.sandbox.supervisor import supervise
job = json.loads(sys.argv[1])
parent = os.getpid()
exec(job["sabotage"])

def body():
    judge = socket.socket(fileno=job["data"])
    def say(*values):
        for value in values:
            judge.sendall(json.dumps(value).encode() + b"\\n")
    def attempt(deed):
        try:
            result = deed()
        except BaseException as error:
            return type(error).__name__
        return result if isinstance(result, (str, int, list)) else "done"
    names = dict(say=say, attempt=attempt, parent=parent, data=job["data"], os=os, socket=socket)
    exec(job["code"], names | job["names"])

pid = os.fork()
if pid == 0:
    supervise(job["data"], job["control"], body, level=Level(job["level"]), limits=Limits(**job["limits"]),
              readable=[*default_readable(), *job["readable"]], hidden=job["hidden"])
os.close(job["data"])
os.close(job["control"])
print(pid, flush=True)
os.waitpid(pid, 0)
"""


@dataclass
class Job:
    """A worker under attack, as the judge sees it."""

    parent: subprocess.Popen
    data: socket.socket
    control: socket.socket
    supervisor: int = 0

    def said(self) -> list:
        """All that the worker has said, when nobody is left who could say more."""
        received = b""
        while chunk := self.data.recv(65536):
            received += chunk
        return [json.loads(line) for line in received.splitlines()]

    def hear(self):
        """The next thing the worker says."""
        line = b""
        while not line.endswith(b"\n"):
            chunk = self.data.recv(1)
            assert chunk, f"the worker is gone: {self.ended()}"
            line += chunk
        return json.loads(line)

    def ended(self) -> dict:
        message = self.control.recv(65536)
        return json.loads(message) if message else {}


class Wall:
    """Workers of one user at one level."""

    def __init__(self, level: Level, folder: str, *, ordinary: bool) -> None:
        self.level = level
        self.user = NOBODY if ordinary and os.geteuid() == 0 else os.geteuid()
        self.jobs: list[Job] = []
        self.folder = folder

    def start(
        self, code, *, level=None, limits=None, readable=(), hidden=(), sabotage="", environment=None, **names
    ):
        data, worker_data = socket.socketpair()
        control, worker_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        data.settimeout(10)
        control.settimeout(10)
        job = {
            "code": code,
            "level": level or self.level,
            "limits": limits or {},
            "readable": [str(path) for path in readable],
            "hidden": [str(path) for path in hidden],
            "sabotage": sabotage,
            "names": {
                name: str(value) if isinstance(value, Path) else value for name, value in names.items()
            },
            "data": worker_data.fileno(),
            "control": worker_control.fileno(),
        }
        parent = self.python(
            PARENT,
            json.dumps(job),
            pass_fds=(worker_data.fileno(), worker_control.fileno()),
            more=environment,
        )
        worker_data.close()
        worker_control.close()
        started = Job(parent, data, control)
        self.jobs.append(started)
        started.supervisor = int(parent.stdout.readline())
        return started

    def attack(self, code, **settings) -> tuple[list, dict]:
        """Have a worker attack, and return what it said and how it ended."""
        job = self.start(code, **settings)
        return job.said(), job.ended()

    def python(self, code, *arguments, pass_fds=(), more=None) -> subprocess.Popen:
        """A Python process of this wall's user, with this checkout and its packages."""
        paths = (str(ROOT), sysconfig.get_path("purelib"))
        return subprocess.Popen(
            [self.interpreter(), "-c", code, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=pass_fds,
            env={
                "PYTHONPATH": ":".join(paths),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": self.folder,
                **(more or {}),
            },
            cwd="/",
            **self.identity(),
        )

    def identity(self) -> dict:
        if self.user == os.geteuid():
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": ()}

    def interpreter(self) -> str:
        """This interpreter, unless the worker's user cannot get at it: then the system's, same version."""
        if self.user == os.geteuid() and (self.user != 0 or self.level is not Level.LANDLOCK):
            return sys.executable
        for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info[1]}"):
            question = [candidate, "-c", "import os, encodings; os.listdir(os.path.dirname(os.__file__))"]
            with suppress(OSError):
                probing = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
                if (
                    subprocess.run(question, capture_output=True, cwd="/", check=False, **probing).returncode
                    == 0
                ):
                    return candidate
        pytest.skip(
            f"no Python {sys.version_info[0]}.{sys.version_info[1]} here that an ordinary user may run"
        )


_layers: dict[int, tuple[Layer, ...]] = {}


def layers_of(wall: Wall) -> tuple[Layer, ...]:
    if wall.user not in _layers:
        code = "import json\nfrom dataclasses import astuple\n"
        code += "from autograder.worker.sandbox.probe import probe\n"
        process = wall.python(code + "print(json.dumps([astuple(layer) for layer in probe()]))")
        _layers[wall.user] = tuple(Layer(*fields) for fields in json.loads(process.communicate()[0]))
    return _layers[wall.user]


FAILURES = {
    "PermissionError",
    "FileNotFoundError",
    "ProcessLookupError",
    "OSError",
    "ConnectionRefusedError",
    "NotADirectoryError",
}


def refused(said: list) -> bool:
    return bool(said) and all(failed(answer) for answer in said)


def failed(answer) -> bool:
    return isinstance(answer, str) and answer in FAILURES


@contextmanager
def behind_a_wall(level: Level, *, ordinary: bool) -> Iterator[Wall]:
    """Workers of root or of an ordinary user at a level, if this machine has both; they end with it."""
    if not ordinary and os.geteuid() != 0:
        pytest.skip("only root can start a supervisor as root")
    # What a killed supervisor leaves behind goes with this folder.
    with tempfile.TemporaryDirectory(prefix="wall-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        wall = Wall(level, folder, ordinary=ordinary)
        found = layers_of(wall)
        best = best_level(found)
        if best is Level.NONE or (level is Level.NAMESPACES and best is not level):
            pytest.skip(f"not on this machine: {[layer for layer in found if not layer.holds]}")
        yield wall
        for job in wall.jobs:
            job.control.close()
            job.data.close()
            job.parent.kill()
            job.parent.communicate()


@contextmanager
def folder_outside(wall: Wall) -> Iterator[Path]:
    """A folder that only the wall keeps the worker out of, with a gradebook in it."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    gradebook = folder / "gradebook.db"
    gradebook.write_text("every mark")
    for path in (folder, gradebook):
        os.chown(path, wall.user, -1)
        path.chmod(0o777 if path.is_dir() else 0o666)
    yield folder
    shutil.rmtree(folder)
