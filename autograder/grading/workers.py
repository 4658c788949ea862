"""The trusted side's hold on the wall: starts the warm parent, gets workers from it, talks to one.

Nothing that a worker sends is believed: a frame is data or the worker is gone (`WorkerLost`).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import autograder
from autograder.checking.errors import WorkerLost
from autograder.grading.errors import UserError
from autograder.worker.confine import Level, best_level, probe
from autograder.worker.parent import JOB, READY
from autograder.worker.wire import Stream, WireClosed, WireError, WireTimeout

START_SECONDS = 120.0


@dataclass(frozen=True)
class RunLimits:
    """What one submission may use; seconds are wall-clock seconds, enforced from outside."""

    cell_seconds: float = 20.0
    """One cell of the notebook."""
    call_seconds: float = 10.0
    """One call that a check makes."""
    total_seconds: float = 180.0
    """The whole submission; what is not judged by then is `timeout`."""
    memory_bytes: int = 2 << 30
    """The worker's whole process tree, beyond what it inherits."""


class WarmParent:
    """The process that forks workers; one serves a whole batch. Use as a context manager."""

    def __init__(
        self, limits: RunLimits | None = None, level: Level | None = None, preload: Sequence[str] = ()
    ) -> None:
        """Start it, at the best level that holds here. `preload` are modules to import for all workers."""
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
        command = [sys.executable, "-I", "-m", "autograder.worker.parent", "--fd", str(there.fileno())]
        command += [
            "--level",
            self.level.value,
            "--memory-bytes",
            str(self.limits.memory_bytes),
            "--hidden",
            str(package),
        ]
        for module in preload:
            command += ["--preload", module]
        course = package.parent / "autograder_course"
        if course.is_dir():
            command += ["--hidden", str(course)]
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
        self._socket.settimeout(START_SECONDS)
        try:
            ready = self._socket.recv(16)
        except OSError:
            ready = b""
        if ready != READY:
            self._process.kill()
            told = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise UserError(f"The worker process did not start: {told[-1] if told else 'no reason given'}.")

    def spawn(self) -> Worker:
        """A fresh worker, confined and ready; forked in milliseconds."""
        data, data_there = socket.socketpair()
        control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            socket.send_fds(self._socket, [JOB], [data_there.fileno(), control_there.fileno()])
        except OSError as error:
            raise WorkerLost("infra_error", "The process that starts workers is gone.") from error
        finally:
            data_there.close()
            control_there.close()
        return Worker(data, control)

    def close(self) -> None:
        """End the parent; workers that are still there end with their sockets."""
        self._socket.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def __enter__(self) -> WarmParent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Worker:
    """One confined process with a student's code in it."""

    def __init__(self, data: socket.socket, control: socket.socket) -> None:
        self._stream, self._data, self._control = Stream(data), data, control
        self.report: dict[str, Any] | None = None

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return the answer; `WorkerLost` when none comes that can be read.

        Exceptions in the answer, `raised` and `error`, have the shape that `describe_exception` gives them.
        """
        started = time.monotonic()
        # A thread of the student's may write whenever it likes; without this, one frame written in
        # between would answer the next question, and every answer after it the question after its own.
        number = secrets.randbits(62)
        try:
            self._stream.send({**request, "number": number}, seconds)
            answer = self._stream.receive(max(0.01, seconds - (time.monotonic() - started)))
            if answer.pop("number", None) != number:
                raise WireError("an answer to something else")
            return {key: _exception(it) if key in ("raised", "error") else it for key, it in answer.items()}
        except WireTimeout:
            self.end()
            raise WorkerLost(
                "timeout", f"Your code did not answer within {seconds:.0f} seconds and was stopped."
            ) from None
        except WireError:
            self.end()
            raise WorkerLost(
                "crashed", "Your code sent back something that is no answer, and was stopped."
            ) from None
        except WireClosed:
            self.end()
            raise self._lost() from None

    def end(self) -> None:
        """Kill everything that is left of it and read how it ended."""
        if self._control.fileno() < 0:
            return
        self._control.settimeout(10)
        with suppress(OSError):
            self._control.send(json.dumps({"do": "kill"}).encode())
        # A supervisor that ended by itself leaves our message unread: that is told first, its own word after.
        for _ in range(2):
            try:
                self.report = json.loads(self._control.recv(1 << 16) or b"{}")
                break
            except ConnectionResetError:
                continue
            except (OSError, ValueError):
                break
        self._control.close()
        self._data.close()

    def _lost(self) -> WorkerLost:
        match (self.report or {}).get("exit"):
            case "memory":
                return WorkerLost(
                    "out_of_memory", "Your code used more memory than a submission may, and was stopped."
                )
            case "refused":
                return WorkerLost(
                    "infra_error", f"The confinement failed: {(self.report or {}).get('message', '')}"
                )
            case None:
                return WorkerLost("infra_error", "The worker could not be started.")
        return WorkerLost(
            "crashed",
            "Your code ended the process it ran in (for example with `exit()` or a crash in a library).",
        )


def _exception(told: Any) -> dict[str, Any] | None:
    """An exception as the worker tells it, field by field, in lengths that a person reads."""
    if told is None:
        return None
    told = told if isinstance(told, dict) else {}
    lines = told.get("lines")
    return {
        "type": plain_text(told.get("type"), 100) or "Exception",
        "message": plain_text(told.get("message"), 2000),
        "lines": [plain_text(line, 300) for line in (lines if isinstance(lines, list) else [])[-5:]],
    }


def plain_text(told: Any, length: int) -> str:
    """At most `length` characters of a text, without those that steer a terminal; `""` for anything else."""
    if not isinstance(told, str):
        return ""
    kept = "".join(c for c in told[:length] if c.isprintable() or c in "\n\t")
    return kept if len(told) <= length else f"{kept} …"


def clean_environment() -> dict[str, str]:
    """The environment of the warm parent and of every worker."""
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
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # fewer pages to copy: a fork costs two thirds
        **threads,
    }
