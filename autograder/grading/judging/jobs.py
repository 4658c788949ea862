"""Jobs for judges, and the interface of whoever does them: processes of this machine, or of a cluster's.

What is judged cannot tell which, and neither can the batch.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from autograder.checking.diagnosis.match import Known
from autograder.checking.remote.errors import WorkerLost
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.workers.forkserver import ForkServer, RunLimits

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks

GRACE_SECONDS = 60.0
"""Seconds beyond twice a submission's that a judge may take before it is given up."""

Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True)
class Failure:
    """The result of a job that the machine failed to do, with the reason."""

    reason: str


@dataclass(frozen=True)
class Setting:
    """The things that all jobs of a pool have in common."""

    bundle: Bundle
    seed: int
    workers: ForkServer
    known: Mapping[str, Sequence[Known]] = field(default_factory=dict)
    """The known mistakes by task, for the diagnosis."""


class Job(Protocol[Result]):
    """Something for a judge to do. It and its result go through a pipe, so both are plain data."""

    def run(self, setting: Setting, checks: Checks) -> Result: ...


class Judges(Protocol):
    """Whoever does jobs for an assignment."""

    def conditions(self, bundle: Bundle) -> str:
        """Return what verdicts depend on besides the assignment, seed and versions.

        Raises `UserError` where these judges cannot provide it.
        """
        ...

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
        """Do jobs, taking each from `jobs` only when it is begun, and yield results together as they come.

        Those that came within `seconds` of the first go together, or `most` of them as soon as there are so
        many. A job that brings its judges down gives a `Failure` and stops nobody else.
        """
        ...


Item = TypeVar("Item")


class Gathering(Generic[Item]):
    """Results that wait for each other: up to some seconds, or until there are so many."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds, self._most = seconds, most
        self._items: list[Item] = []
        self._due = 0.0

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: Item) -> None:
        if not self._items:
            self._due = time.monotonic() + self._seconds
        self._items.append(item)

    @property
    def is_due(self) -> bool:
        """Return whether what is here must not wait any longer."""
        return bool(self._items) and (len(self._items) >= self._most or time.monotonic() >= self._due)

    def wait_at_most(self, seconds: float) -> float:
        """Return how long one may wait for more: `seconds`, or less where something is here already."""
        return min(seconds, max(0.0, self._due - time.monotonic())) if self._items else seconds

    def take(self) -> list[Item]:
        """Return what is here, and begin again."""
        taken, self._items = self._items, []
        return taken


def limits_of(bundle: Bundle, limits: RunLimits) -> RunLimits:
    """Return the limits of a notebook of submissions: of a plain one, with time for all tests to hang."""
    if bundle.cell_seconds is None:
        return limits
    total = max(limits.total_seconds, (len(bundle.instructor_tests) + 2) * bundle.cell_seconds)
    return replace(limits, cell_seconds=bundle.cell_seconds or total, total_seconds=total)


def patience(bundle: Bundle, limits: RunLimits) -> float:
    """Return the seconds after which a judge is given up, for a submission that made it run in circles."""
    return 2 * sum(limits_of(part, limits).total_seconds for part in bundle.parts) + GRACE_SECONDS


def result_of(job: Job[Result], setting: Setting, checks: Checks) -> Result | Failure:
    """Return what a job gives, or why it gives nothing."""
    try:
        return job.run(setting, checks)
    except WorkerLost as lost:
        return Failure(str(lost))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}.")
