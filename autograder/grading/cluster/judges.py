"""Judges on the workers of a Dask cluster.

A job goes out with the name of its order and comes back as a result. Only a few jobs for each judge are with
the scheduler at a time. What a worker's end takes with it is done by another; a job over which two judges
came to their end is given up; where the scheduler goes away, its jobs go out again when it is back.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from types import TracebackType
from typing import Any

from autograder.checking.diagnosis.match import Known
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.cluster.connection import connect
from autograder.grading.cluster.order import Came, Ended, Order, Parcel, Refused, Start, packed, unpacked
from autograder.grading.cluster.roll import Roll, require_same_scheduler
from autograder.grading.cluster.tasks import do, end_judges, same, start_host
from autograder.grading.judging.jobs import Failure, Gathering, Job, Result, patience
from autograder.grading.workers.forkserver import RunLimits

AHEAD = 3
"""Jobs with the scheduler for each judge: one at work, the others so that it need not wait."""
MOST_STRIKES = 2
"""Judges that may come to their end over a job before it is given up."""
FETCH_SECONDS = 10.0
_SCHEDULER_AWAY = ("scheduler-connection-lost", "scheduler-restart")
"""Dask's reasons for cancelling what may simply be sent again."""
_CLOSE_SECONDS = 15.0


class ClusterJudges:
    """Judges on all workers of a cluster that are fit. Use as a context manager."""

    def __init__(
        self, address: str, tell: Callable[[str], None] = lambda line: None, limits: RunLimits | None = None
    ) -> None:
        """Connect to a scheduler and examine its workers; `tell` gets a sentence about those left out.

        Raises `UserError` where no scheduler is there, or no worker that can judge.
        """
        self._address, self._start = address, Start(limits or RunLimits())
        self._client = connect(address)
        self._orders: list[str] = []
        try:
            require_same_scheduler(self._client, address)
            self._roll = Roll(self._client, tell)
            self._roll.begin()
            # They import torch while the class is looked through.
            self._client.run(
                start_host, self._start, workers=list(self._roll.fit), on_error="ignore", wait=False
            )
        except BaseException:
            self._client.close(timeout=_CLOSE_SECONDS)
            raise

    def __enter__(self) -> ClusterJudges:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end_judges()
        self._client.close(timeout=_CLOSE_SECONDS)

    def conditions(self, bundle: Bundle) -> str:
        return ""  # no worker is given a GPU

    def work_off(
        self,
        jobs: Iterable[Job[Result]],
        bundle: Bundle,
        seed: int,
        known: Mapping[str, Sequence[Known]],
        *,
        seconds: float = 0.0,
        most: int = 1,
    ) -> Generator[list[tuple[Job[Result], Result | Failure]]]:
        name = uuid.uuid4().hex
        self._orders.append(name)
        # What the bundle has worked out for itself since it was made need not travel.
        order = Order(replace(bundle), seed, known, bundle.digest())
        parcel = Parcel.of(name, order, self._start, patience(order.bundle, self._start.limits))
        waiting = iter(jobs)
        out = _Out(self._client, self._roll, parcel)
        done: Gathering[tuple[Job[Result], Result | Failure]] = Gathering(seconds, most)
        try:
            while True:
                if self._client.status != "running":
                    if done:
                        yield done.take()  # on record before anything else can go wrong
                    self._wait_for_scheduler()
                self._roll.look()
                while len(out) < AHEAD * sum(self._roll.fit.values()):
                    if (job := next(waiting, None)) is None:
                        break
                    out.add(job)
                out.send()
                if not out and self._roll.fit:
                    break
                for each in out.receive(done.wait_at_most(0.5)):
                    done.add(each)
                if done.is_due:
                    yield done.take()
            if done:
                yield done.take()
        except UserError:
            if done:
                yield done.take()  # on record before anybody is told that it ends here
            raise
        finally:
            out.cancel()
            self.end_judges()

    def _wait_for_scheduler(self) -> None:
        """Wait for as long as Dask tries to reach it again (`distributed.comm.timeouts.connect`)."""
        while self._client.status == "connecting":
            time.sleep(0.1)
        if self._client.status != "running":
            raise UserError(
                f"The Dask scheduler at {self._address} went away and did not come back. "
                "What was graded is on record; the same command goes on from there."
            )

    def end_judges(self) -> None:
        """End the judges of all orders so far, on all workers that can be reached."""
        if self._orders and self._client.status == "running":
            ending = threading.Thread(target=self._end_judges, args=(self._orders,), daemon=True)
            ending.start()
            ending.join(_CLOSE_SECONDS)
        self._orders = []

    def _end_judges(self, names: list[str]) -> None:
        with suppress(Exception):  # where it cannot be reached, judges end when nobody has asked for a minute
            self._client.run(end_judges, names, on_error="ignore")


@dataclass
class _Generation:
    """An order as it was sent, for the workers that were fit then: it can be made again on any of these."""

    workers: frozenset[str]
    future: Any


@dataclass(frozen=True)
class _Held:
    """A job that is to be sent as soon as somebody is there for it."""

    job: Any
    strikes: int = 0
    avoided: frozenset[str] = frozenset()
    """The workers on which a judge came to its end over it."""


@dataclass(frozen=True)
class _Sent:
    """A job that is with the scheduler, for some workers."""

    held: _Held
    future: Any
    generation: _Generation
    workers: frozenset[str]


class _Out:
    """The jobs of an order that are on their way."""

    def __init__(self, client: Any, roll: Roll, order: Parcel) -> None:
        self._client, self._roll, self._order = client, roll, order
        self._held: list[_Held] = []
        self._sent: dict[int, _Sent] = {}
        self._finished: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._generation: _Generation | None = None
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._sent) + len(self._held)

    def add(self, job: Any) -> None:
        """Take a job, for the next `send`."""
        self._held.append(_Held(job))

    def send(self) -> None:
        """Give the scheduler what is held, and again what waits for workers of which none is left."""
        fit = self._roll.fit.keys()
        if not fit or self._client.status != "running":
            return
        for number, sent in list(self._sent.items()):
            if not sent.workers & fit or not sent.generation.workers & fit:
                self._held.append(self._taken_back(number))
        while self._held:
            held = self._held.pop()
            generation, number = self._current(), next(self._numbers)
            workers = generation.workers - held.avoided or generation.workers
            future = self._submit(
                f"judge-{self._order.name}", number, workers, do, generation.future, packed(held.job)
            )
            self._sent[number] = _Sent(held, future, generation, workers)
            self._watch(number)

    def _watch(self, number: int) -> None:
        """Have a job's number in `_finished` as soon as the scheduler says that it is done."""
        self._sent[number].future.add_done_callback(lambda _: self._finished.put(number))

    def _current(self) -> _Generation:
        """Return the order as it is at the scheduler for the workers that are fit now."""
        fit, now = frozenset(self._roll.fit), self._generation
        if now is not None and now.future.status == "error":
            self._require_killed(now.future.exception())
        if now is None or now.workers != fit or now.future.status in ("cancelled", "error"):
            name = f"order-{self._order.name}"
            future = self._submit(name, next(self._numbers), fit, same, self._order)
            self._generation = now = _Generation(fit, future)
        return now

    def _require_killed(self, error: BaseException) -> None:
        """Raise `UserError` where the order did not fail because its workers died."""
        if type(error).__name__ != "KilledWorker":
            raise UserError(
                f"The cluster cannot pass on what is to be judged ({type(error).__name__}: {error}). "
                "Its scheduler and its workers need the same lstm-autograder[cluster] as this machine."
            )

    def _submit(self, name: str, number: int, workers: frozenset[str], *task: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an instructor's files are large
            return self._client.submit(
                *task, key=(name, number), workers=sorted(workers), allow_other_workers=False, pure=False
            )

    def _taken_back(self, number: int) -> _Held:
        sent = self._sent.pop(number)
        sent.future.release()
        return sent.held

    def receive(self, seconds: float) -> list[tuple[Any, Any]]:
        """Return the jobs that are done, each with its result, when one is or so many seconds have passed."""
        found: list[tuple[Any, Any]] = []
        with suppress(queue.Empty):
            numbers = [self._finished.get(timeout=seconds)]
            # Only those that are there now: `send` must have its turn, too.
            numbers += [self._finished.get_nowait() for _ in range(self._finished.qsize())]
            for number in numbers:
                if number in self._sent:
                    found += self._result(number)
        return found

    def _result(self, number: int) -> list[tuple[Any, Any]]:
        """Return a job with its result; nothing where none came and it will be sent again."""
        try:
            told = self._sent[number].future.result(timeout=FETCH_SECONDS)
        except TimeoutError:  # it was lost with its worker and will be done again, here or by `send`
            self._watch(number)
            return []
        except CancelledError as error:
            if getattr(error, "reason", None) in _SCHEDULER_AWAY:
                self._held.append(self._taken_back(number))
                return []
            told = Ended("", f"the cluster cancelled it ({error}).")
        except Exception as error:  # more workers died over it than Dask allows
            told = Ended("", f"the cluster gave it up ({type(error).__name__}: {error}).")
        held = self._taken_back(number)
        match told:
            case Came(result):
                return [(held.job, unpacked(result))]
            case Refused(worker, reason):
                self._roll.refuse([worker], reason)
                self._held.append(held)
            case Ended(worker, reason):
                if held.strikes + 1 >= MOST_STRIKES:
                    return [(held.job, Failure(reason))]
                self._held.append(_Held(held.job, held.strikes + 1, held.avoided | {worker}))
            case _:
                raise TypeError(f"a worker answered {type(told).__name__}")
        return []

    def cancel(self) -> None:
        """Want nothing more of all that is on its way."""
        self._held.clear()
        for number in list(self._sent):
            self._taken_back(number)
        if self._generation is not None:
            self._generation.future.release()
