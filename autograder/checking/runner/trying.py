"""Finds out more about wrong values by running their check again: other seed, inputs and sizes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import torch

from autograder.checking.expectations.comparing import recognized
from autograder.checking.expectations.values import WrongShape, WrongValues
from autograder.checking.explain.evidence import Evidence
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import NotRecorded
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.recognize import recognize_along
from autograder.checking.remote.errors import WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.marks import Rule
from autograder.checking.runner.outcome import FINDINGS
from autograder.checking.wrong_values.dependence import dependence, equal_answers
from autograder.checking.wrong_values.made_right import made_right
from autograder.checking.wrong_values.shrink import smallest
from autograder.checking.wrong_values.where_right import right_where
from autograder.checking.wrong_values.wrong_call import WrongCall, argument_names
from autograder.protocol.values import tensors_in

TRIED_AGAIN: tuple[Rule, ...] = ("values", "generality", "dropout")
"""The rules of checks in which a right answer to a call draws nothing at random: of dropout, what has other
values than `expect` wants."""
_MOST_SECONDS_OF_A_CALL = 0.2
"""The time of a call that is made again: a slow one, some fifty times, would keep the student waiting."""
_CHANGING = (
    "The same call, repeated, gives different numbers: is something drawn at random, kept from an earlier "
    "call, or never filled (`torch.empty`)?"
)
_OF_ANOTHER_MODULE = (
    "A second module that was given the same parameters gives different numbers. Is something made from the "
    "parameters in `__init__`, with `cat` or `clone`, say? It keeps the numbers that they had then."
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
        except NotRecorded:
            return ""
        except WorkerLost as lost:
            if lost.reason == "infra_error":
                raise
            self.renew()
            return ""

    def _found(self) -> str:
        again = self._try(again=True)
        if not isinstance(again.raised, (*FINDINGS, type(None))):
            return ""  # a fault of the check's tells nothing of the answer
        if not _alike(self.raised, again.raised):
            return _OF_ANOTHER_MODULE if self._depends_on_the_module() else _CHANGING
        if self.raised.is_explained or self.rule == "dropout":
            return ""
        letters = set(again.letters)
        told = self._of_the_call() if self.call is not None else ""
        if told or self.rule != "values":
            return told
        return smallest(self._fails, self._passes_at, letters, self.dimensions)

    def _of_the_call(self) -> str:
        """Return what is found out by making the wrong call again with other inputs."""
        assert self.call is not None
        names = argument_names(self.call, self.submission.sources)
        connection, told = self.submission.connection, ""
        begun = time.monotonic()
        self.call.answer(connection)
        if time.monotonic() - begun <= _MOST_SECONDS_OF_A_CALL:
            told = dependence(connection, self.call, self.raised, names)
            told = told or made_right(connection, self.call, self.raised, names)
        return told or right_where(self.call, self.raised, names) or _same_along(self.raised)

    def _depends_on_the_module(self) -> bool:
        """Return whether one module gives the same numbers each time, and another one other numbers."""
        if self.call is None or not self.call.makes_a_module:
            return False
        connection, other = self.submission.connection, replace(self.call, seed=self.call.seed + 1)
        once, twice = self.call.answer(connection), self.call.second_answer(connection)
        return (
            bool(tensors_in(once))
            and equal_answers(once, twice)
            and not equal_answers(once, other.answer(connection))
        )

    def _fails(self, sizes: Sizes) -> bool:
        return isinstance(self._try(sizes=sizes).raised, WrongValues)

    def _passes_at(self, sizes: Sizes) -> bool:
        try:
            return self._try(sizes=sizes).raised is None
        except NotRecorded:
            return False

    def _try(self, *, sizes: Sizes | None = None, again: bool = False) -> Tried:
        tried = self.run(sizes=sizes, again=again)
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


def _same_along(raised: WrongValues) -> str:
    """Say by what wrong numbers differ that does not change along a dimension, `""` if by no such thing."""
    if raised.seen is None or raised.right is None or raised.sizes is None:
        return ""
    return recognized(raised.seen, raised.right, " ".join(raised.dims), raised.sizes, look=recognize_along)


def _alike(once: WrongValues, again: BaseException | None) -> bool:
    """Return whether a check found the same numbers wrong twice, to the last digit."""
    if not isinstance(again, WrongValues) or str(once) != str(again):
        return False
    if once.seen is None or again.seen is None or once.seen.is_complex():
        return True
    if once.seen.dtype != again.seen.dtype:
        return False
    return torch.allclose(once.seen.double(), again.seen.double(), rtol=0.0, atol=0.0, equal_nan=True)
