"""Grading the checks: a known mistake must be caught, named, and cost its own task; a right answer, nothing.

Everything is judged as a class's submissions are: the solution, the untouched release, the solution with
known mistakes in it, and the course's right answers in other styles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder.checking.diagnosis.sealed_hints import FILE, opened
from autograder.grading.assignment.bundle import OPTIMIZERS
from autograder.grading.building.changes import examined_digest, keep_validated, validated_before
from autograder.grading.building.examine import chosen_assignments, examine
from autograder.grading.course.course import Course
from autograder.grading.course.places import Places
from autograder.grading.course.problem import Unfit
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.faults_met import met_faults
from autograder.grading.judging.jobs import Setting
from autograder.grading.records.known import KnownMistakes
from autograder.grading.validating.findings import (
    Validation,
    look_at_check,
    look_at_ends,
    look_at_variants,
)
from autograder.grading.validating.judged import judge
from autograder.grading.validating.right import kept_in, place_of, right_answers
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
    judged = judge(Setting(bundle, SEED, workers), variants, jobs, say, advance)
    for own, unfit in judged.unfit.items():
        for check in unfit:
            message = f"the check `{check}` of `{own}` fails the solution at the smallest sizes"
            found.refuse(places.check(own, check), message)
    if _are_stale(course.folder("release", ".", assignment) / FILE, judged.public):
        found.refuse(places.hints, "these hints are not those of the catalogue: build it again")
    found.faults = met_faults(judged.named_tasks())
    found.problems += [str(met) for met in found.faults]
    look_at_ends(found, judged.verdicts["solution"], judged.verdicts["release"], places)
    for mistake in bundle.mistakes:
        found.mistakes.append(judged.mistakes[mistake.name].as_json())
        for message in judged.mistakes[mistake.name].complaints():
            found.refuse(places.mistake(mistake.name), message)
    for each in checks:
        for message in look_at_check(found, each):
            found.refuse(places.check(each.task, each.name), message)
    found.variants = sum(map(len, variants.values()))
    look_at_variants(found, judged.suspects, judged.verdicts, partial(place_of, course, bundle))
    return found


def _are_stale(hints: Path, known: KnownMistakes) -> bool:
    """Return whether the released hints do not open for the answers that they belong to."""
    return any(
        mistake.answers and mistake not in opened(hints, task, mistake.answers)
        for task, mistakes in known.items()
        for mistake in mistakes
    )
