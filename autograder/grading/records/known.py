"""The answers of an assignment's known mistakes under a seed, found out by running each.

Computed once for a seed and kept in the course; a catalogue, checks or a version that changed make it anew.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder import __version__
from autograder.checking.diagnosis.match import Known, shows_in
from autograder.checking.runner.checks import Checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.course.course import Course
from autograder.grading.judging.faults_met import MetFault, met_faults
from autograder.grading.judging.judge import MistakesOf, judge_answers
from autograder.grading.judging.judge_pool import Failure, Setting, work_off
from autograder.grading.records.store import one_writer, write_whole
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import TaskVerdict

KnownMistakes = Mapping[str, Sequence[Known]]
"""The answers of an assignment's known mistakes, by task."""


@dataclass(frozen=True)
class Tried:
    """The results of trying known mistakes: their answers, and the faults of checks that they met."""

    known: KnownMistakes
    faults: tuple[MetFault, ...]


def mistaken(bundle: Bundle, mistake: Mistake) -> bytes:
    """The solved notebook with one mistake in it, as a student would hand it in."""
    return bundle.with_answers({**bundle.solution, mistake.task: mistake.answer(bundle.solution)})


def known_mistakes(
    course: Course, bundle: Bundle, seed: int, workers: ForkServer | None = None, jobs: int = 1
) -> KnownMistakes:
    """The answers of the assignment's mistakes: as they are kept, or tried out now and kept."""
    kept = kept_mistakes(course, bundle, seed)
    if kept is not None:
        return kept
    parent = workers or ForkServer(preload=bundle.preload)
    try:
        table = try_mistakes(bundle, seed, parent, jobs).known
    finally:
        if workers is None:
            parent.close()
    tasks = {task: [asdict(known) for known in mistakes] for task, mistakes in table.items()}
    with one_writer(course):
        write_whole(
            _path(course, bundle),
            json.dumps({"key": _key(bundle, seed), "tasks": tasks}, indent=1) + "\n",
            course.access,
        )
    return table


def kept_mistakes(course: Course, bundle: Bundle, seed: int) -> KnownMistakes | None:
    """The answers of the assignment's mistakes, if they are kept; an empty catalogue needs no keeping."""
    if not bundle.mistakes:
        return {}
    try:
        kept = json.loads(_path(course, bundle).read_text(encoding="utf-8"))
        if kept["key"] != _key(bundle, seed):
            return None
        return {task: [Known(**fields) for fields in mistakes] for task, mistakes in kept["tasks"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def try_mistakes(
    bundle: Bundle, seed: int, workers: ForkServer, jobs: int, *, include_hidden: bool = True
) -> Tried:
    """Try each mistake in its own task, `jobs` tasks at a time, with or without the hidden checks."""
    tasks = dict.fromkeys(mistake.task for mistake in bundle.mistakes)
    found: dict[str, list[Known]] = {}
    faults: dict[str, list[MetFault]] = {}
    trials = [Trial(task, include_hidden) for task in tasks]
    for trial, told in work_off(trials, jobs, Setting(bundle, seed, workers)):
        assert isinstance(trial, Trial)
        if isinstance(told, Failure):
            where = f"{bundle.assignment}, task `{trial.task}`"
            raise UserError(f"{where}: its known mistakes could not be tried: {told.reason}")
        found[trial.task], faults[trial.task] = told
    return Tried(
        {task: found[task] for task in tasks}, tuple(each for task in tasks for each in faults[task])
    )


def tried_when_needed(bundle: Bundle, seed: int, checks: Checks, workers: ForkServer) -> MistakesOf:
    """The mistakes of a task, tried in this process when they are first asked for."""
    setting = Setting(bundle, seed, workers)
    return functools.cache(lambda task: Trial(task).run(setting, checks)[0])


@dataclass(frozen=True)
class Trial:
    """The job of trying the known mistakes of one task."""

    task: str
    include_hidden: bool = True

    def run(self, setting: Setting, checks: Checks) -> tuple[list[Known], list[MetFault]]:
        """Return the result of each mistake, and the faults of the task's checks that they met."""
        bundle = setting.bundle
        mistakes = {mistake.name: mistake for mistake in bundle.mistakes if mistake.task == self.task}
        sources = {name: mistake.answer(bundle.solution) for name, mistake in mistakes.items()}
        told = judge_answers(
            bundle, self.task, sources, seed=setting.seed, checks=checks, workers=setting.workers
        )
        faults = met_faults((f"the mistake {name}", verdict) for name, verdict in told.items())
        return [self._known(mistakes[name], verdict) for name, verdict in told.items()], faults

    def _known(self, mistake: Mistake, verdict: TaskVerdict) -> Known:
        checks = [check for check in verdict.checks if self.include_hidden or check.instead is None]
        answers = {check.check: check.answers for check in checks if check.answers is not None}
        rules = {check.check: check.rule for check in checks if check.check in answers}
        outcomes = {check.check: check.outcome for check in checks}
        return Known(mistake.name, mistake.hint, answers, outcomes, shows_in(rules, mistake.caught_by))


def _path(course: Course, bundle: Bundle) -> Path:
    return course.root / ".autograder" / "known" / f"{bundle.assignment}.json"


def _key(bundle: Bundle, seed: int) -> str:
    parts = (__version__, bundle.digest(), str(seed), repr(bundle.mistakes))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
