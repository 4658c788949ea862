"""Grading the checks: a known mistake must be caught, named, and cost its own task; a right answer, nothing.

Everything is judged as a class's submissions are: the solution, the untouched release, the solution with
each known mistake in it, and the course's right answers in other styles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from autograder.checking.diagnosis.sealed_hints import FILE, opened
from autograder.checking.runner.check import Check
from autograder.checking.runner.checks import PUBLIC_SEED, Checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import OPTIMIZERS
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.building.changes import examined_digest, keep_validated, validated_before
from autograder.grading.building.examine import chosen_assignments, examine
from autograder.grading.building.problem import Problem, Unfit
from autograder.grading.course.course import Course
from autograder.grading.course.places import Places
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.faults_met import MetFault, faulty, met_faults
from autograder.grading.judging.jobs import Failure, Job, Setting
from autograder.grading.judging.judge import unfit_checks
from autograder.grading.judging.judge_pool import LocalJudges, work_off
from autograder.grading.judging.submitted import Submitted
from autograder.grading.judging.trial import Trial
from autograder.grading.records.known import KnownMistakes, mistaken, try_mistakes
from autograder.grading.validating.right import kept_in, mixed, mixtures_of, place_of, right_answers
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import TaskVerdict, Verdict

SEED = 20_260_102
"""The seed of a validation: any will do, and a fixed one makes a finding repeatable."""


@dataclass
class Validation:
    """The findings about one assignment's checks and catalogue."""

    assignment: str
    problems: list[str] = field(default_factory=list)
    """Whatever does not hold: a place, a colon, and a sentence about it."""
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    variants: int = 0
    variants_failed: list[str] = field(default_factory=list)
    variants_in: str = ""
    """The file with the course's right answers in other styles."""
    faults: list[MetFault] = field(default_factory=list)
    """Exceptions of checks that are no finding about an answer."""
    unchanged: bool = False
    """True if nothing was judged: it all held before, and nothing has changed since."""

    def refuse(self, place: str, message: str) -> None:
        """Note what does not hold, and where its author finds it."""
        self.problems.append(str(Problem(place, message)))

    @classmethod
    def of(cls, told: dict[str, Any]) -> Validation:
        """Return the validation that was kept as JSON."""
        counts = told["counts"]
        found = cls(
            told["assignment"], told["problems"], told["mistakes"], told["checks"], counts["variants"]
        )
        kept = told.get("variants_in", "")
        return replace(found, variants_failed=told["variants_failed"], variants_in=kept, unchanged=True)

    def as_json(self) -> dict[str, Any]:
        return {
            "assignment": self.assignment,
            "ok": not self.problems,
            "problems": self.problems,
            "counts": {
                "mistakes": len(self.mistakes),
                "caught": sum(mistake["caught"] for mistake in self.mistakes),
                "diagnosed": sum(mistake["diagnosed_as"] == mistake["mistake"] for mistake in self.mistakes),
                "variants": self.variants,
                "variants_failed": len(self.variants_failed),
            },
            "mistakes": self.mistakes,
            "checks": self.checks,
            "variants_failed": self.variants_failed,
            "variants_in": self.variants_in,
            "faults": [met.as_json() for met in self.faults],
        }


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
    known = try_mistakes(bundle, SEED, LocalJudges(workers, jobs)).known
    mistakes = {f"mistake {mistake.name}": mistake for mistake in bundle.mistakes}
    mixtures = {f"variants {k}": mixture for k, mixture in enumerate(mixtures_of(variants))}
    todo = [
        Submitted("solution", bundle.with_answers(bundle.solution)),
        Submitted("release", bundle.released.encode()),
        *(Submitted(name, mistaken(bundle, mistake)) for name, mistake in mistakes.items()),
        *(Submitted(name, mixed(bundle, variants, mixture)) for name, mixture in mixtures.items()),
    ]
    small = SmallSizes()
    trials = [Trial(task, PUBLIC_SEED, include_hidden=False) for task in known]
    say(f"{assignment}: judging {len(todo)} notebooks")
    setting = Setting(bundle, SEED, workers, known)
    told = _done([small, *trials, *todo], jobs, setting, advance)  # the longest first
    for own, unfit in told[small].items():
        for check in unfit:
            message = f"the check `{check}` of `{own}` fails the solution at the smallest sizes"
            found.refuse(places.check(own, check), message)
    if _are_stale(course.folder("release", ".", assignment) / FILE, {t.task: told[t][0] for t in trials}):
        found.refuse(places.hints, "these hints are not those of the catalogue: build it again")
    verdicts = _verdicts(told)
    # A right answer may build on another task's in a way that only some answers to that one allow.
    suspects = {
        f"alone {task.task} {name}": {task.task: name}
        for key, mixture in mixtures.items()
        for task in verdicts[key].tasks
        if (name := mixture.get(task.task)) and _first_loss(task)
    }
    alone = [Submitted(key, mixed(bundle, variants, mixture)) for key, mixture in suspects.items()]
    verdicts |= _verdicts(_done(alone, jobs, setting))
    answers = {**mixtures, **suspects}
    found.faults = met_faults(
        (_words_for(name, task.task, answers), task)
        for name, verdict in verdicts.items()
        for task in verdict.tasks
    )
    found.problems += [str(met) for met in found.faults]
    _look_at_ends(found, verdicts["solution"], verdicts["release"], places)
    for name, mistake in mistakes.items():
        for message in _look_at_mistake(found, mistake, verdicts[name], verdicts["solution"]):
            found.refuse(places.mistake(mistake.name), message)
    for each in checks:
        for message in _look_at_check(found, each):
            found.refuse(places.check(each.task, each.name), message)
    found.variants = sum(map(len, variants.values()))
    _look_at_variants(found, suspects, verdicts, partial(place_of, course, bundle))
    return found


def _done(
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
    return "the solution could not be judged at the smallest sizes"


def _verdicts(done: Mapping[Job[Any], Any]) -> dict[str, Verdict]:
    """Return the verdicts of the notebooks that were judged, by name."""
    return {job.student: told.verdict for job, told in done.items() if isinstance(job, Submitted)}


@dataclass(frozen=True)
class SmallSizes:
    """The job of finding out whether the checks of values hold for the sizes that `smallest` tries."""

    def run(self, setting: Setting, checks: Checks) -> dict[str, list[str]]:
        return unfit_checks(setting.bundle, seed=setting.seed, checks=checks, workers=setting.workers)


def _are_stale(hints: Path, known: KnownMistakes) -> bool:
    """Return whether the released hints do not open for the answers that they belong to."""
    return any(
        mistake.answers and mistake not in opened(hints, task, mistake.answers)
        for task, mistakes in known.items()
        for mistake in mistakes
    )


def _look_at_ends(found: Validation, solution: Verdict, release: Verdict, places: Places) -> None:
    """Note what the solution loses, and what the untouched release gets."""
    for task in solution.tasks:
        if loss := _first_loss(task):
            place = places.check(task.task, loss.check) if loss.check else places.graded(task.task)
            found.refuse(place, f"the solution fails {loss}")
    for task in release.tasks:
        if task.score:
            message = f"the untouched release gets {task.score:g} points for `{task.task}`"
            found.refuse(places.graded(task.task), message)


def _look_at_mistake(found: Validation, mistake: Mistake, verdict: Verdict, right: Verdict) -> Iterator[str]:
    """Note how a mistake was judged, and yield what does not hold of it."""
    own = next(task for task in verdict.tasks if task.task == mistake.task)
    failed = [check for check in own.checks if check.outcome not in ("passed", "skipped", "fault")]
    named = {check.diagnosis["mistake"] for check in failed if check.diagnosis}
    costs = {
        task.task: best.score - task.score
        for task, best in zip(verdict.tasks, right.tasks, strict=False)
        if task.score != best.score
    }
    caught = any(check.rule == mistake.caught_by for check in failed)
    diagnosed = named.pop() if len(named) == 1 else None
    found.mistakes.append(
        {
            "mistake": mistake.name,
            "task": mistake.task,
            "rule": mistake.caught_by,
            "caught": caught,
            "caught_by": [check.check for check in failed],
            "outcomes": {check.check: check.outcome for check in own.checks},
            "diagnosed_as": diagnosed,
            "costs": costs,
        }
    )
    if faulty(own):
        return  # that is told, and whatever else may be is unknown
    if not failed:
        yield f"the mistake {mistake.name} is not caught"
    elif not caught:
        rules = ", ".join(dict.fromkeys(check.rule for check in failed))
        yield f"the mistake {mistake.name} is caught by the rule {rules}, not by {mistake.caught_by}"
    elif diagnosed != mistake.name:
        yield f"the mistake {mistake.name} is diagnosed as {diagnosed or 'nothing'}"
    elif mistake.task not in costs:
        yield f"the mistake {mistake.name} costs no points"
    others = [task for task in costs if task != mistake.task]
    if others:
        yield f"the mistake {mistake.name} costs points in {', '.join(others)}, too"


def _look_at_check(found: Validation, check: Check) -> Iterator[str]:
    """Note a check, and yield a problem unless it alone catches some mistake or says that it only teaches."""
    only = [
        mistake["mistake"]
        for mistake in found.mistakes
        if (mistake["task"], mistake["caught_by"]) == (check.task, [check.name])
    ]
    found.checks.append(
        {
            "task": check.task,
            "check": check.name,
            "rule": check.rule,
            "points": check.points,
            "teaching_only": check.teaching_only,
            "only_catcher_of": only,
        }
    )
    name = f"the check `{check.name}` of `{check.task}`"
    has_fault = any((met.task, met.check) == (check.task, check.name) for met in found.faults)
    if check.teaching_only and check.points:
        yield f"{name} is marked as teaching only, but is worth {check.points:g} points"
    elif check.teaching_only and only:
        yield f"{name} is marked as teaching only, but alone catches {only[0]}"
    elif not only and not check.teaching_only and not has_fault:
        yield f"{name} is the only catcher of no mistake and not marked as teaching only"


def _look_at_variants(
    found: Validation,
    suspects: Mapping[str, Mapping[str, str]],
    verdicts: Mapping[str, Verdict],
    place: Callable[[str, str], str],
) -> None:
    for name, answer in suspects.items():
        for task in verdicts[name].tasks:
            if task.task in answer and (loss := _first_loss(task)):
                style = answer[task.task]
                found.variants_failed.append(f"{task.task}: {style}")
                found.refuse(
                    place(task.task, style), f"the right answer {style!r} to `{task.task}` fails {loss}"
                )


def _words_for(name: str, task: str, answers: Mapping[str, Mapping[str, str]]) -> str:
    """Return words for what was judged under this name in a task."""
    return f"the right answer {answers[name][task]!r}" if task in answers.get(name, {}) else f"the {name}"


@dataclass(frozen=True)
class _Loss:
    """The first thing that a task lost, in words; `check` is `""` if it is points alone."""

    check: str
    words: str

    def __str__(self) -> str:
        return self.words


def _first_loss(task: TaskVerdict) -> _Loss | None:
    """Return the first check of a task that did not pass, or its points; `None` if nothing was lost."""
    for check in task.checks:
        if check.outcome != "passed":
            words = f"`{check.check}` of `{task.task}` ({check.outcome}): {check.message}"
            return _Loss(check.check, words)
    if task.score == task.max_score:
        return None
    return _Loss("", f"`{task.task}`: {task.score:g} of {task.max_score:g}")
