"""Grading the checks: a known mistake must be caught, named, and cost its own task; a right answer, nothing.

Everything is judged as a class's submissions are: the solution, the untouched release, the solution with
each known mistake in it, and the course's right answers in other styles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.checking.diagnosis.sealed_hints import FILE, opened
from autograder.checking.runner.check import Check
from autograder.checking.runner.checks import PUBLIC_SEED, Checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import OPTIMIZERS
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.batch import Submitted
from autograder.grading.building.changes import examined_digest, keep_validated, validated_before
from autograder.grading.building.examine import chosen_assignments, examine
from autograder.grading.building.problem import Unfit
from autograder.grading.course.course import Course
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.faults_met import MetFault, faulty, met_faults
from autograder.grading.judging.judge import Graded, unfit_checks
from autograder.grading.judging.judge_pool import Failure, Setting, work_off
from autograder.grading.records.known import KnownMistakes, mistaken, try_mistakes
from autograder.grading.validating.right import Variants, kept_in, mixed, mixtures_of, right_answers
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import TaskVerdict, Verdict

SEED = 20_260_102
"""The seed of a validation: any will do, and a fixed one makes a finding repeatable."""


@dataclass
class Validation:
    """The findings about one assignment's checks and catalogue."""

    assignment: str
    problems: list[str] = field(default_factory=list)
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
    variants = right_answers(course, bundle)
    found.variants_in = course.told(kept_in(course, assignment))
    with checks_of(bundle) as collected:
        checks = [check for task in bundle.tasks for check in collected.of(task)]
    known = try_mistakes(bundle, SEED, workers, jobs).known
    hints = course.folder("release", ".", assignment) / FILE
    public = try_mistakes(bundle, PUBLIC_SEED, workers, jobs, include_hidden=False)
    found.problems += _stale(hints, public.known)
    mistakes = {f"mistake {mistake.name}": mistake for mistake in bundle.mistakes}
    mixtures = {f"variants {k}": mixture for k, mixture in enumerate(mixtures_of(variants))}
    todo = [
        Submitted("solution", bundle.with_answers(bundle.solution)),
        Submitted("release", bundle.released.encode()),
        *(Submitted(name, mistaken(bundle, mistake)) for name, mistake in mistakes.items()),
        *(Submitted(name, mixed(bundle, variants, mixture)) for name, mixture in mixtures.items()),
    ]
    for _, unfit in work_off([SmallSizes()], 1, Setting(bundle, SEED, workers)):
        if isinstance(unfit, Failure):
            raise UserError(f"{assignment}: the solution could not be judged: {unfit.reason}")
        found.problems += [
            f"the check `{check}` of `{task}` fails the solution at the smallest sizes"
            for task, names in unfit.items()
            for check in names
        ]
    say(f"{assignment}: judging {len(todo)} notebooks")
    verdicts = _judged(todo, jobs, Setting(bundle, SEED, workers, known), advance)
    # A right answer may build on another task's in a way that only some answers to that one allow.
    suspects = {
        f"alone {task.task} {name}": {task.task: name}
        for key, mixture in mixtures.items()
        for task in verdicts[key].tasks
        if (name := mixture.get(task.task)) and _first_loss(task)
    }
    alone = [Submitted(key, mixed(bundle, variants, mixture)) for key, mixture in suspects.items()]
    verdicts |= _judged(alone, jobs, Setting(bundle, SEED, workers, known))
    answers = {**mixtures, **suspects}
    found.faults = met_faults(
        (_words_for(name, task.task, answers), task)
        for name, verdict in verdicts.items()
        for task in verdict.tasks
    )
    found.problems += [str(met) for met in found.faults]
    found.problems += _losses("the solution", verdicts["solution"])
    if verdicts["release"].score:
        found.problems.append(f"the untouched release gets {verdicts['release'].score:g} points")
    for name, mistake in mistakes.items():
        _look_at_mistake(found, mistake, verdicts[name], verdicts["solution"])
    _look_at_checks(found, checks)
    _look_at_variants(found, variants, suspects, verdicts)
    return found


def _judged(
    todo: Sequence[Submitted],
    jobs: int,
    setting: Setting,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Verdict]:
    verdicts: dict[str, Verdict] = {}
    advance(0, len(todo))
    for job, told in work_off(todo, jobs, setting):
        assert isinstance(job, Submitted)
        if isinstance(told, Failure):
            where = f"{setting.bundle.assignment}: the {job.student}"
            raise UserError(f"{where} could not be judged: {told.reason}")
        assert isinstance(told, Graded)
        verdicts[job.student] = told.verdict
        advance(len(verdicts), len(todo))
    return verdicts


@dataclass(frozen=True)
class SmallSizes:
    """The job of finding out whether the checks of values hold for the sizes that `smallest` tries."""

    def run(self, setting: Setting, checks: Checks) -> dict[str, list[str]]:
        return unfit_checks(setting.bundle, seed=setting.seed, checks=checks, workers=setting.workers)


def _stale(hints: Path, known: KnownMistakes) -> list[str]:
    """Return a problem if the released hints do not open for the answers that they belong to."""
    for task, mistakes in known.items():
        for mistake in mistakes:
            if mistake.answers and mistake not in opened(hints, task, mistake.answers):
                return [f"the hints in {hints.parent.name} are not those of the catalogue: build it again"]
    return []


def _look_at_mistake(found: Validation, mistake: Mistake, verdict: Verdict, right: Verdict) -> None:
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
        found.problems.append(f"the mistake {mistake.name} is not caught")
    elif not caught:
        rules = ", ".join(dict.fromkeys(check.rule for check in failed))
        found.problems.append(
            f"the mistake {mistake.name} is caught by the rule {rules}, not by {mistake.caught_by}"
        )
    elif diagnosed != mistake.name:
        found.problems.append(f"the mistake {mistake.name} is diagnosed as {diagnosed or 'nothing'}")
    elif mistake.task not in costs:
        found.problems.append(f"the mistake {mistake.name} costs no points")
    others = [task for task in costs if task != mistake.task]
    if others:
        found.problems.append(f"the mistake {mistake.name} costs points in {', '.join(others)}, too")


def _look_at_checks(found: Validation, checks: Sequence[Check]) -> None:
    """Note each check, and a problem unless it alone catches some mistake or says that it only teaches."""
    faults = {(met.task, met.check) for met in found.faults}
    for check in checks:
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
        if check.teaching_only and check.points:
            found.problems.append(f"{name} is marked as teaching only, but is worth {check.points:g} points")
        elif check.teaching_only and only:
            found.problems.append(f"{name} is marked as teaching only, but alone catches {only[0]}")
        elif not only and not check.teaching_only and (check.task, check.name) not in faults:
            found.problems.append(f"{name} is the only catcher of no mistake and not marked as teaching only")


def _look_at_variants(
    found: Validation,
    variants: Variants,
    suspects: Mapping[str, Mapping[str, str]],
    verdicts: Mapping[str, Verdict],
) -> None:
    found.variants = sum(map(len, variants.values()))
    for name, answer in suspects.items():
        for task in verdicts[name].tasks:
            if task.task in answer and (told := _first_loss(task)):
                found.variants_failed.append(f"{task.task}: {answer[task.task]}")
                found.problems.append(f"the right answer {answer[task.task]!r} to `{task.task}` fails {told}")


def _losses(what: str, verdict: Verdict) -> list[str]:
    return [f"{what} fails {told}" for task in verdict.tasks if (told := _first_loss(task))]


def _words_for(name: str, task: str, answers: Mapping[str, Mapping[str, str]]) -> str:
    """Return words for what was judged under this name in a task."""
    return f"the right answer {answers[name][task]!r}" if task in answers.get(name, {}) else f"the {name}"


def _first_loss(task: TaskVerdict) -> str:
    """The first check of a task that did not pass, or its points, in words; `""` if nothing was lost."""
    for check in task.checks:
        if check.outcome != "passed":
            return f"`{check.check}` of `{task.task}` ({check.outcome}): {check.message}"
    return "" if task.score == task.max_score else f"`{task.task}`: {task.score:g} of {task.max_score:g}"
