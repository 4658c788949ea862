"""The trusted side's hold on the fork server: starts it, tells it what to import, has it fork workers.

Nothing here imports torch: a batch starts it first, so that both processes import at the same time.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

import autograder
from autograder.errors import UserError
from autograder.worker.forkserver import JOB, READY
from autograder.worker.sandbox.gpu_nodes import KEPT_VARIABLES
from autograder.worker.sandbox.probe import Level, best_level, probe

if TYPE_CHECKING:
    from autograder.grading.workers.client import Worker
    from autograder.protocol.without import Without

START_SECONDS = 120.0


@dataclass(frozen=True)
class RunLimits:
    """The limits of one submission; seconds are wall-clock seconds, enforced from outside."""

    cell_seconds: float = 20.0
    """Seconds for one cell of the notebook."""
    call_seconds: float = 10.0
    """Seconds for one call that a check makes."""
    total_seconds: float = 180.0
    """Seconds for the whole submission; what is not judged by then is `timeout`."""
    memory_bytes: int = 2 << 30
    """Memory of the worker's whole process tree, beyond what it inherits."""
    gpu_bytes: int = 0
    """Memory for tensors on each GPU; with 0 a worker sees no GPU."""


TORCH = ("torch", "autograder.figures")
"""The modules of workers that answer checks, or that a course with torch imports."""
_IMPORTS = ("autograder.data", "autograder.guesses", "autograder.notebook")
"""Modules of ours that a notebook imports."""
_STUBS = {
    "autograder.notebook:check": "(checked when the notebook has run)",
    "autograder.notebook:checks_inside": "",
}
"""Functions that do nothing in a worker, and what they print there: tasks are judged outside it."""


class ForkServer:
    """The process that forks workers; one serves a whole batch. Use as a context manager."""

    def __init__(
        self,
        limits: RunLimits | None = None,
        level: Level | None = None,
        preload: Sequence[str] | None = TORCH,
        *,
        torch: bool = True,
    ) -> None:
        """Start the fork server at the best level that holds here; `preload` are modules to import for all.

        With `None` they are told to `warm` later. Meanwhile torch is imported where `torch` says that it is
        likely to be among them.
        """
        self.limits = limits or RunLimits()
        self.level = level or best_level(probe())
        if self.level is Level.NONE and level is None:
            raise UserError(
                "No confinement that is good enough holds on this machine, so nothing was run. "
                "`autograder doctor` says what is missing; `--unsafe` runs students' code without a wall, "
                "at your own risk."
            )
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = Path(autograder.__file__).resolve().parent
        command = [sys.executable, "-I", "-m", "autograder.worker.forkserver", "--fd", str(there.fileno())]
        if preload is not None:
            torch = "torch" in preload
        if torch:
            command.append("--torch")
        for module in _IMPORTS:
            command += ["--import", module]
        for place, says in _STUBS.items():
            command += ["--stub", place, says]
        command += [
            "--level",
            self.level.value,
            "--memory-bytes",
            str(self.limits.memory_bytes),
            "--gpu-bytes",
            str(self.limits.gpu_bytes),
            "--hidden",
            str(package),
        ]
        for beside in ("autograder_course", "autograder_checks"):
            if (package.parent / beside).is_dir():
                command += ["--hidden", str(package.parent / beside)]
        # The environment is the worker's, too: nothing of the caller's may be in it.
        self._process = subprocess.Popen(
            command,
            pass_fds=[there.fileno()],
            env=clean_environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        there.close()
        self._socket = here
        self._warm = False
        self._leaving: Worker | None = None
        self._prepared: tuple[Without | None, Worker] | None = None
        if preload is not None:
            self.warm(preload)

    def warm(self, preload: Sequence[str]) -> None:
        """Have it import these modules, unless it was told before, and wait until it is ready to fork."""
        if self._warm:
            return
        self._socket.settimeout(START_SECONDS)
        try:
            self._socket.send(json.dumps(list(preload)).encode())
            ready = self._socket.recv(16)
        except OSError:
            ready = b""
        if ready != READY:
            self._process.kill()
            told = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise UserError(f"The worker process did not start: {told[-1] if told else 'no reason given'}.")
        self._warm = True

    @property
    def is_alive(self) -> bool:
        """Return whether it can still fork workers."""
        return self._process.poll() is None

    def prepare(self, without: Without | None = None) -> None:
        """Have the next worker forked and confined, which takes as long as reading a notebook."""
        if self._prepared is None:
            self._prepared = without, self._fork(without)

    def spawn(self, without: Without | None = None) -> Worker:
        """Return a fresh worker: the one that was prepared, if it lacks the same, or another."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            if prepared[0] == without:
                return prepared[1]
            prepared[1].end()
        return self._fork(without)

    def dismiss(self) -> None:
        """End the worker that was prepared: nothing is to be run."""
        if self._prepared is not None:
            self._prepared[1].end()
            self._prepared = None

    def _fork(self, without: Without | None) -> Worker:
        """Return a worker, confined and ready in milliseconds; what it is asked waits until then."""
        from autograder.checking.remote.errors import WorkerLost
        from autograder.grading.workers.client import Worker

        job = JOB if without is None else JOB + b" " + msgspec.json.encode(without)
        data, data_there = socket.socketpair()
        control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            socket.send_fds(self._socket, [job], [data_there.fileno(), control_there.fileno()])
        except OSError as error:
            raise WorkerLost("infra_error", "The process that starts workers is gone.") from error
        finally:
            data_there.close()
            control_there.close()
        return Worker(data, control)

    def leave(self, worker: Worker) -> None:
        """End a worker of which nothing more is asked, and go on: the kernel takes a while to clear it away.

        One at a time is left so; the one before it is waited for.
        """
        self.wait_for_left()
        worker.stop()
        self._leaving = worker

    def wait_for_left(self) -> None:
        """Wait for the end of the worker that was left."""
        if self._leaving is not None:
            self._leaving.end()
            self._leaving = None

    def close(self) -> None:
        """End the fork server; workers that are still there end with their sockets."""
        self.dismiss()
        self.wait_for_left()
        self._socket.close()
        if not self._warm:
            self._process.kill()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def may_want_torch(notebooks: Sequence[Path]) -> bool:
    """Return whether notebooks may need workers with torch, as those may that are not there.

    It is asked before anything that takes a second to import: the fork server can begin with torch then.
    """
    there = [each for each in notebooks if each.is_file()]
    return not there or any(wants_torch(each.read_text("utf-8", "replace")) for each in there)


def wants_torch(text: str) -> bool:
    """Return whether a notebook or a check may need torch: by its name, or by ours."""
    return "torch" in text or "autograder" in text


def clean_environment() -> dict[str, str]:
    """The environment of the fork server and of every worker."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",
        "MPLCONFIGDIR": "/tmp/.matplotlib",
        "IPYTHONDIR": "/tmp/.ipython",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TZ": os.environ.get("TZ", "UTC"),
        "NBGRADER_EXECUTION": "autograde",  # by which nbgrader's courses tell grading from validating
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # fewer pages to copy when it forks
        **{name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
        **threads,
    }
