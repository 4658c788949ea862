"""The checks of one exercise, collected once and run for any number of submissions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from autograder.checking.expectations.values import WrongValues
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import CheckResult, ChecksBroken, Collected
from autograder.checking.runner.collected import CollectedChecks
from autograder.checking.runner.isolation import on_one_thread
from autograder.checking.runner.outcome import FINDINGS
from autograder.checking.runner.task_run import OF_VALUES, KnownOf, TaskRun, none_known
from autograder.checking.tolerance import computed_in
from autograder.checking.wrong_values.shrink import ladder


class Checks(CollectedChecks):
    """The collected checks of one exercise, ready to run."""

    def run(
        self,
        task: str,
        submission: Submission,
        *,
        seed: int,
        include_hidden: bool,
        renew: Callable[[], None] | None = None,
        explain: bool = True,
        known: KnownOf = none_known,
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
        run = TaskRun(self, task, submission, seed, renew, explain, known)
        with on_one_thread():
            results = run.results(include_hidden=include_hidden)
            if not _may_be_wrong_by_rounding(results):
                return results
            with computed_in(torch.float32):
                as_rounded = run.results(include_hidden=include_hidden)
            rounds = any(each.rounds for each in as_rounded)
            return as_rounded if rounds and _points(as_rounded) > _points(results) else results

    def unfit_for_small_sizes(self, task: str, right: Submission, seed: int) -> list[str]:
        """Return the checks of values that fail a right answer at the sizes that `smallest` tries."""
        run = TaskRun(self, task, right, seed)

        def is_unfit(item: Collected) -> bool:
            tried = (run.tried(item, sizes=sizes) for sizes in ladder(item.dimensions))
            return any(_is_unfit(each.raised) for each in tried)

        with on_one_thread():
            values = [check for check in self.of(task) if check.rule == "values"]
            return [check.name for check in values for item in self.items_of(check) if is_unfit(item)]


def _may_be_wrong_by_rounding(results: Sequence[CheckResult]) -> bool:
    """Return whether an answer rounds on its way, and fails a check that compares numbers."""
    return any(each.rounds for each in results) and any(
        each.outcome == "failed" and each.check.rule in (*OF_VALUES, "gradient") for each in results
    )


def _points(results: Sequence[CheckResult]) -> float:
    return sum(each.points for each in results)


def _is_unfit(raised: BaseException | None) -> bool:
    """Return whether a check of values fails the right answer, or has a fault, where it should pass."""
    return isinstance(raised, WrongValues) or not isinstance(raised, (*FINDINGS, type(None)))
