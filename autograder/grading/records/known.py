"""The answers of an assignment's known mistakes under a seed, found out by running each.

Computed once for a seed and kept in the course; a catalogue, checks or a version that changed make it anew.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import __version__
from autograder.checking.diagnosis.match import Known
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.course.course import Course
from autograder.grading.judging.faults_met import MetFault
from autograder.grading.judging.jobs import Failure, Judges, Setting
from autograder.grading.judging.judge import MistakesOf
from autograder.grading.judging.trial import Trial
from autograder.grading.records.store import one_writer, write_whole
from autograder.grading.workers.forkserver import ForkServer

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks

KnownMistakes = Mapping[str, Sequence[Known]]
"""The answers of an assignment's known mistakes, by task."""


@dataclass(frozen=True)
class Tried:
    """The results of trying known mistakes: their answers, and the faults of checks that they met."""

    known: KnownMistakes
    faults: tuple[MetFault, ...]


def mistaken(bundle: Bundle, *mistakes: Mistake) -> bytes:
    """The solved notebook with mistakes in it, at most one a task, as a student would hand it in."""
    answers = {mistake.task: mistake.answer(bundle.solution) for mistake in mistakes}
    return bundle.with_answers({**bundle.solution, **answers})


def known_mistakes(
    course: Course, bundle: Bundle, seed: int, judges: Judges, *, anew: bool = False
) -> KnownMistakes:
    """The answers of the assignment's mistakes: as they are kept, unless `anew`, or tried now and kept."""
    kept = None if anew and _mistakes(bundle) else kept_mistakes(course, bundle, seed)
    if kept is not None:
        return kept
    table = {
        task: known for part in bundle.parts for task, known in try_mistakes(part, seed, judges).known.items()
    }
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
    if not _mistakes(bundle):
        return {}
    try:
        kept = json.loads(_path(course, bundle).read_text(encoding="utf-8"))
        if kept["key"] != _key(bundle, seed):
            return None
        return {task: [Known(**fields) for fields in mistakes] for task, mistakes in kept["tasks"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def try_mistakes(bundle: Bundle, seed: int, judges: Judges) -> Tried:
    """Try each mistake in its own task, a task a judge."""
    tasks = dict.fromkeys(mistake.task for mistake in bundle.mistakes)
    found: dict[str, list[Known]] = {}
    faults: dict[str, list[MetFault]] = {}
    trials = [Trial(task, seed) for task in tasks]
    with closing(judges.work_off(trials, bundle, seed, {})) as results:
        for trial, told in chain.from_iterable(results):
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

    @functools.cache
    def tried(task: str) -> Sequence[Known]:
        part = next((part for part in bundle.parts if task in part.tasks), bundle)
        return Trial(task, seed).run(Setting(part, seed, workers), checks)[0]

    return tried


def _path(course: Course, bundle: Bundle) -> Path:
    return course.root / ".autograder" / "known" / f"{bundle.assignment}.json"


def _mistakes(bundle: Bundle) -> tuple[Mistake, ...]:
    """Return the known mistakes in all notebooks."""
    return tuple(mistake for part in bundle.parts for mistake in part.mistakes)


def _key(bundle: Bundle, seed: int) -> str:
    parts = (__version__, bundle.judging_digest(), str(seed), repr(_mistakes(bundle)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
