"""The checks of one exercise as they were collected, and what a run of them needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import RecordedTape, Recorder, RecordingTape
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.runner.check import Check, Collected
from autograder.checking.runner.fault import Fault, fault_of
from autograder.checking.runner.handed_out import handed_out
from autograder.protocol.without import Without

_DRAWS = 512
"""Checks whose inputs are kept for the next submission: more than an assignment has."""


def dealt_out(points: Mapping[str, float], checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks with the points that their tasks have, in the proportions of those that they had.

    A task whose points cannot be dealt out so in whole and half numbers keeps those that its checks have.
    """
    factors = {}
    for task, worth in points.items():
        had = [check.points for check in checks if check.task == task]
        if sum(had) and all((2 * each * worth / sum(had)).is_integer() for each in had):
            factors[task] = worth / sum(had)
    return tuple(replace(check, points=check.points * factors.get(check.task, 1)) for check in checks)


class CollectedChecks:
    """The collected checks of one exercise.

    Of checks as students get them, those that are kept for grading are there by their points alone.
    """

    def __init__(
        self,
        collected: Sequence[Collected],
        folder: Path,
        shown_as: str = "",
        points: Mapping[str, float] | None = None,
    ) -> None:
        """`shown_as` is where their author has the folder, if it is a copy: for what is told of faults.

        `points` are those that tasks have in the notebook: they are dealt out to the tasks' checks.
        """
        self.folder, self._shown_as = folder, shown_as
        self._handed_out = handed_out(folder)
        self._recorder: Recorder | None = None
        kept_back = self._handed_out.checks if self._handed_out else ()
        written = tuple(dict.fromkeys([*(item.check for item in collected), *kept_back]))
        self.all = dealt_out(points or {}, written)
        as_dealt = dict(zip(written, self.all, strict=True))
        self._items: dict[Check, list[Collected]] = {}
        for item in collected:
            check = as_dealt[item.check]
            self._items.setdefault(check, []).append(replace(item, check=check))
        self._draws = lru_cache(_DRAWS)(Draw)

    def of(self, task: str) -> tuple[Check, ...]:
        """The task's checks, in the order of the file."""
        return tuple(check for check in self.all if check.task == task)

    def without(self, task: str) -> Without | None:
        """Return what does not work where a task is judged."""
        return next((check.without for check in self.of(task) if check.without is not None), None)

    def anywhere(self, task: str) -> bool:
        """Return whether a task may be judged where parts of torch do not work that it may use."""
        return self.without(task) is None and any(check.anywhere for check in self.of(task))

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Have what references give noted down while the block runs, hidden checks left out."""
        self._recorder = recorder = Recorder()
        try:
            yield recorder
        finally:
            self._recorder = None

    def items_of(self, check: Check) -> Sequence[Collected]:
        """Return a check once for each set of its parameters; nothing where it is kept for grading."""
        return self._items.get(check, ())

    def draw(self, seed: int, label: str, sizes: Sizes) -> Draw:
        """Return the source of a check's inputs, from the beginning."""
        return self._draws(seed, label, sizes).again()

    def fault(self, item: Collected, raised: BaseException) -> Fault:
        """Return the fault of a check that ended with an exception that finds nothing in an answer."""
        written_at = getattr(item.function, "autograder_written_at", None)
        return fault_of(raised, self.folder, self._shown_as, written_at)

    def tape(self, check: Check, place: str) -> RecordedTape | RecordingTape | None:
        """Return the tape that looks up or notes references, if any: complete checks mostly need none."""
        if self._handed_out is not None:
            return RecordedTape(self._handed_out.recorded, place)
        if self._recorder is not None and check.instead is None:
            return self._recorder.tape(place)
        return None
