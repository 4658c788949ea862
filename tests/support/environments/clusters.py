"""Real Dask clusters on loopback: a scheduler and workers, each a process that a test may kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from autograder.checking.runner.checks import Checks
from autograder.grading.judging.jobs import Setting
from tests.support.helpers import ROOT

HOST = "autograder.grading.cluster.host"
FORK_SERVER = "autograder.worker.forkserver"
DASK = [sys.executable, "-m", "dask"]
QUICK_TO_GIVE_UP = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}


@dataclass(frozen=True)
class Doubled:
    """A job that takes its time and gives twice a number."""

    number: int
    seconds: float = 0.0

    def run(self, setting: Setting, checks: Checks) -> int:
        time.sleep(self.seconds)
        return 2 * self.number


@dataclass(frozen=True)
class Deadly:
    """A job that ends whoever does it."""

    def run(self, setting: Setting, checks: Checks) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class DeadlyToTheHost:
    """A job that ends the process of which its judge is a fork."""

    def run(self, setting: Setting, checks: Checks) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


@dataclass
class Cluster:
    """A scheduler with its workers."""

    folder: Path
    port: int
    tls: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{'tls' if self.tls else 'tcp'}://127.0.0.1:{self.port}"

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--port", str(self.port), "--host", self._host)
        wait_for(lambda: _answers(self.port), 120)

    def start_worker(
        self, threads: int = 1, nanny: bool = True, **environment: str
    ) -> subprocess.Popen[bytes]:
        name = f"worker-{len(self.workers)}"
        options = ("--nthreads", str(threads), "--nworkers", "1", "--memory-limit", "0", "--name", name)
        options += ("--local-directory", str(self.folder / name), "--nanny" if nanny else "--no-nanny")
        worker = self._start("worker", self.address, "--host", self._host, *options, **environment)
        self.workers.append(worker)
        return worker

    @property
    def _host(self) -> str:
        return "tls://127.0.0.1" if self.tls else "127.0.0.1"

    def _start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        paths = [environment.pop("PYTHONPATH", ""), str(ROOT)]
        with (self.folder / f"{command[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [*DASK, *command, "--dashboard-address", "127.0.0.1:0", *self.tls],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={
                    **os.environ,
                    **self.environment,
                    **environment,
                    "PYTHONPATH": ":".join(filter(None, paths)),
                },
                start_new_session=True,
            )

    def log(self) -> str:
        """All that the scheduler and the workers said."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def family(self) -> list[psutil.Process]:
        """All processes of the cluster but the scheduler: workers, hosts, fork servers, students' workers."""
        found = []
        for worker in self.workers:
            with suppress(psutil.NoSuchProcess):
                found += [psutil.Process(worker.pid), *psutil.Process(worker.pid).children(recursive=True)]
        return found

    def hosts(self) -> list[psutil.Process]:
        """The hosts, with all that is below them: fork servers, judges, students' workers."""
        found = []
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                if any("autograder." in word for word in process.cmdline()):
                    found.append(process)
        return found

    def judges(self) -> list[psutil.Process]:
        """The processes that are there for one batch: forks of a host."""
        found = []
        for process in self.hosts():
            with suppress(psutil.NoSuchProcess):
                parent = process.parent()
                if HOST in process.cmdline() and parent is not None and HOST in parent.cmdline():
                    found.append(process)
        return found

    def confined(self) -> list[psutil.Process]:
        """The processes of students' code: those in a namespace of their own."""
        found = []
        for process in self.hosts():
            with suppress(OSError):
                if os.readlink(f"/proc/{process.pid}/ns/pid") != os.readlink("/proc/self/ns/pid"):
                    found.append(process)
        return found

    def kill_worker(self, number: int) -> None:
        """Kill a Dask worker's process, of which its nanny, if it has one, starts another."""
        nanny = self.workers[number]
        below = [
            child
            for child in psutil.Process(nanny.pid).children()
            if "spawn_main" in " ".join(child.cmdline())
        ]
        for process in below or [psutil.Process(nanny.pid)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def close(self) -> None:
        left = self.family()
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            process.kill()
            process.wait()
        for each in left:
            with suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(each.cmdline()):
                    each.kill()


@contextmanager
def cluster(
    folder: Path, threads: Sequence[int] = (1,), tls: Sequence[str] = (), **environment: str
) -> Iterator[Cluster]:
    """A scheduler with a worker for each of `threads`; at the end nothing of it is left."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Cluster(folder, free_port(), tls, environment)
    try:
        made.start_scheduler()
        for number in threads:
            made.start_worker(number)
        wait_for(lambda: made.log().count("Registered to") >= len(threads), 180)
        yield made
    finally:
        begun = made.family()
        made.close()
        _, alive = psutil.wait_procs(begun, timeout=30)
        assert not alive, f"left of a cluster that was killed: {alive}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def wait_for(holds: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


class Wire:
    """A network between a client and a scheduler, which can be cut and mended."""

    def __init__(self, target: int) -> None:
        self._target, self._cut = target, False
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._cut = True
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                if self._cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    @staticmethod
    def _carry(one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
