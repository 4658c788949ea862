"""Trying known mistakes and solutions on public inputs, for the hints and references that go out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.checking.diagnosis.match import Known
from autograder.checking.diagnosis.sealed_hints import FILE as HINTS
from autograder.checking.diagnosis.sealed_hints import sealed
from autograder.checking.inputs.references import Record, Recorder, recorded_in
from autograder.checking.runner.check import PUBLIC_SEED, ChecksBroken, line_of_check
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.fault import fault_of
from autograder.checking.runner.handed_out import text_of
from autograder.checking.runner.handed_out_file import FILE as HANDED_OUT
from autograder.checking.runner.handed_out_file import KEPT_FOR_GRADING, goes_out
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.places import Places
from autograder.grading.course.problem import Problem, Unfit
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.faults_met import MetFault, refuse_faults
from autograder.grading.judging.judge import judge_answers, unfit_checks
from autograder.grading.judging.judge_pool import Failure, LocalJudges, Setting, work_off
from autograder.grading.judging.trial import Trial
from autograder.tasks import OWN


def made_by_trying(
    bundle: Bundle, judges: LocalJudges, places: Places, noted: bool
) -> tuple[dict[str, str], str]:
    """Return the files that go out with an assignment that has checks, and what its references give.

    These are `noted` or not. Of a course's own checks they are in one of the files.
    """
    with checks_of(bundle, dealt_out=False) as complete:
        if problems := list(old_marks(complete, places.check_file)):
            raise Unfit(problems)
        written = complete.all
    known: dict[str, list[Known]] = {}
    recorder = Recorder()
    for part in bundle.parts:
        trials = [PublicTrial(task, noted) for task in part.tasks]
        for trial, told in work_off(trials, judges.count, Setting(part, PUBLIC_SEED, judges.workers)):
            assert isinstance(trial, PublicTrial)
            if isinstance(told, Failure):
                where = f"{places.checks_of(trial.task)}: the known mistakes of `{trial.task}`"
                raise UserError(f"{where} could not be tried: {told.reason}")
            refuse_faults(bundle.assignment, told.faults)
            known[trial.task] = told.known
            recorder.add(told.record)
    # In the notebook's order: judges are done in any.
    hints = {task: known[task] for part in bundle.parts for task in part.tasks if known[task]}
    files = {HINTS: sealed(hints)} if any(part.mistakes for part in bundle.parts) else {}
    handed_out = text_of(written, recorder.record()) if noted else ""
    if not bundle.own_checks:
        return files, handed_out
    files |= {f"{OWN}/{name}": text for name, text in bundle.own_checks.items() if goes_out(name)}
    files[f"{OWN}/{HANDED_OUT}"] = handed_out
    _prove_public(bundle, files)
    return files, ""


def _prove_public(bundle: Bundle, files: Mapping[str, str]) -> None:
    """Raise `UserError` unless what goes out can be imported without what does not."""
    own = {Path(name).name: text for name, text in files.items() if Path(name).parent == Path(OWN)}
    with replace(bundle, own_checks=own).checks_folder() as folder:
        try:
            collect(folder)
        except ChecksBroken as error:
            place, said = bundle.checks_home, str(error).strip().splitlines()[-1]
            if error.broken and error.broken[0].error is not None:
                place = fault_of(error.broken[0].error, folder, bundle.checks_home).place
            raise UserError(
                f"{place}: {bundle.assignment} cannot be released: its checks cannot be imported without "
                f"the files that students do not get, {' and '.join(KEPT_FOR_GRADING)} ({said})."
            ) from error


def old_marks(checks: Checks, place: Callable[[str, int], str]) -> Iterator[Problem]:
    """Yield the hidden checks, and the references' bodies, in files that students get.

    `place` says how a line of a check file is named.
    """
    hidden = [check for check in checks.all if check.instead is not None]
    for item in (item for check in hidden for item in checks.items_of(check)[:1]):
        file, move = item.path.name, f"move it to hidden_{item.check.task}.py"
        if goes_out(file):
            yield Problem(
                place(file, line_of_check(item.function, item.path)),
                f"`test_{item.check.name}` is hidden, and students get this file: {move}.",
            )
    for code in recorded_in(checks.folder):
        file, name = Path(code.co_filename).name, code.co_name
        module = f"reference_{file.removesuffix('.py').removeprefix('test_')}"
        if goes_out(file):
            yield Problem(
                place(file, code.co_firstlineno),
                f"`{name}` is a reference, and students get this file: move it to {module}.py, and write "
                f'`reference("{module}:{name}")` in its place.',
            )


@dataclass(frozen=True)
class Tried:
    """The results of trying a task on the public inputs."""

    known: list[Known]
    faults: list[MetFault]
    record: Record


@dataclass(frozen=True)
class PublicTrial:
    """The job of trying a task's known mistakes and solution on public inputs; references are noted."""

    task: str
    explain: bool
    """True to make messages, so that the results of references for these are noted, too."""

    def run(self, setting: Setting, checks: Checks) -> Tried:
        bundle, solution = setting.bundle, setting.bundle.solution
        with checks.recording() as recorder:
            trial = Trial(self.task, setting.seed, include_hidden=False, explain=self.explain)
            known, faults = trial.run(setting, checks)
            if self.task in solution:
                right = {"solution": solution[self.task]}
                seed, workers = setting.seed, setting.workers
                judged = judge_answers(bundle, self.task, right, seed=seed, checks=checks, workers=workers)
                for check in judged["solution"].checks:
                    if not check.hidden and check.outcome != "passed":
                        raise UserError(
                            f"with what is handed out of references, `{check.check}` does not hold for the "
                            f"solution ({check.outcome}): {check.message}"
                        )
                unfit_checks(bundle, seed=seed, checks=checks, workers=workers, tasks=[self.task])
        return Tried(known, faults, recorder.record())
