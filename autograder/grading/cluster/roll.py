"""The workers of a cluster: which of them may judge, and why the others may not."""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograder.errors import UserError
from autograder.grading.cluster.examination import (
    Machine,
    examined,
    misfit,
    of_process,
    other_version,
    versions,
)

EXAMINED_SECONDS = 180.0
"""Seconds in which the workers that are there at the beginning must have told what they have."""
FIRST_SECONDS = 10.0
"""Seconds in which a first worker must be there."""
BACK_SECONDS = 60.0
"""Seconds without any worker before a batch is ended: one that was killed is back by then."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at which workers there are."""
_NAMED = 3
"""Workers named in one sentence."""


class Roll:
    """The workers that a scheduler has, examined once each; `tell` gets a sentence about those left out."""

    def __init__(self, client: Any, tell: Callable[[str], None]) -> None:
        self._client, self._tell = client, tell
        self.fit: dict[str, int] = {}
        """The threads, and so the judges, of each worker that may judge, by address."""
        self._refused: dict[str, str] = {}
        """The reasons of those that may not, by address."""
        self._ours = versions()
        self._present: dict[str, int] = {}
        self._asked: set[str] = set()
        """The workers that are being examined."""
        self._told: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._looked = 0.0
        self._last_seen = time.monotonic()

    def begin(self) -> None:
        """Wait until the workers that are there are examined. Raises `UserError` where none can judge."""
        began = time.monotonic()
        while True:
            self.look(FIRST_SECONDS)
            if self.fit and not self._asked:
                return
            if time.monotonic() - began > EXAMINED_SECONDS:
                break
            time.sleep(0.05)
        if not self.fit:
            raise UserError("No worker of the cluster answers.")
        self._tell(f"{_named(self._asked)} slow to answer and will be used as soon as there is an answer.")

    def look(self, seconds: float = BACK_SECONDS) -> None:
        """Notice who has come and gone, at most once a second, and have newcomers examined beside the work.

        Raises `UserError` where nobody can judge: at once if all refuse, after so many `seconds` if none is
        there.
        """
        while not self._told.empty():
            self._take(self._told.get())
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            workers = self._client.scheduler_info()["workers"]
            self._present = {address: int(worker["nthreads"]) for address, worker in workers.items()}
            self.fit = {address: self.fit[address] for address in self.fit if address in self._present}
            new = self._present.keys() - self.fit.keys() - self._refused.keys() - self._asked
            if new:
                self._asked |= new
                threading.Thread(target=self._ask, args=(sorted(new),), daemon=True).start()
        if self.fit or self._asked:
            self._last_seen = now
        elif self._present.keys() & self._refused.keys():
            raise UserError("None of the cluster's workers can judge.")
        elif now - self._last_seen > seconds:
            raise UserError(f"The cluster has had no worker for {seconds:.0f} seconds.")

    def _ask(self, addresses: list[str]) -> None:
        try:
            told = self._client.run(examined, workers=addresses, on_error="return")
        except Exception as error:  # the scheduler went away, for one
            told = dict.fromkeys(addresses, error)
        self._told.put({address: told.get(address, OSError("no answer")) for address in addresses})

    def _take(self, told: Mapping[str, Any]) -> None:
        reasons: dict[str, list[str]] = defaultdict(list)
        for address, answer in told.items():
            self._asked.discard(address)
            # Of one that is gone there is nothing to tell; one that is still there will be asked again.
            if address in self._present and not isinstance(answer, OSError):
                if reason := unfit(answer, self._ours):
                    reasons[reason].append(address)
                else:
                    self.fit[address] = self._present[address]
        for reason, addresses in reasons.items():
            self.refuse(addresses, reason)

    def refuse(self, addresses: Iterable[str], reason: str) -> None:
        """Leave workers out, and tell why."""
        new = [address for address in addresses if address not in self._refused]
        for address in new:
            self.fit.pop(address, None)
            self._refused[address] = reason
        if new:
            self._tell(f"{_named(new)} left out: {reason.rstrip('.')}.")


def require_same_scheduler(client: Any, address: str) -> None:
    """Raise `UserError` where the scheduler, which reads what it passes on, has not this autograder."""
    ours = versions()
    try:
        reason = other_version(
            client.run_on_scheduler(of_process), ours, ("autograder", "Python", "distributed", "code")
        )
    except Exception as error:  # Dask hands on few of them as what they were
        reason = _unexamined(error, ours)
    if reason:
        raise UserError(f"The Dask scheduler at {address} cannot pass on what is to be judged: {reason}.")


def unfit(answer: Any, ours: Mapping[str, str]) -> str:
    """Return why a worker that answered its examination so cannot judge; `""` if it can."""
    if isinstance(answer, BaseException):
        return _unexamined(answer, ours)
    return misfit(Machine(**answer), ours)


def _unexamined(error: BaseException, ours: Mapping[str, str]) -> str:
    return f"it cannot be examined, as where autograder {ours['autograder']} is not installed ({error})"


def _named(addresses: Iterable[str]) -> str:
    """Name workers as the beginning of a sentence, with its verb."""
    named = sorted(addresses)
    if len(named) == 1:
        return f"The worker {named[0]} is"
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"The workers {', '.join(named[:_NAMED])}{more} are"
