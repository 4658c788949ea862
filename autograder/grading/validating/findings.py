"""The findings of a validation: what its verdicts say about an assignment's checks and catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.checking.runner.check import Check
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.course.places import Places
from autograder.grading.course.problem import Problem
from autograder.grading.judging.faults_met import MetFault, faulty
from autograder.verdict import TaskVerdict, Verdict


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


def look_at_ends(found: Validation, solution: Verdict, release: Verdict, places: Places) -> None:
    """Note what the solution loses, and what the untouched release gets."""
    for task in solution.tasks:
        if loss := first_loss(task):
            place = places.check(task.task, loss.check) if loss.check else places.graded(task.task)
            found.refuse(place, f"the solution fails {loss}")
    for task in release.tasks:
        if task.score:
            message = f"the untouched release gets {task.score:g} points for `{task.task}`"
            found.refuse(places.graded(task.task), message)


def look_at_mistake(found: Validation, mistake: Mistake, verdict: Verdict, right: Verdict) -> Iterator[str]:
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


def look_at_check(found: Validation, check: Check) -> Iterator[str]:
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


def look_at_variants(
    found: Validation,
    suspects: Mapping[str, Mapping[str, str]],
    verdicts: Mapping[str, Verdict],
    place: Callable[[str, str], str],
) -> None:
    """Note the right answers that lost something when each was judged by itself, among the solution's."""
    for name, answer in suspects.items():
        for task in verdicts[name].tasks:
            if task.task in answer and (loss := first_loss(task)):
                style = answer[task.task]
                found.variants_failed.append(f"{task.task}: {style}")
                found.refuse(
                    place(task.task, style), f"the right answer {style!r} to `{task.task}` fails {loss}"
                )


@dataclass(frozen=True)
class _Loss:
    """The first thing that a task lost, in words; `check` is `""` if it is points alone."""

    check: str
    words: str

    def __str__(self) -> str:
        return self.words


def first_loss(task: TaskVerdict) -> _Loss | None:
    """Return the first check of a task that did not pass, or its points; `None` if nothing was lost."""
    for check in task.checks:
        if check.outcome != "passed":
            words = f"`{check.check}` of `{task.task}` ({check.outcome}): {check.message}"
            return _Loss(check.check, words)
    if task.score == task.max_score:
        return None
    return _Loss("", f"`{task.task}`: {task.score:g} of {task.max_score:g}")
