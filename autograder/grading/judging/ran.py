"""The results of running a notebook's cells: outputs, exceptions, cells that took their worker with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.grading.assignment.rebuild import Step
from autograder.grading.judging.outputs import MAX_OUTPUT, clean_outputs, error_output, length
from autograder.protocol.answers import CellRan, Raised
from autograder.verdict import Finding, Status

MAX_LOST_IN_CELLS = 4
"""Cells that may take the worker with them before the student's own additions are not run any more."""


@dataclass(frozen=True)
class Ran:
    """The cells that were run, in one worker or in several, one after the other.

    A notebook is shown as it ran first: where a cell runs again, in another worker, the first time counts.
    """

    status: Status = "graded"
    outputs: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)
    """The outputs by the cells' places in the notebook."""
    errors: Mapping[str, StudentError] = field(default_factory=dict)
    """The exceptions that stopped cells, by name."""
    findings: tuple[Finding, ...] = ()
    given_up: frozenset[int] = frozenset()
    """The places of cells that are not run any more."""
    missed: bool = False
    """True if a cell has called something that its worker lacked."""

    def noted(self, kind: str, message: str) -> Ran:
        """Return the same with a finding, which is there only once."""
        finding = Finding(kind, message)
        return self if finding in self.findings else replace(self, findings=(*self.findings, finding))

    def with_cell(self, step: Step, ran: CellRan) -> Ran:
        """Return the same with a cell that the worker has lived through."""
        seen = replace(self, missed=self.missed or ran.missed)
        if step.index in self.outputs:
            return seen
        left = MAX_OUTPUT - sum(length(each) for outputs in self.outputs.values() for each in outputs)
        shown = clean_outputs(ran.outputs, left)
        if ran.error is not None and not any(each["output_type"] == "error" for each in shown):
            # Code of the student's may keep errors from being shown; nbgrader scores a cell by what it shows.
            shown.append(error_output(ran.error))
        seen = seen._showing(step, shown)
        if ran.error is None:
            return seen
        error = StudentError(ran.error)
        seen = replace(seen, errors={**seen.errors, step.name: error})
        if error.out_of_memory and step.role != "added":
            seen = replace(seen, status="out_of_memory").noted(
                "out_of_memory", f"The cell `{step.name}` asked for more memory than it may use."
            )
        if step.role == "added":
            seen = seen.noted("cell_error", f"An added cell stopped: {error}.")
        return seen

    def without_cell(self, step: Step, lost: WorkerLost) -> Ran:
        """Return the same with a cell that took the worker with it, and is given up."""
        where = (
            f"The cell `{step.name}`"
            if step.role == "solution"
            else "An added cell"
            if step.role == "added"
            else f"The test cell `{step.name}`"
            if step.role == "unprotected"
            else f"The released cell `{step.name}`"
        )
        says = {"timeout": "did not end in time", "out_of_memory": "used too much memory"}.get(
            lost.reason, "ended its process"
        )
        shown = error_output(Raised(type="Stopped", message=str(lost)))
        seen = replace(self, given_up=self.given_up | {step.index})._showing(step, [shown])
        seen = seen.noted(lost.reason, f"{where} {says} and was left out; everything else was graded.")
        if step.role != "added":
            stopped = StudentError(Raised(type="Stopped", message=f"the cell {says} when it was run."))
            seen = replace(seen, errors={**seen.errors, step.name: stopped})
        if step.role not in ("added", "unprotected"):  # a test cell is but one of several
            seen = replace(seen, status=lost.reason)
        return seen

    def without_added(self, steps: Iterable[Step]) -> Ran:
        """Return the same where no cell that the student added is run any more.

        The released cells and the answers are: those are few, and points depend on them.
        """
        added = {step.index for step in steps if step.role == "added"}
        return replace(self, given_up=self.given_up | added).noted(
            "not_run", "So many cells ended badly that all added cells were left out."
        )

    def out_of_time(self, steps: Iterable[Step]) -> Ran:
        """Return the same where no cell is run any more."""
        return replace(self, given_up=frozenset(step.index for step in steps)).noted(
            "not_run", "The time for this submission was used up before all of its cells had run."
        )

    def to_be_shown_again(self, steps: Iterable[Step]) -> Ran:
        """Return the same without what its cells showed, but for those that are given up."""
        again = [step for step in steps if step.index not in self.given_up]
        places, names = {step.index for step in again}, {step.name for step in again}
        return replace(
            self,
            outputs={place: outputs for place, outputs in self.outputs.items() if place not in places},
            errors={name: error for name, error in self.errors.items() if name not in names},
        )

    def skipped(self, step: Step) -> Ran:
        """Return the same with a cell that is given up and has shown nothing. A test has not passed then."""
        if step.index in self.outputs:
            return self
        seen = self._showing(step, [])
        if step.role != "unprotected":
            return seen
        stopped = StudentError(Raised(type="Stopped", message="there was no time left to run the cell."))
        return replace(seen, errors={**seen.errors, step.name: stopped})

    def _showing(self, step: Step, outputs: list[dict[str, Any]]) -> Ran:
        return replace(self, outputs={**self.outputs, step.index: outputs})
