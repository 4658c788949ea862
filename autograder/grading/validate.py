"""Grading the checks: a known mistake must be caught, named, and cost its own task; a right answer, nothing.

Everything is judged as a class's submissions are: the solution, the untouched release, the solution with
known mistakes in it, and the course's right answers in other styles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from autograder.checking.diagnosis.sealed_hints import FILE, opened
from autograder.checking.runner.checks import PUBLIC_SEED
from autograder.grading.assignment.bundle import OPTIMIZERS
from autograder.grading.building.changes import examined_digest, keep_validated, validated_before
from autograder.grading.building.examine import chosen_assignments, examine
from autograder.grading.course.course import Course
from autograder.grading.course.places import Places
from autograder.grading.course.problem import Unfit
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.faults_met import met_faults
from autograder.grading.judging.jobs import Job, Setting
from autograder.grading.judging.submitted import Submitted
from autograder.grading.judging.trial import Trial
from autograder.grading.records.known import KnownMistakes, mistaken
from autograder.grading.validating.findings import (
    JudgedMistake,
    Validation,
    first_loss,
    look_at_check,
    look_at_ends,
    look_at_variants,
)
from autograder.grading.validating.mistaken import judged_together, mistaken_together
from autograder.grading.validating.right import kept_in, mixed, mixtures_of, place_of, right_answers
from autograder.grading.validating.work import SmallSizes, results_of, verdicts_in
from autograder.grading.workers.forkserver import ForkServer

SEED = 20_260_102
"""The seed of a validation: any will do, and a fixed one makes a finding repeatable."""


def validate(
    course: Course,
    assignments: list[str],
    jobs: int,
    say: Callable[[str], None] = print,
    *,
    force: bool = False,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[Validation]:
    """Validate the assignments, in order: all of the course if none is named.

    One in which everything held is not validated again before something changes, unless it is forced.
    `advance` is told how many of an assignment's notebooks are judged.
    """
    chosen = chosen_assignments(course, assignments)
    problems = examine(course, chosen)
    if problems:
        raise Unfit(problems)
    kept = {} if force else {name: told for name in chosen if (told := validated_before(course, name))}
    found = {name: Validation.of(told) for name, told in kept.items()}
    todo = [name for name in chosen if name not in found]
    if todo:
        with ForkServer(preload=OPTIMIZERS) as workers:
            for name in todo:
                source = examined_digest(course, name)
                found[name] = one = _validate(course, name, workers, jobs, say, advance)
                if not one.problems:  # what does not hold may be the machine's doing: it is tried again
                    keep_validated(course, name, source, one.as_json())
    return [found[name] for name in chosen]


def _validate(
    course: Course,
    assignment: str,
    workers: ForkServer,
    jobs: int,
    say: Callable[[str], None],
    advance: Callable[[int, int], None],
) -> Validation:
    found = Validation(assignment)
    bundle = course.bundle(assignment)
    places = Places(course, assignment, bundle.notebook)
    variants = right_answers(course, bundle)
    found.variants_in = course.told(kept_in(course, assignment))
    with checks_of(bundle) as collected:
        checks = [check for task in bundle.tasks for check in collected.of(task)]
    together = {f"mistakes {k}": mistakes for k, mistakes in enumerate(mistaken_together(bundle))}
    mixtures = {f"variants {k}": mixture for k, mixture in enumerate(mixtures_of(variants))}
    todo = [
        Submitted("solution", bundle.with_answers(bundle.solution)),
        Submitted("release", bundle.released.encode()),
        *(Submitted(name, mistaken(bundle, *mistakes)) for name, mistakes in together.items()),
        *(Submitted(name, mixed(bundle, variants, mixture)) for name, mixture in mixtures.items()),
    ]
    small = SmallSizes()
    tasks = dict.fromkeys(mistake.task for mistake in bundle.mistakes)
    here = {task: Trial(task, SEED) for task in tasks}
    public = {task: Trial(task, PUBLIC_SEED, include_hidden=False) for task in tasks}
    say(f"{assignment}: judging {len(todo)} notebooks")
    setting = Setting(bundle, SEED, workers)
    longest_first: list[Job[Any]] = [small, *here.values(), *public.values(), *todo]
    results = results_of(longest_first, jobs, setting, advance)
    known = {task: results[trial][0] for task, trial in here.items()}
    for own, unfit in results[small].items():
        for check in unfit:
            message = f"the check `{check}` of `{own}` fails the solution at the smallest sizes"
            found.refuse(places.check(own, check), message)
    if _are_stale(
        course.folder("release", ".", assignment) / FILE,
        {task: results[trial][0] for task, trial in public.items()},
    ):
        found.refuse(places.hints, "these hints are not those of the catalogue: build it again")
    verdicts = verdicts_in(results, known)
    # A right answer may build on another task's in a way that only some answers to that one allow.
    suspects = {
        f"alone {task.task} {name}": {task.task: name}
        for key, mixture in mixtures.items()
        for task in verdicts[key].tasks
        if (name := mixture.get(task.task)) and first_loss(task)
    }
    judged, apart = judged_together(together, verdicts, known)
    alone = [
        *(Submitted(key, mixed(bundle, variants, mixture)) for key, mixture in suspects.items()),
        *(Submitted(key, mistaken(bundle, mistake)) for key, mistake in apart.items()),
    ]
    verdicts |= verdicts_in(results_of(alone, jobs, setting), known)
    for key, mistake in apart.items():
        judged[mistake.name] = JudgedMistake.of(mistake, verdicts[key], verdicts["solution"])
    answers = {**mixtures, **suspects}
    found.faults = met_faults(
        [
            *(
                (_words_for(name, task.task, answers), task)
                for name, verdict in verdicts.items()
                if name not in together
                for task in verdict.tasks
            ),
            *((f"the mistake {name}", each.own) for name, each in judged.items()),
            *(
                (f"the solution beside {', '.join(mistake.name for mistake in mistakes)}", task)
                for key, mistakes in together.items()
                for task in verdicts[key].tasks
                if task.task not in {mistake.task for mistake in mistakes}
            ),
        ]
    )
    found.problems += [str(met) for met in found.faults]
    look_at_ends(found, verdicts["solution"], verdicts["release"], places)
    for mistake in bundle.mistakes:
        found.mistakes.append(judged[mistake.name].as_json())
        for message in judged[mistake.name].complaints():
            found.refuse(places.mistake(mistake.name), message)
    for each in checks:
        for message in look_at_check(found, each):
            found.refuse(places.check(each.task, each.name), message)
    found.variants = sum(map(len, variants.values()))
    look_at_variants(found, suspects, verdicts, partial(place_of, course, bundle))
    return found


def _are_stale(hints: Path, known: KnownMistakes) -> bool:
    """Return whether the released hints do not open for the answers that they belong to."""
    return any(
        mistake.answers and mistake not in opened(hints, task, mistake.answers)
        for task, mistakes in known.items()
        for mistake in mistakes
    )


def _words_for(name: str, task: str, answers: Mapping[str, Mapping[str, str]]) -> str:
    """Return words for what was judged under this name in a task."""
    return f"the right answer {answers[name][task]!r}" if task in answers.get(name, {}) else f"the {name}"
