"""Grading the checks: a known mistake must be caught, named, and cost its own task; a right answer, nothing.

Everything is judged as a class's submissions are: the solution, the untouched release, the solution with
known mistakes in it, and the course's right answers in other styles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from autograder.checking.diagnosis.sealed_hints import FILE, opened
from autograder.grading.assignment.bundle import Bundle, preload_for
from autograder.grading.building.changes import Parts, keep_validated, last_validation, sources
from autograder.grading.building.examine import chosen_assignments, examine
from autograder.grading.building.side_by_side import side_by_side
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
from autograder.grading.validating.judged import Judged, judge
from autograder.grading.validating.right import place_of, right_answers
from autograder.grading.validating.run_all import stops
from autograder.grading.workers.forkserver import ForkServer

SEED = 20_260_102
"""The seed of a validation: any will do, and a fixed one makes a finding repeatable."""
FURTHER_SEEDS = (SEED + 1, SEED + 2)
"""Those under which right answers are tried when a validation is forced."""


def validate(
    course: Course,
    assignments: list[str],
    jobs: int,
    say: Callable[[str], None] = print,
    *,
    force: bool = False,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[Validation]:
    """Validate the assignments, `jobs` at a time: all of the course if none is named.

    One in which everything held is not validated again before something changes, unless it is forced: then
    what is right is tried under further seeds, too.
    `advance` is told how many of the notebooks are judged, and of how many that are known of by then.
    """
    chosen = chosen_assignments(course, assignments)
    problems = examine(course, chosen)
    if problems:
        raise Unfit(problems)
    parts = {name: Parts.of(course, name) for name in chosen}
    found: dict[str, Validation] = {}
    for name in chosen if not force else ():
        last = last_validation(course, name)
        if last is not None and not parts[name].changed(last.parts, but=["text"]):
            found[name] = Validation.of(last.said)
    todo = [name for name in chosen if name not in found]
    judged: dict[str, tuple[int, int]] = {}

    def heard(name: str, told: str | tuple[int, int]) -> None:
        if isinstance(told, str):
            say(told)
            return
        judged[name] = told
        advance(*map(sum, zip(*judged.values(), strict=True)))

    if todo:
        at_a_time = min(jobs, len(todo))
        with ForkServer(preload=preload_for(sources(course, todo))) as workers:

            def work(name: str, tell: Callable[..., None]) -> Validation:
                seeds = FURTHER_SEEDS if force else ()
                jobs_here = jobs // at_a_time
                return _validate(course, name, workers, jobs_here, tell, lambda *judged: tell(judged), seeds)

            for name, one in side_by_side(todo, at_a_time, work, heard):
                found[name] = one
                if not one.problems:  # what does not hold may be the machine's doing: it is tried again
                    keep_validated(course, name, parts[name], one.as_json())
    return [found[name] for name in chosen]


def _validate(
    course: Course,
    assignment: str,
    workers: ForkServer,
    jobs: int,
    say: Callable[[str], None],
    advance: Callable[[int, int], None],
    further_seeds: Sequence[int],
) -> Validation:
    found = Validation(assignment)
    found.variants_in = course.told(course.right_answers_path(assignment))
    whole = course.bundle(assignment)
    every = right_answers(course, whole)
    for bundle in whole.parts:
        variants = {task: answers for task, answers in every.items() if task in bundle.tasks}
        if bundle.tasks:  # else there is no check to grade
            setting = Setting(bundle, SEED, workers)
            judged = judge(setting, variants, jobs, say, advance, further_seeds)
            found.variants += sum(map(len, variants.values()))
            _look_at(course, bundle, judged, found)
    return found


def _look_at(course: Course, bundle: Bundle, judged: Judged, found: Validation) -> None:
    """Add to what is `found` what is to be said of one notebook's checks."""
    places = Places(course, bundle.assignment, bundle.notebook)
    with checks_of(bundle) as collected:
        checks = [check for task in bundle.tasks for check in collected.of(task)]
    for own, unfit in judged.unfit.items():
        for check in unfit:
            message = f"the check `{check}` of `{own}` fails the solution at the smallest sizes"
            found.refuse(places.check(own, check), message)
    if _are_stale(course.folder("release", ".", bundle.assignment) / FILE, judged.public):
        found.refuse(places.hints, "these hints are not those of the catalogue: build it again")
    faults = met_faults(judged.named_tasks())
    found.faults += faults
    found.problems += [str(met) for met in faults]
    solutions = [judged.verdicts["solution"], *judged.again]
    look_at_ends(found, solutions, judged.verdicts["release"], places)
    for place, message in stops(bundle, judged.stopped, places.source):
        found.refuse(place, message)
    for mistake in bundle.mistakes:
        found.mistakes.append(judged.mistakes[mistake.name].as_json())
        for message in judged.mistakes[mistake.name].complaints():
            found.refuse(places.mistake(mistake.name), message)
    for each in checks:
        for message in look_at_check(found, each):
            found.refuse(places.check(each.task, each.name), message)
    look_at_variants(found, judged.suspects, judged.verdicts, partial(place_of, course, bundle))


def _are_stale(hints: Path, known: KnownMistakes) -> bool:
    """Return whether the released hints do not open for the answers that they belong to."""
    return any(
        mistake.answers and mistake.hint and mistake not in opened(hints, task, mistake.answers)
        for task, mistakes in known.items()
        for mistake in mistakes
    )
