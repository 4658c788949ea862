"""Finds out more about wrong values by running their check again: other seed, inputs and sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from autograder.checking.expectations.values import WrongShape, WrongValues
from autograder.checking.explain.evidence import Evidence
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import NotRecorded
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.errors import WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.marks import Rule
from autograder.checking.runner.outcome import FINDINGS
from autograder.checking.tolerance import identical
from autograder.checking.wrong_values.dependence import dependence
from autograder.checking.wrong_values.shrink import smallest
from autograder.checking.wrong_values.wrong_call import Budget, BudgetSpent, WrongCall, argument_names
from autograder.protocol.messages import Call

TRIED_AGAIN: tuple[Rule, ...] = ("values", "generality", "dropout")
"""The rules of checks in which a right answer to a call draws nothing at random: of dropout, what has other
values than `expect` wants."""
_MOST_CALLS = 12
"""Further calls that may be made to explain an answer, about as many as a right one takes. A run of the check
that has begun is finished."""
_CHANGING = (
    "The same call, repeated, gives different numbers: is something drawn at random, kept from an earlier "
    "call, copied from the parameters in `__init__`, or never filled (`torch.empty`)?"
)


class Tried(NamedTuple):
    """One run of a check: what it ended with, and the source of its inputs."""

    raised: BaseException | None
    draw: Draw

    @property
    def letters(self) -> set[str]:
        """Return the dimensions of what it drew."""
        return self.draw.letters


class Run(Protocol):
    """Runs the check once more: at other sizes, or with another seed of the student's."""

    def __call__(self, *, sizes: Sizes | None = None, again: bool = False) -> Tried: ...


@dataclass(frozen=True)
class Trying:
    """A check that found wrong values in a call, which is run again to find out more."""

    rule: Rule
    dimensions: Dimensions
    submission: Submission
    run: Run
    raised: WrongValues
    call: WrongCall | None
    renew: Callable[[], None]
    """Puts a new worker in place of one that was lost over this."""

    def found(self) -> str:
        """Return what is found out, in a sentence that is certain; `""` if nothing is."""
        try:
            return self._found()
        except (NotRecorded, BudgetSpent):
            return ""
        except WorkerLost as lost:
            if lost.reason == "infra_error":
                raise
            self.renew()
            return ""

    def _found(self) -> str:
        budget = Budget(_MOST_CALLS)
        again = self._try(budget, again=True)
        if not isinstance(again.raised, (*FINDINGS, type(None))):
            return ""  # a fault of the check's tells nothing of the answer
        if not _alike(self.raised, again.raised):
            return _CHANGING
        if self.raised.is_explained or self.rule == "dropout":
            return ""
        letters = set(again.letters)
        told = ""
        if self.call is not None:
            names = argument_names(self.call, self.submission.sources)
            told = dependence(self.submission.connection, self.call, self.raised, names, budget)
        if told or self.rule != "values":
            return told
        fails, passes = partial(self._fails, budget), partial(self._passes_at, budget)
        return smallest(fails, passes, letters, self.dimensions)

    def _fails(self, budget: Budget, sizes: Sizes) -> bool:
        return isinstance(self._try(budget, sizes=sizes).raised, WrongValues)

    def _passes_at(self, budget: Budget, sizes: Sizes) -> bool:
        try:
            return self._try(budget, sizes=sizes).raised is None
        except (NotRecorded, BudgetSpent):
            return False

    def _try(self, budget: Budget, *, sizes: Sizes | None = None, again: bool = False) -> Tried:
        budget.spend()
        tried = self.run(sizes=sizes, again=again)
        exchanges = self.submission.connection.exchanges
        budget.left -= sum(isinstance(message, Call) for message, _ in exchanges) - 1
        if isinstance(tried.raised, (WorkerLost, NotRecorded)):
            raise tried.raised
        return tried


def shape_at_other_sizes(
    raised: WrongShape, run: Run, sizes: Sizes, renew: Callable[[], None]
) -> tuple[str, Evidence] | None:
    """Return the message and the evidence of a wrong shape with only what holds at other sizes, too.

    `None` if the check does not find the same result wrong there. `renew` is called if the student's process
    is lost over that.
    """
    again = tried_or_renewed(run, sizes, renew)
    if isinstance(again, WrongShape) and (again.name, again.dims) == (raised.name, raised.dims):
        return raised.borne_out_by(again)
    return None


def tried_or_renewed(run: Run, sizes: Sizes, renew: Callable[[], None]) -> BaseException | None:
    """Return what a run at other sizes ends with; `renew` is called if the student's process is lost."""
    again = run(sizes=sizes).raised
    if isinstance(again, WorkerLost):
        if again.reason == "infra_error":
            raise again
        renew()
    return again


def _alike(once: WrongValues, again: BaseException | None) -> bool:
    """Return whether a check found the same numbers wrong twice, to the last digit."""
    if not isinstance(again, WrongValues) or str(once) != str(again):
        return False
    if once.seen is None or again.seen is None or once.seen.is_complex():
        return True
    return identical(once.seen, again.seen)
