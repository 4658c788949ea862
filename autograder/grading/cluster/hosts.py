"""The host of a Dask worker, and the judges that it forks: one for each of its threads and orders.

`do` is the task that the scheduler hands out. It runs in a thread of the Dask worker and does not judge
itself: it gives the job to the thread's judge and waits.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle

from distributed import Worker, get_worker
from distributed.utils import sync

from autograder.grading.cluster import host as program
from autograder.grading.cluster.order import JOB_SECONDS, Came, Ended, Parcel, Refused, Start, packed

START_SECONDS = 300.0
END_SECONDS = 10.0
_MOST = 2
"""Judges of one thread: for batches that take turns."""


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


_lock = threading.Lock()
_hosts: list[Host] = []
"""The hosts of this process, which its event loop starts: it is there as long as the process."""
_running: dict[str, set[Judge]] = {}
"""All judges of this process by the name of their order, for those who end them."""
_over: dict[str, None] = {}
"""The names of orders that are over, the latest last: a task that comes late must not start a judge again."""
_MOST_OVER = 1000
_BATCH_OVER = "the batch is over."


class _Own(threading.local):
    """The judges of a thread by the name of their order, the latest used last."""

    def __init__(self) -> None:
        self.judges: dict[str, Judge] = {}


_own = _Own()


def same(order: Parcel) -> Parcel:
    """Return the order: a task, so that the scheduler can have it made again where a worker took it along."""
    return order


def do(order: Parcel, job: bytes) -> Came | Ended | Refused:
    """Have a job done by this thread's judge."""
    here = get_worker()
    try:
        judge = _judge(order, here)
        if judge.refusal:
            _let_go(judge, order.name)
            return Refused(here.address, judge.refusal)
    except Gone as gone:
        return Refused(here.address, f"no judge can be started there: {gone}")
    try:
        return Came(judge.do(job))
    except Gone as gone:
        _let_go(judge, order.name)
        return Ended(here.address, str(gone))


def _judge(order: Parcel, here: Worker) -> Judge:
    for name, each in list(_own.judges.items()):
        if not each.is_ready:
            _let_go(each, name)
    judge = _own.judges.pop(order.name, None)
    if judge is None:
        while len(_own.judges) >= _MOST:
            name = next(iter(_own.judges))
            _let_go(_own.judges[name], name)
        if order.name in _over:
            raise Gone(_BATCH_OVER)
        try:
            judge = _started(order, here)
        except Gone:
            judge = _started(order, here)  # the machine may have been short of something for a moment
        with _lock:
            _running.setdefault(order.name, set()).add(judge)
        if order.name in _over:  # while it started
            _let_go(judge, order.name)
            raise Gone(_BATCH_OVER)
    _own.judges[order.name] = judge
    return judge


def _started(order: Parcel, here: Worker) -> Judge:
    host: Host = sync(here.loop, _host, here, order.start, order.preload)
    return host.judge(order)


async def _host(here: Worker, start: Start, preload: tuple[str, ...]) -> Host:
    """Return a host for these judges, a new one if need be. Runs in the Dask worker's loop."""
    _hosts[:] = [host for host in _hosts if host.is_alive]
    for host in _hosts:
        if host.start == start and host.preload in (None, preload):
            break
    else:
        host = Host(start, here.local_directory)
        _hosts.append(host)
    host.preload = preload
    return host


async def start_host(start: Start, dask_worker: Worker) -> None:
    """Start a host, if there is none, before there is work for it. Runs in the Dask worker's loop."""
    if not any(host.is_alive and host.start == start for host in _hosts):
        _hosts.append(Host(start, dask_worker.local_directory))


def _let_go(judge: Judge, name: str) -> None:
    """End a judge of this thread."""
    _own.judges.pop(name, None)
    with _lock:
        judges = _running.get(name, set())
        judges.discard(judge)
        if not judges:
            _running.pop(name, None)
    judge.end()


async def end_judges(names: Iterable[str]) -> None:
    """End the judges of orders that are over, also those that are at work. Runs in the Dask worker's loop."""
    with _lock:
        _over.update(dict.fromkeys(names))
        while len(_over) > _MOST_OVER:
            del _over[next(iter(_over))]
        ending = [judge for name in names for judge in _running.pop(name, ())]
    await asyncio.gather(*(asyncio.to_thread(judge.end) for judge in ending))
