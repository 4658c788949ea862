"""The faults that judging met, each with all that met it: the solution, a known mistake, a submission."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict

from autograder.checking.runner.fault import Fault
from autograder.errors import UserError
from autograder.verdict import CheckVerdict, TaskVerdict

_NAMED = 3


@dataclass(frozen=True)
class MetFault:
    """A fault of one check, and what met it, in words such as `the solution`."""

    task: str
    check: str
    fault: Fault
    met_by: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.met_by) - _NAMED
        met = ", ".join([*self.met_by[:_NAMED], *([f"{more} more"] if more > 0 else [])])
        return (
            f"{self.fault.place}: the check `{self.check}` of `{self.task}` has a fault: "
            f"{self.fault.raised}; met by {met}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "check": self.check,
            **asdict(self.fault),
            "met_by": list(self.met_by),
        }


def faulty(task: TaskVerdict) -> list[CheckVerdict]:
    """The checks of a task that have a fault; those that wait for one of them are not among them."""
    return [check for check in task.checks if check.outcome == "fault"]


def met_faults(judged: Iterable[tuple[str, TaskVerdict]]) -> list[MetFault]:
    """The faults in some verdicts of tasks, each with a name; one fault is one place and one exception."""
    found: dict[tuple[str, str, str, str, int], tuple[Fault, dict[str, None]]] = {}
    for name, task in judged:
        for check in faulty(task):
            fault = check.fault
            assert fault is not None
            key = (task.task, check.check, fault.type, fault.file, fault.line)
            found.setdefault(key, (fault, {}))[1][name] = None
    return [MetFault(task, check, fault, tuple(names)) for (task, check, *_), (fault, names) in found.items()]


def refuse_faults(assignment: str, faults: Sequence[MetFault]) -> None:
    """Refuse to release an assignment whose checks have faults: `UserError` with all that mends them."""
    if faults:
        told = "\n".join(f"{met}\n{met.fault.traceback}" for met in faults)
        raise UserError(f"{told}\n{assignment} cannot be released.")
