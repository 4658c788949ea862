"""The job of trying the known mistakes of one task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.checking.diagnosis.match import Known, shows_in
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.judging.faults_met import MetFault, met_faults
from autograder.grading.judging.jobs import Setting
from autograder.grading.judging.judge import judge_answers
from autograder.verdict import TaskVerdict

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


@dataclass(frozen=True)
class Trial:
    """The job of trying the known mistakes of one task."""

    task: str
    seed: int
    include_hidden: bool = True
    explain: bool = False
    """False where nobody reads their messages, nor needs what references give for these."""

    def run(self, setting: Setting, checks: Checks) -> tuple[list[Known], list[MetFault]]:
        """Return the result of each mistake, and the faults of the task's checks that they met."""
        bundle = setting.bundle
        mistakes = {mistake.name: mistake for mistake in bundle.mistakes if mistake.task == self.task}
        sources = {name: mistake.answer(bundle.solution) for name, mistake in mistakes.items()}
        told = judge_answers(
            bundle,
            self.task,
            sources,
            seed=self.seed,
            checks=checks,
            workers=setting.workers,
            explain=self.explain,
        )
        faults = met_faults((f"the mistake {name}", verdict) for name, verdict in told.items())
        return [self._known(mistakes[name], verdict) for name, verdict in told.items()], faults

    def _known(self, mistake: Mistake, verdict: TaskVerdict) -> Known:
        checks = [check for check in verdict.checks if self.include_hidden or not check.hidden]
        answers = {check.check: check.answers for check in checks if check.answers is not None}
        rules = {check.check: check.rule for check in checks if check.check in answers}
        outcomes = {check.check: check.outcome for check in checks}
        return Known(mistake.name, mistake.hint, answers, outcomes, shows_in(rules, mistake.caught_by))
