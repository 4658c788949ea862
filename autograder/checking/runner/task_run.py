"""The checks of one task, run on one submission."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from autograder.checking.diagnosis import match
from autograder.checking.diagnosis.fingerprint import fingerprint
from autograder.checking.diagnosis.match import Answered, Known
from autograder.checking.expectations.values import WrongShape, WrongValues
from autograder.checking.explain.defaults import kept_default
from autograder.checking.explain.failure import CheckFailed, Rounded
from autograder.checking.explain.lists import taken_apart
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.references import NotRecorded, using
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import Check, CheckResult, Collected
from autograder.checking.runner.collected import CollectedChecks
from autograder.checking.runner.error_help import ErrorHelp
from autograder.checking.runner.outcome import (
    FINDINGS,
    is_left_over,
    is_unwritten,
    read_failure,
    sentences,
    was_judged,
)
from autograder.checking.runner.trying import TRIED_AGAIN, Tried, Trying, shape_at_other_sizes
from autograder.checking.wrong_values.unread import never_read
from autograder.checking.wrong_values.wrong_call import failed_call, wrong_call

OF_VALUES = ("values", "generality")
"""The rules of checks that say whether answers are right."""
_OF_ANSWERS = ("shape", "values", "generality")
"""The rules of checks that a look at what the function reads comes first in."""
_STEPS = {"values": 5, "gradient": 5, "shape": 4}
"""The sizes of what is carried from index to index, as time, by the rules that look at it."""
_FEW_STEPS = 2
"""The size for the others: each step runs the student's Python again, which is most of what a check costs."""
_DRAWN = 512
"""Checks whose sizes are kept for the next submission: more than an assignment has."""
_TRIED_SIZES = 20
"""Sizes that are drawn for one run, of which the one is taken that is the most unlike the check's."""
_NOT_RECORDED = (
    "Judged at grading only: the right answers that came with this check are for other inputs than it draws "
    "here. Is the installed package the one that your course names, and its torch?"
)

KnownOf = Callable[[Mapping[str, str]], Sequence[Known]]
"""Gives the known mistakes of a task that a look at fingerprints, by check, may find in a submission."""


def none_known(_: Mapping[str, str]) -> Sequence[Known]:
    """Return no known mistakes."""
    return ()


@dataclass(frozen=True)
class TaskRun:
    """The checks of one task, run on one submission at one seed."""

    checks: CollectedChecks
    task: str
    submission: Submission
    seed: int
    renew: Callable[[], None] | None = None
    """Puts a new worker in place after a check lost it; `None` where that would end this process, too."""
    explain: bool = True
    """True to find out about the first wrong values by further calls."""
    known: KnownOf = none_known

    def results(self, *, include_hidden: bool) -> list[CheckResult]:
        """Run the checks in their order, and return a result for each."""
        results: list[CheckResult] = []
        wrong: tuple[int, Trying] | None = None
        for check in self.checks.of(self.task):
            if check.instead is not None and not include_hidden:
                continue
            result = self._left_out(check, results)
            if result is None:
                remarks: list[str] = []
                for item in self.checks.items_of(check):
                    tried = self.tried(item)
                    if tried.raised is not None:
                        result, trying = self._failed(item, tried, results)
                        wrong = (len(results), trying) if trying is not None else wrong
                        break
                    remarks += self.submission.connection.remarks
            results.append(result or CheckResult(check, "passed", " ".join(dict.fromkeys(remarks))))
        if wrong is not None and not _is_known(results[wrong[0]].check, results, self.known):
            at, trying = wrong
            results[at] = replace(results[at], message=sentences(results[at].message, trying.found()))
        return results

    def tried(self, item: Collected, *, sizes: Sizes | None = None, again: bool = False) -> Tried:
        """Run one check once, at the seed's sizes or at others.

        `again` gives the student's generators another seed, and leaves the inputs as they are.
        """
        check, label, submission = item.check, f"{self.task}/{item.name}", self.submission
        steps = _STEPS.get(check.rule, _FEW_STEPS)
        sizes = sizes or _drawn_sizes(self.seed, label, steps, item.dimensions)
        stated = self._stated("letters")
        sizes = sizes.of(frozenset().union(*stated)) if stated else sizes
        draw = self.checks.draw(self.seed, label, sizes)
        submission.connection.own = submission.sources.get(self.task, "")
        seed = _student_seed(self.seed, f"{label} again" if again else label)
        submission.connection.begin(self.task, seed)
        raised: BaseException | None = None
        with using(self.checks.tape(check, f"{label} {sizes}")):
            try:
                item.function(**item.arguments({"submission": submission, "sizes": sizes, "draw": draw}))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # pytest's own `fail` and `skip` are no `Exception`
                raised = error
        try:
            if not isinstance(raised, WorkerLost):
                submission.connection.finish()
        except Exception as error:  # whatever may come of a request, and of an answer that is none
            raised = error  # it came before whatever the check found
        return Tried(raised, draw)

    def _left_out(self, check: Check, results: Sequence[CheckResult]) -> CheckResult | None:
        """Return the result of a check that needs one that has not passed; `None` if it can be made."""
        before = {result.check.name: result for result in results}
        unmet = [name for name in check.needs if name not in before or before[name].outcome != "passed"]
        if not unmet:
            return None
        fault = next((before[name].fault for name in unmet if name in before and before[name].fault), None)
        if fault is not None:
            said = f"Not judged, because a check that it depends on could not be judged: {fault.told}"
        else:
            titles = {each.name: each.title for each in self.checks.of(self.task)}
            said = f"Not judged until this holds: {titles.get(unmet[0], unmet[0])}"
        return CheckResult(check, "skipped", said, fault=fault)

    def _failed(
        self, item: Collected, tried: Tried, before: Sequence[CheckResult]
    ) -> tuple[CheckResult, Trying | None]:
        """Return the result of a check that did not pass, and what can explain wrong values.

        `before` are the results so far: the first finding alone is explained.
        """
        check, raised, connection = item.check, tried.raised, self.submission.connection
        if isinstance(raised, NotRecorded):
            return CheckResult(check, "skipped", _NOT_RECORDED), None
        if not isinstance(raised, FINDINGS):
            assert raised is not None
            fault = self.checks.fault(item, raised)
            return CheckResult(check, "fault", fault.told, fault=fault), None
        source = self.submission.sources.get(self.task, "")
        error = self._error_help(raised, tried) if isinstance(raised, StudentError) else None
        if error is not None:
            error.raised.help = error.told()
        outcome, message = read_failure(raised, self.task, self.submission)
        seen = raised.seen if isinstance(raised, (WrongShape, WrongValues)) else None
        call = failed_call(self.task, connection.exchanges, seen)
        result = CheckResult(check, outcome, message, prints=connection.prints(), call=call)
        if outcome in ("timeout", "crashed") and self.renew is not None:
            self.renew()
        if not was_judged(raised):
            blank = is_unwritten(raised) and not is_left_over(raised, source)
            return replace(result, unwritten=blank, call=() if blank else call), None
        accused = ""
        if isinstance(raised, CheckFailed):
            accused = raised.accused
            result = replace(result, earned=raised.earned, evidence=raised.evidence)
        answers = fingerprint(connection.exchanges, check.rule, accused)
        result, trying = replace(result, answers=answers, rounds=isinstance(raised, Rounded)), None
        first = all(each.outcome in ("passed", "skipped") for each in before)
        if self.explain and first:
            result, trying = self._explained(result, item, tried, error)
        # An argument that is written into is read first, though it is found later.
        if self.explain and (first or check.rule == "mutation") and answers is not None:
            found = filter(None, (result.message, kept_default(source), taken_apart(source)))
            result = replace(result, message=" ".join(found))
        return result, trying

    def _explained(
        self, result: CheckResult, item: Collected, tried: Tried, error: ErrorHelp | None
    ) -> tuple[CheckResult, Trying | None]:
        """Return the result with what holds at other sizes, too, and what can explain wrong values."""
        check, raised, renew = item.check, tried.raised, self.renew or _nothing
        source, exchanges = self.submission.sources.get(self.task, ""), self.submission.connection.exchanges
        unread = never_read(self.task, source, exchanges) if check.rule in _OF_ANSWERS else ""
        run = partial(self.tried, item)
        if isinstance(raised, WrongValues) and check.rule in TRIED_AGAIN and not unread:
            call = None
            if raised.seen is not None:  # it is looked for before anything else is asked
                seed = _student_seed(self.seed, f"{self.task}/{item.name}")
                stated = getattr(item.function, "autograder_inputs", {})
                buffers = getattr(item.function, "autograder_buffers", ())
                call = wrong_call(self.task, seed, exchanges, raised.seen, stated, buffers)
            return result, Trying(check.rule, item.dimensions, self.submission, run, raised, call, renew)
        if unread and error is None:
            return replace(result, message=f"{unread} {result.message}"), None
        if isinstance(raised, WrongShape) and check.rule == "shape":
            said = shape_at_other_sizes(raised, run, _other_sizes(tried.draw.sizes, self.seed), renew)
            result = replace(result, message=said[0], evidence=said[1]) if said else result
        if error is not None:
            others = _other_sizes(tried.draw.sizes, self.seed)
            error.raised.help = error.told_by_other_sizes(run, others, renew)
            _, message = read_failure(error.raised, self.task, self.submission)
            result = replace(result, message=message)
        return replace(result, message=sentences(result.message, unread)), None

    def _error_help(self, raised: StudentError, tried: Tried) -> ErrorHelp:
        signatures = {name: each for stated in self._stated("signatures") for name, each in stated.items()}
        exchanges = tuple(self.submission.connection.exchanges)
        return ErrorHelp(raised, tried.draw, exchanges, signatures, {each.task for each in self.checks.all})

    def _stated(self, what: str) -> list[Any]:
        """Return what the specifications of the task say, check by check."""
        items = (item for check in self.checks.of(self.task) for item in self.checks.items_of(check))
        found = (getattr(item.function, f"autograder_{what}", None) for item in items)
        return [each for each in found if each is not None]


@lru_cache(_DRAWN)
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


def _is_known(check: Check, results: Sequence[CheckResult], known: KnownOf) -> bool:
    """Return whether a known mistake explains what a check found."""
    answered = [Answered(each.check.name, each.outcome, each.answers) for each in results]
    answers = {each.check: each.answers for each in answered if each.answers is not None}
    return check.name in match.explain(answered, known(answers))


def _nothing() -> None:
    """A student's own process is not lost: the check would be lost with it."""
