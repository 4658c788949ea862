"""The hosts of a Dask worker: one process for each of its threads and orders, kept while jobs come.

`do` is the task that the scheduler hands out. It runs in a thread of the Dask worker and does not judge
itself: it gives the job to the thread's host and waits.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from multiprocessing.connection import Pipe

from distributed import get_worker

from autograder.grading.cluster import host as program
from autograder.grading.cluster.order import Came, Ended, Parcel, Refused

START_SECONDS = 300.0
END_SECONDS = 10.0
_MOST = 2
"""Hosts of one thread: for batches that take turns."""


class Gone(Exception):
    """A host came to its end; the message says how."""


class Host:
    """A process that judges for one order. Only the thread that started it may use it: they end together."""

    def __init__(self, order: Parcel, folder: str) -> None:
        """Start it; its temporary files go into `folder`, which Dask clears where a worker was killed."""
        here, there = Pipe()
        with there:
            told = ("--fd", str(there.fileno()), "--parent", str(os.getpid()))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", program.__name__, *told],
                pass_fds=[there.fileno()],
                env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": folder},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # or Ctrl-C in the terminal of the Dask worker would reach it, too
            )
        self._pipe = here
        self._patience = order.patience
        self.refusal = self._asked(order.limits, order.order, seconds=START_SECONDS).decode()
        """The reason why it does not judge; `""` if it does."""
        self.used = time.monotonic()

    @property
    def is_ready(self) -> bool:
        """Return whether it waits for a job, and will do so for a while."""
        return self._process.poll() is None and time.monotonic() - self.used < program.IDLE_SECONDS / 2

    def do(self, job: bytes) -> bytes:
        """Return what came of a job, both packed. Raises `Gone` where the host came to its end over it."""
        result = self._asked(job, seconds=self._patience)
        self.used = time.monotonic()
        return result

    def _asked(self, *told: bytes, seconds: float) -> bytes:
        try:
            for each in told:
                self._pipe.send_bytes(each)
            if self._pipe.poll(seconds):
                return self._pipe.recv_bytes()
            reason = f"its judge gave no result within {seconds:.0f} seconds."
        except (EOFError, OSError):
            reason = ""
        self._kill()
        raise Gone(reason or f"its judge ended unexpectedly (exit status {self._process.returncode}).")

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def end(self) -> None:
        """End it, in the middle of a job, too; from any thread."""
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_lock = threading.Lock()
_running: dict[str, set[Host]] = {}
"""All hosts of this process by the name of their order, for those who end them."""
_over: dict[str, None] = {}
"""The names of orders that are over, the latest last: a task that comes late must not start a host again."""
_MOST_OVER = 1000
_BATCH_OVER = "the batch is over."


class _Own(threading.local):
    """The hosts of a thread by the name of their order, the latest used last."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}


_own = _Own()


def same(order: Parcel) -> Parcel:
    """Return the order: a task, so that the scheduler can have it made again where a worker took it along."""
    return order


def do(order: Parcel, job: bytes) -> Came | Ended | Refused:
    """Have a job done by this thread's host."""
    here = get_worker()
    try:
        host = _host(order, here.local_directory)
        if host.refusal:
            _let_go(host, order.name)
            return Refused(here.address, host.refusal)
    except Gone as gone:
        return Refused(here.address, f"no judge can be started there: {gone}")
    try:
        return Came(host.do(job))
    except Gone as gone:
        _let_go(host, order.name)
        return Ended(here.address, str(gone))


def _host(order: Parcel, folder: str) -> Host:
    for name, each in list(_own.hosts.items()):
        if not each.is_ready:
            _let_go(each, name)
    host = _own.hosts.pop(order.name, None)
    if host is None:
        while len(_own.hosts) >= _MOST:
            name = next(iter(_own.hosts))
            _let_go(_own.hosts[name], name)
        if order.name in _over:
            raise Gone(_BATCH_OVER)
        try:
            host = Host(order, folder)
        except Gone:
            host = Host(order, folder)  # the machine may have been short of something for a moment
        with _lock:
            _running.setdefault(order.name, set()).add(host)
        if order.name in _over:  # while it started
            _let_go(host, order.name)
            raise Gone(_BATCH_OVER)
    _own.hosts[order.name] = host
    return host


def _let_go(host: Host, name: str) -> None:
    """End a host of this thread."""
    _own.hosts.pop(name, None)
    with _lock:
        hosts = _running.get(name, set())
        hosts.discard(host)
        if not hosts:
            _running.pop(name, None)
    host.end()


async def end_hosts(names: Iterable[str]) -> None:
    """End the hosts of orders that are over, also those that are at work. Runs in the Dask worker's loop."""
    with _lock:
        _over.update(dict.fromkeys(names))
        while len(_over) > _MOST_OVER:
            del _over[next(iter(_over))]
        ending = [host for name in names for host in _running.pop(name, ())]
    await asyncio.gather(*(asyncio.to_thread(host.end) for host in ending))
