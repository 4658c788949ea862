"""The findings of a validation: what its verdicts say about an assignment's checks and catalogue."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.checking.runner.check import Check
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.course.places import Places
from autograder.grading.course.problem import Problem
from autograder.grading.judging.faults_met import MetFault, faulty
from autograder.verdict import CheckVerdict, TaskVerdict, Verdict


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


def look_at_ends(found: Validation, solutions: Sequence[Verdict], release: Verdict, places: Places) -> None:
    """Note what the solution loses under any of its seeds, and what the untouched release gets."""
    losses: dict[str, _Loss] = {}
    for solution in solutions:
        for task in solution.tasks:
            if loss := first_loss(task):
                losses.setdefault(task.task, loss)
    for name, loss in losses.items():
        place = places.check(name, loss.check) if loss.check else places.graded(name)
        found.refuse(place, f"the solution fails {loss}")
    for task in release.tasks:
        if task.score:
            message = f"the untouched release gets {task.score:g} points for `{task.task}`"
            found.refuse(places.graded(task.task), message)


@dataclass(frozen=True)
class JudgedMistake:
    """A known mistake, and how a notebook was judged that has it."""

    mistake: Mistake
    own: TaskVerdict
    """The verdict of the task that is mistaken."""
    costs: Mapping[str, float]
    """The points lost, by task; tasks with a mistake of their own are left out."""

    @classmethod
    def of(
        cls, mistake: Mistake, verdict: Verdict, right: Verdict, beside: Collection[str] = ()
    ) -> JudgedMistake:
        """Return a mistake as it was judged; `right` is the solution's verdict.

        `beside` are the tasks that have a mistake of their own in the same notebook.
        """
        own = next(task for task in verdict.tasks if task.task == mistake.task)
        costs = {
            task.task: best.score - task.score
            for task, best in zip(verdict.tasks, right.tasks, strict=False)
            if task.score != best.score and (task is own or task.task not in beside)
        }
        return cls(mistake, own, costs)

    @property
    def failed(self) -> list[CheckVerdict]:
        return [check for check in self.own.checks if check.outcome not in ("passed", "skipped", "fault")]

    @property
    def is_caught(self) -> bool:
        """True if a check of the rule that the catalogue names has failed."""
        return any(check.rule == self.mistake.caught_by for check in self.failed)

    @property
    def diagnosed_as(self) -> str | None:
        """The mistake that is named for it; `None` if none is, or several are."""
        named = {check.diagnosis.mistake for check in self.failed if check.diagnosis}
        return named.pop() if len(named) == 1 else None

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each check of the task."""
        return {check.check: check.outcome for check in self.own.checks}

    def complaints(self) -> Iterator[str]:
        """Yield what does not hold of it."""
        name, task = self.mistake.name, self.mistake.task
        if faulty(self.own):
            return  # that is told, and whatever else may be is unknown
        if not self.failed:
            yield f"the mistake {name} is not caught"
        elif not self.is_caught:
            rules = ", ".join(dict.fromkeys(check.rule for check in self.failed))
            yield f"the mistake {name} is caught by the rule {rules}, not by {self.mistake.caught_by}"
        elif self.mistake.hint and self.diagnosed_as != name:
            yield f"the mistake {name} is diagnosed as {self.diagnosed_as or 'nothing'}"
        elif task not in self.costs:
            yield f"the mistake {name} costs no points"
        if others := [other for other in self.costs if other != task]:
            yield f"the mistake {name} costs points in {', '.join(others)}, too"

    def as_json(self) -> dict[str, Any]:
        return {
            "mistake": self.mistake.name,
            "task": self.mistake.task,
            "rule": self.mistake.caught_by,
            "caught": self.is_caught,
            "caught_by": [check.check for check in self.failed],
            "outcomes": self.outcomes,
            "diagnosed_as": self.diagnosed_as,
            "costs": dict(self.costs),
        }


def look_at_check(found: Validation, check: Check) -> Iterator[str]:
    """Note a check, and yield a problem unless it alone catches some mistake, or need not.

    One that only teaches need not, nor one that `standard` made unasked, nor those of a task whose
    mistakes nobody has written yet.
    """
    kept = [mistake for mistake in found.mistakes if mistake["task"] == check.task]
    only = [mistake["mistake"] for mistake in kept if mistake["caught_by"] == [check.name]]
    found.checks.append(
        {
            "task": check.task,
            "check": check.name,
            "rule": check.rule,
            "points": check.points,
            "teaching_only": check.teaching_only,
            "usual": check.is_usual,
            "only_catcher_of": only,
        }
    )
    name = f"the check `{check.name}` of `{check.task}`"
    has_fault = any((met.task, met.check) == (check.task, check.name) for met in found.faults)
    if check.teaching_only and check.points:
        yield f"{name} is marked as teaching only, but is worth {check.points:g} points"
    elif check.teaching_only and only:
        yield f"{name} is marked as teaching only, but alone catches {only[0]}"
    elif kept and not (only or check.teaching_only or check.is_usual or has_fault):
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
