"""A Dask worker's hold on its host and on the judges that the host forks: starts them, asks them, ends them.

The other ends of the pipes are in `host.py` and `judge.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle

from autograder.grading.cluster import host as program
from autograder.grading.cluster.order import JOB_SECONDS, Parcel, Start, packed

START_SECONDS = 300.0
END_SECONDS = 10.0


class Gone(Exception):
    """A judge came to its end; the message says how."""


class Host:
    """The process that forks judges for this Dask worker. Any thread may use it."""

    def __init__(self, start: Start, folder: str) -> None:
        """Start it; its temporary files go into `folder`, which Dask clears where a worker was killed.

        It ends with the thread that does so.
        """
        self.start = start
        self.preload: tuple[str, ...] | None = None
        """The modules that its fork server has imported for judges; `None` before the first."""
        self._control, there = Pipe()
        self._lock = threading.Lock()
        with there:
            told = ("--fd", str(there.fileno()), "--parent", str(os.getpid()))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", program.__name__, *told],
                pass_fds=[there.fileno()],
                env={**os.environ, "TMPDIR": folder},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # or Ctrl-C in the terminal of the Dask worker would reach it, too
            )
        with suppress(OSError):  # it has ended, which its first judge tells
            self._control.send_bytes(packed(start))

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def judge(self, order: Parcel) -> Judge:
        """Return a new judge. Raises `Gone` where it comes to its end at once."""
        here, there = Pipe()
        try:
            with there, self._lock:
                self._control.send_bytes(packed(order.preload))
                send_handle(self._control, there.fileno(), None)
            here.send_bytes(order.order)
            if not here.poll(START_SECONDS):
                self._process.kill()
                raise Gone(f"it did not start within {START_SECONDS:.0f} seconds.")
            return Judge(here, recv_handle(here), order.patience)
        except (EOFError, OSError) as error:
            here.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)  # then whoever comes next starts another
            raise Gone("it ended unexpectedly.") from error


class Judge:
    """A process that judges for one order."""

    def __init__(self, pipe: Connection, itself: int, patience: float) -> None:
        """Take a judge that has been sent its order: a pipe to it, and a descriptor of its process."""
        self._pipe, self._itself, self._patience = pipe, itself, patience
        self.refusal = self._answer(START_SECONDS).decode()
        """The reason why it does not judge; `""` if it does."""
        self.used = time.monotonic()

    @property
    def is_ready(self) -> bool:
        """Return whether it waits for a job, and will do so for a while."""
        return not self._has_ended(0) and time.monotonic() - self.used < JOB_SECONDS / 2

    def do(self, job: bytes) -> bytes:
        """Return what came of a job, both packed. Raises `Gone` where the judge came to its end over it."""
        with suppress(OSError):  # it has ended, which its answer tells
            self._pipe.send_bytes(job)
        result = self._answer(self._patience)
        self.used = time.monotonic()
        return result

    def _answer(self, seconds: float) -> bytes:
        try:
            if self._pipe.poll(seconds):
                return self._pipe.recv_bytes()
        except (EOFError, OSError):
            raise Gone("its judge ended unexpectedly.") from None
        self._signal(signal.SIGKILL)
        raise Gone(f"its judge gave no result within {seconds:.0f} seconds.")

    def _has_ended(self, seconds: float) -> bool:
        return bool(wait([self._itself], seconds))

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._itself, number)

    def end(self) -> None:
        """End it, in the middle of a job, too; from any thread."""
        self._signal(signal.SIGTERM)
        if not self._has_ended(END_SECONDS):
            self._signal(signal.SIGKILL)
            self._has_ended(END_SECONDS)

    def __del__(self) -> None:
        os.close(self._itself)  # only now, since several threads may use it
