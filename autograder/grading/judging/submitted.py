"""The job of judging one student's submission as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.handed_in.resolve import unreadable
from autograder.grading.judging.jobs import Failure, Setting
from autograder.grading.judging.judge import Before, Graded, content_of, judge

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


@dataclass(frozen=True)
class Unchanged:
    """The result for a submission whose file has changed, but nothing that counts in it."""


@dataclass(frozen=True)
class Submitted:
    """One submission, to be judged whole."""

    student: str
    submitted: HandedIn | bytes | None
    before: Before | None = None
    """The verdict that there is already; `None` if it is to be judged in any case."""
    explain: bool = True
    """False where nobody reads the messages."""
    seed: int | None = None
    """The seed of its inputs; `None` for the setting's."""

    def run(self, setting: Setting, checks: Checks) -> Graded | Unchanged | Failure:
        files, bundle = HandedIn.of(self.submitted), setting.bundle
        if files.refused:
            return Failure(unreadable(files, bundle, self.student))
        # Found out here, because reading a file may cost the process that does it.
        before = self.before if self.before and self.before.content else None
        if before and content_of(files, bundle) == before.content:
            return Unchanged()
        return judge(
            files,
            bundle,
            student=self.student,
            seed=setting.seed if self.seed is None else self.seed,
            checks=checks,
            workers=setting.workers,
            known=lambda task: setting.known.get(task, ()),
            explain=self.explain,
            before=before,
        )
