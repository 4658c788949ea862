"""The tasks that a Dask worker does for a batch, and the judges that each of its threads keeps for them.

`do` is the task that the scheduler hands out. It runs in a thread of the Dask worker and does not judge
itself: it gives the job to the thread's judge and waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

from distributed import Worker, get_worker
from distributed.utils import sync

from autograder.grading.cluster.hosts import Gone, Host, Judge
from autograder.grading.cluster.order import Came, Ended, Parcel, Refused, Start

_MOST = 2
"""Judges of one thread: for batches that take turns."""
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
