"""The checks of one exercise, collected once and run for any number of submissions."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch

from autograder.checking.diagnosis import match
from autograder.checking.diagnosis.fingerprint import fingerprint
from autograder.checking.diagnosis.match import Answered, Known
from autograder.checking.expectations.values import WrongShape, WrongValues
from autograder.checking.explain.defaults import kept_default
from autograder.checking.explain.failure import CheckFailed, Rounded
from autograder.checking.explain.lists import taken_apart
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import NotRecorded, RecordedTape, Recorder, RecordingTape, using
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Exchange
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import Check, CheckResult, ChecksBroken, Collected
from autograder.checking.runner.error_help import ErrorHelp
from autograder.checking.runner.fault import Fault, fault_of
from autograder.checking.runner.handed_out import handed_out
from autograder.checking.runner.isolation import on_one_thread
from autograder.checking.runner.outcome import (
    FINDINGS,
    is_left_over,
    is_unwritten,
    read_failure,
    sentences,
    was_judged,
)
from autograder.checking.runner.trying import TRIED_AGAIN, Tried, Trying, shape_at_other_sizes
from autograder.checking.tolerance import computed_in
from autograder.checking.wrong_values.shrink import ladder
from autograder.checking.wrong_values.unread import never_read
from autograder.checking.wrong_values.wrong_call import failed_call, wrong_call
from autograder.protocol.without import Without

PUBLIC_SEED = 2013
"""The seed of the inputs that students see in their notebooks."""
_STEPS = {"values": 5, "gradient": 5, "shape": 4}
"""The sizes of what is carried from index to index, as time, by the rules that look at it."""
_FEW_STEPS = 2
"""The size for the others: each step runs the student's Python again, which is most of what a check costs."""
_OF_ANSWERS = ("shape", "values", "generality")
"""The rules of checks that a look at what the function reads comes first in."""
_OF_VALUES = ("values", "generality")
"""The rules of checks that say whether answers are right."""
_DRAWS = 512
"""Checks whose inputs are kept for the next submission: more than an assignment has."""
_TRIED_SIZES = 20
"""Sizes that are drawn for one run, of which the one is taken that is the most unlike the check's."""
_NOT_RECORDED = (
    "Judged at grading only: the right answers that came with this check are for other inputs than it draws "
    "here. Is the installed package the one that your course names, and its torch?"
)


KnownOf = Callable[[Mapping[str, str]], Sequence[Known]]
"""Gives the known mistakes of a task that a look at fingerprints, by check, may find in a submission."""


def _none_known(_: Mapping[str, str]) -> Sequence[Known]:
    return ()


class Checks:
    """The collected checks of one exercise.

    Of checks as students get them, those that are kept for grading are there by their points alone.
    """

    def __init__(self, collected: Sequence[Collected], folder: Path, shown_as: str = "") -> None:
        """`shown_as` is where their author has the folder, if it is a copy: for what is told of faults."""
        self._folder, self._shown_as = folder, shown_as
        self._handed_out = handed_out(folder)
        self._recorder: Recorder | None = None
        self._items: dict[Check, list[Collected]] = {}
        for item in collected:
            self._items.setdefault(item.check, []).append(item)
        kept_back = self._handed_out.kept_back if self._handed_out else ()
        self.all: tuple[Check, ...] = (*self._items, *kept_back)
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

    def run(
        self,
        task: str,
        submission: Submission,
        *,
        seed: int,
        include_hidden: bool,
        renew: Callable[[], None] | None = None,
        explain: bool = True,
        known: KnownOf = _none_known,
    ) -> list[CheckResult]:
        """Run one task's checks. `renew` puts a new worker in place after a check lost it.

        The first wrong values are explained by a few further calls. Nothing is found out about them without
        `explain`, or where they are one of the `known` mistakes, whose hint says more. An answer
        that rounds to float32 on its way fails a check of dtypes, and is otherwise compared as a result of
        float32: one mistake costs the points of one rule.
        """
        if include_hidden and self._handed_out is not None:
            raise ChecksBroken(
                "these checks are as students get them, without those that are kept for grading"
            )
        judge = partial(self._run, task, submission, seed, include_hidden, renew, explain, known)
        with on_one_thread():
            results = judge()
            if not _may_be_wrong_by_rounding(results):
                return results
            with computed_in(torch.float32):
                as_rounded = judge()
            rounds = any(each.rounds for each in as_rounded)
            return as_rounded if rounds and _points(as_rounded) > _points(results) else results

    def _run(
        self,
        task: str,
        submission: Submission,
        seed: int,
        include_hidden: bool,
        renew: Callable[[], None] | None,
        explain: bool,
        known: KnownOf,
    ) -> list[CheckResult]:
        results: list[CheckResult] = []
        wrong: tuple[int, Trying] | None = None
        passed: set[str] = set()
        faults: dict[str, Fault] = {}
        for check in self.of(task):
            if check.instead is not None and not include_hidden:
                continue
            unmet = [name for name in check.needs if name not in passed]
            if unmet:
                fault = next((faults[name] for name in unmet if name in faults), None)
                told = _skipped(unmet[0], self.of(task)) if fault is None else _left_out(fault)
                result = CheckResult(check, "skipped", told, fault=fault)
            else:
                submission.connection.values_hold = _values_hold(results)
                first = all(result.outcome in ("passed", "skipped") for result in results)
                look = explain and first
                result, trying = self._run_one(check, submission, seed, (renew or _nothing) if look else None)
                wrong = (len(results), trying) if trying is not None else wrong
                # An argument that is written into is read first, though it is found later.
                if explain and (first or check.rule == "mutation") and result.answers is not None:
                    source = submission.sources.get(task, "")
                    told = " ".join(filter(None, (result.message, kept_default(source), taken_apart(source))))
                    result = replace(result, message=told)
                if result.outcome in ("timeout", "crashed") and renew is not None:
                    renew()
            if result.outcome == "passed":
                passed.add(check.name)
            if result.fault is not None:
                faults[check.name] = result.fault
            results.append(result)
        if wrong is not None and not _is_known(results[wrong[0]].check, results, known):
            at, trying = wrong
            results[at] = replace(results[at], message=sentences(results[at].message, trying.found()))
        return results

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Have what references give noted down while the block runs, hidden checks left out."""
        self._recorder = recorder = Recorder()
        try:
            yield recorder
        finally:
            self._recorder = None

    def unfit_for_small_sizes(self, task: str, right: Submission, seed: int) -> list[str]:
        """The checks of values that fail a right answer at the sizes that `smallest` tries."""

        def is_unfit(item: Collected) -> bool:
            tried = (self._try(item, right, seed, sizes=sizes) for sizes in ladder(item.dimensions))
            return any(_is_unfit(each.raised) for each in tried)

        with on_one_thread():
            values = [check for check in self.of(task) if check.rule == "values"]
            return [check.name for check in values for item in self._items.get(check, ()) if is_unfit(item)]

    def _run_one(
        self, check: Check, submission: Submission, seed: int, renew: Callable[[], None] | None
    ) -> tuple[CheckResult, Trying | None]:
        """Run one check, and return what can explain wrong values, if that is wanted and may be possible.

        With `renew`, what is said of a shape or an error is borne out by running the check again. It is
        called should the student's process be lost over that.
        """
        remarks: list[str] = []
        for item in self._items[check]:
            raised, draw = self._try(item, submission, seed)
            if raised is None:
                remarks += submission.connection.remarks
                continue
            if isinstance(raised, NotRecorded):
                return CheckResult(check, "skipped", _NOT_RECORDED), None
            if not isinstance(raised, FINDINGS):
                written_at = getattr(item.function, "autograder_written_at", None)
                fault = fault_of(raised, self._folder, self._shown_as, written_at)
                return CheckResult(check, "fault", fault.told, fault=fault), None
            exchanges = submission.connection.exchanges
            source = submission.sources.get(check.task, "")
            error = None
            if isinstance(raised, StudentError):
                error = self._error_help(check.task, raised, draw, exchanges)
                raised.help = error.told()
            outcome, message = read_failure(raised, check.task, submission)
            # Now: below, the check is made again with other inputs.
            prints = submission.connection.prints()
            seen = raised.seen if isinstance(raised, (WrongShape, WrongValues)) else None
            call = failed_call(check.task, exchanges, seen)
            if not was_judged(raised):
                blank = is_unwritten(raised) and not is_left_over(raised, source)
                return CheckResult(
                    check, outcome, message, prints=prints, unwritten=blank, call=() if blank else call
                ), None
            result = CheckResult(
                check, outcome, message, prints=prints, call=call, rounds=isinstance(raised, Rounded)
            )
            if isinstance(raised, CheckFailed):
                result = replace(result, earned=raised.earned, evidence=raised.evidence)
            accused = raised.accused if isinstance(raised, CheckFailed) else ""
            result = replace(result, answers=fingerprint(exchanges, check.rule, accused))
            if renew is None:
                return result, None
            unread = never_read(check.task, source, exchanges) if check.rule in _OF_ANSWERS else ""
            if isinstance(raised, WrongValues) and check.rule in TRIED_AGAIN and not unread:
                return result, self._trying(item, submission, seed, raised, renew)
            if unread and error is None:
                return replace(result, message=f"{unread} {message}"), None
            result = self._borne_out(result, item, submission, seed, error or raised, draw.sizes, renew)
            return replace(result, message=sentences(result.message, unread)), None
        return CheckResult(check, "passed", " ".join(dict.fromkeys(remarks))), None

    def _borne_out(
        self,
        result: CheckResult,
        item: Collected,
        submission: Submission,
        seed: int,
        raised: BaseException | ErrorHelp,
        sizes: Sizes,
        renew: Callable[[], None],
    ) -> CheckResult:
        """Return the result of a failed check with only what holds at other sizes, too."""
        run = partial(self._try, item, submission, seed)
        if isinstance(raised, WrongShape) and item.check.rule == "shape":
            told = shape_at_other_sizes(raised, run, _other_sizes(sizes, seed), renew)
            return replace(result, message=told[0], evidence=told[1]) if told else result
        if isinstance(raised, ErrorHelp):
            raised.raised.help = raised.told_by_other_sizes(run, _other_sizes(sizes, seed), renew)
            _, message = read_failure(raised.raised, item.check.task, submission)
            return replace(result, message=message)
        return result

    def _error_help(
        self, task: str, raised: StudentError, draw: Draw, exchanges: Sequence[Exchange]
    ) -> ErrorHelp:
        signatures = {
            name: each for stated in self._stated(task, "signatures") for name, each in stated.items()
        }
        return ErrorHelp(raised, draw, tuple(exchanges), signatures, {check.task for check in self.all})

    def _stated(self, task: str, what: str) -> list[Any]:
        """Return what the specifications of a task say, check by check."""
        items = (item for check in self.of(task) for item in self._items.get(check, ()))
        found = (getattr(item.function, f"autograder_{what}", None) for item in items)
        return [each for each in found if each is not None]

    def _trying(
        self,
        item: Collected,
        submission: Submission,
        seed: int,
        raised: WrongValues,
        renew: Callable[[], None],
    ) -> Trying:
        """Return what can explain wrong values; the call that they came from is looked for at once, before
        anything else is asked."""
        call, task = None, item.check.task
        if raised.seen is not None:
            students = _student_seed(seed, f"{task}/{item.name}")
            stated = getattr(item.function, "autograder_inputs", {})
            call = wrong_call(task, students, submission.connection.exchanges, raised.seen, stated)
        run = partial(self._try, item, submission, seed)
        return Trying(item.check.rule, item.dimensions, submission, run, raised, call, renew)

    def _try(
        self,
        item: Collected,
        submission: Submission,
        seed: int,
        *,
        sizes: Sizes | None = None,
        again: bool = False,
    ) -> Tried:
        """Run one check once, at the seed's sizes or at others.

        `again` gives the student's generators another seed, and leaves the inputs as they are.
        """
        check, label = item.check, f"{item.check.task}/{item.name}"
        sizes = sizes or _drawn_sizes(seed, label, _STEPS.get(check.rule, _FEW_STEPS), item.dimensions)
        stated = self._stated(check.task, "letters")
        sizes = sizes.of(frozenset().union(*stated)) if stated else sizes
        draw = self._draws(seed, label, sizes).again()
        submission.connection.own = submission.sources.get(check.task, "")
        submission.connection.begin(check.task, _student_seed(seed, f"{label}{' again' if again else ''}"))
        with using(self._tape(check, f"{label} {sizes}")):
            raised = item.raised_with({"submission": submission, "sizes": sizes, "draw": draw})
        try:
            if not isinstance(raised, WorkerLost):
                submission.connection.finish()
        except Exception as error:  # whatever may come of a request, and of an answer that is none
            raised = error  # it came before whatever the check found
        return Tried(raised, draw)

    def _tape(self, check: Check, place: str) -> RecordedTape | RecordingTape | None:
        """Return the tape that looks up or notes references, if any: complete checks mostly need none."""
        if self._handed_out is not None:
            return self._handed_out.recorded.tape(place)
        if self._recorder is not None and check.instead is None:
            return self._recorder.tape(place)
        return None


@lru_cache(_DRAWS)
def _drawn_sizes(seed: int, label: str, ordered: int, dimensions: Dimensions) -> Sizes:
    return Sizes.drawn(random.Random(f"{seed}:{label}"), ordered, dimensions)


def _other_sizes(sizes: Sizes, seed: int) -> Sizes:
    """Return sizes of which as many as can be are others than these."""
    source, known = random.Random(f"{seed}: others than {sizes}"), sizes.by_letter()
    ordered = 3 + max((known[letter] for letter, each in sizes.dimensions.items() if each.ordered), default=0)
    tried = [Sizes.drawn(source, ordered, sizes.dimensions) for _ in range(_TRIED_SIZES)]
    return min(
        tried, key=lambda other: sum(known[letter] == each for letter, each in other.by_letter().items())
    )


def _student_seed(seed: int, label: str) -> int:
    """Return the seed of the student's generator: it must not tell the seed of the inputs."""
    return int.from_bytes(hashlib.blake2b(f"student:{seed}:{label}".encode(), digest_size=7).digest(), "big")


def _may_be_wrong_by_rounding(results: Sequence[CheckResult]) -> bool:
    """Return whether an answer rounds on its way, and fails a check that compares numbers."""
    return any(each.rounds for each in results) and any(
        each.outcome == "failed" and each.check.rule in (*_OF_VALUES, "gradient") for each in results
    )


def _points(results: Sequence[CheckResult]) -> float:
    return sum(each.points for each in results)


def _is_known(check: Check, results: Sequence[CheckResult], known: KnownOf) -> bool:
    """Return whether a known mistake explains what a check found."""
    answered = [Answered(each.check.name, each.outcome, each.answers) for each in results]
    answers = {each.check: each.answers for each in answered if each.answers is not None}
    return check.name in match.explain(answered, known(answers))


def _values_hold(results: Sequence[CheckResult]) -> bool:
    """Return whether all checks of values so far have passed; without points nobody loses by failing one."""
    told = [each.outcome for each in results if each.check.rule in _OF_VALUES and each.check.points]
    return bool(told) and all(outcome == "passed" for outcome in told)


def _skipped(unmet: str, checks: tuple[Check, ...]) -> str:
    title = next((check.title for check in checks if check.name == unmet), unmet)
    return f"Not judged until this holds: {title}"


def _left_out(fault: Fault) -> str:
    return f"Not judged, because a check that it depends on could not be judged: {fault.told}"


def _is_unfit(raised: BaseException | None) -> bool:
    """Return whether a check of values fails the right answer, or has a fault, where it should pass."""
    return isinstance(raised, WrongValues) or not isinstance(raised, (*FINDINGS, type(None)))


def _nothing() -> None:
    """A student's own process is not lost: the check would be lost with it."""
