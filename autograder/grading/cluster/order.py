"""The things that go to a cluster's workers, and those that come back.

A Dask worker hands them on between the machine that called it and its judges without opening them: it needs
neither torch nor the two seconds in which that is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from autograder.grading.workers.forkserver import RunLimits

if TYPE_CHECKING:
    from autograder.checking.diagnosis.match import Known
    from autograder.grading.assignment.bundle import Bundle

JOB_SECONDS = 60.0
"""Seconds without a job after which a judge ends: whoever called it may have been killed."""
IDLE_SECONDS = 300.0
"""Seconds for which a host without judges stays for the next batch, which then begins at once."""


@dataclass(frozen=True)
class Start:
    """All that a host needs to begin, which is long before there is an order."""

    limits: RunLimits
    idle_seconds: float = IDLE_SECONDS


@dataclass(frozen=True)
class Order:
    """All that a judge needs before it can judge; the same for all jobs of a batch."""

    bundle: Bundle
    seed: int
    known: Mapping[str, Sequence[Known]]
    digest: str
    """The bundle's digest where the order was made: with other checks nobody must judge."""


@dataclass(frozen=True)
class Parcel:
    """An order as it travels."""

    name: str
    start: Start
    preload: tuple[str, ...]
    """The modules that a judge's fork server must have imported."""
    patience: float
    """The seconds after which a judge is given up over a job."""
    order: bytes

    @classmethod
    def of(cls, name: str, order: Order, start: Start, patience: float) -> Parcel:
        return cls(name, start, order.bundle.preload, patience, packed(order))


@dataclass(frozen=True)
class Came:
    """The result of a job, packed."""

    result: bytes


@dataclass(frozen=True)
class Ended:
    """The answer where a judge came to its end over a job."""

    worker: str
    reason: str


@dataclass(frozen=True)
class Refused:
    """The answer of a worker that cannot judge, whatever the job; the reason is the end of a sentence."""

    worker: str
    reason: str


def packed(value: Any) -> bytes:
    """Return what `Connection.recv` at the other end of a pipe makes the same value of."""
    return bytes(ForkingPickler.dumps(value))


def unpacked(raw: bytes) -> Any:
    """Return a value that a judge has packed. Never call it with anything of a student's process."""
    return ForkingPickler.loads(raw)
