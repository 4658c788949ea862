"""Forged answers judged as submissions are: in a confined worker, in an otherwise solved notebook."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import CheckResult
from autograder.checking.runner.checks import Checks
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import rebuild
from autograder.grading.judging.attempt import Attempt, _task
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import SEED, make_bundle


@dataclass(frozen=True)
class Judged:
    """The points of a forgery, and whether it came to its end."""

    score: float
    passed: list[str]
    told: list[str]
    over: bool


class Bench:
    """One assignment's checks, and workers in which forgeries are judged."""

    def __init__(self, assignment: str, checks: Checks, workers: ForkServer) -> None:
        self.bundle: Bundle = make_bundle(assignment, solution=True)
        self.checks, self.workers = checks, workers

    def judged(self, task: str, source: str, seed: int = SEED) -> Judged:
        """Judge an answer as a submission's."""
        with self._run(task, source) as run:
            run.begin(self.checks.without(task))
            (verdict,) = run.judge_tasks({task: self.bundle.tasks[task]}, self.checks, seed)
            return Judged(
                verdict.score,
                [check.check for check in verdict.checks if check.outcome == "passed"],
                [f"{c.check}: {c.outcome}: {c.message}" for c in verdict.checks if c.outcome != "passed"],
                self._over(run.submission()),
            )

    def where_nothing_lacks(self, task: str, source: str, seed: int = SEED) -> float:
        """Return the points in a worker that has all of torch, which no check asks for."""
        with self._run(task, source) as run:
            run.enter(None)
            submission = Submission(run._perform, run.rebuilt.sources, without=self.checks.without(task))
            results: list[CheckResult] = self.checks.run(task, submission, seed=seed, include_hidden=True)
            return _task(task, self.bundle.tasks[task], results).score

    def _run(self, task: str, source: str) -> Attempt:
        raw = self.bundle.with_answers({**self.bundle.solution, task: source})
        return Attempt(rebuild(raw, self.bundle), self.workers)

    @staticmethod
    def _over(submission: Submission) -> bool:
        try:
            return submission.over.attribute() is True
        except (StudentError, WorkerLost):
            return False
