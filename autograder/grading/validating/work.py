"""The jobs of a validation, done by the judges of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.checking.diagnosis.match import Known
from autograder.errors import UserError
from autograder.grading.judging.jobs import Failure, Job, Setting
from autograder.grading.judging.judge import unfit_checks
from autograder.grading.judging.judge_pool import work_off
from autograder.grading.judging.submitted import Submitted
from autograder.grading.judging.trial import Trial
from autograder.grading.validating.run_all import RunAll
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


def results_of(
    todo: Sequence[Job[Any]],
    jobs: int,
    setting: Setting,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[Job[Any], Any]:
    """Do jobs, and return the result of each. Raises `UserError` where the machine fails to do one.

    `advance` is told of the notebooks among them.
    """
    done: dict[Job[Any], Any] = {}
    judged, total = 0, sum(isinstance(job, Submitted) for job in todo)
    advance(judged, total)
    for job, told in work_off(todo, jobs, setting):
        if isinstance(told, Failure):  # the machine's doing: it has no line
            raise UserError(f"{setting.bundle.assignment}: {_undone(job)}: {told.reason}")
        done[job] = told
        if isinstance(job, Submitted):
            judged += 1
            advance(judged, total)
    return done


def _undone(job: Job[Any]) -> str:
    match job:
        case Submitted(student):
            return f"the {student} could not be judged"
        case Trial(task):
            return f"the known mistakes of `{task}` could not be tried"
        case RunAll():
            return "the notebook could not be run with wrong answers"
    return "the solution could not be judged at the smallest sizes"


def verdicts_in(done: Mapping[Job[Any], Any], known: Mapping[str, Sequence[Known]]) -> dict[str, Verdict]:
    """Return the verdicts of the notebooks that were judged, by name; `known` are mistakes to name, by task.

    They are named here because they are tried in the same pool as the notebooks are judged.
    """
    return {
        job.student: told.verdict.diagnosed(known) for job, told in done.items() if isinstance(job, Submitted)
    }


@dataclass(frozen=True)
class SmallSizes:
    """The job of finding out whether the checks of values hold for the sizes that `smallest` tries."""

    def run(self, setting: Setting, checks: Checks) -> dict[str, list[str]]:
        return unfit_checks(setting.bundle, seed=setting.seed, checks=checks, workers=setting.workers)
