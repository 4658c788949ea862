"""Verdicts: what grading finds out about one submission, and their JSON form.

The JSON is a contract with other people's tools; docs/verdict.md describes it. Fields may be added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from autograder.checking.diagnosis.match import Answered, Known, explain
from autograder.checking.explain.evidence import Difference, Evidence, Prints, Shape
from autograder.checking.runner.check import CheckResult, Outcome
from autograder.checking.runner.fault import Fault

Status = Literal["graded", "missing", "corrupt", "timeout", "out_of_memory", "crashed", "infra_error"]
STATUSES = get_args(Status)
UNREAD = ("missing", "corrupt")
"""The statuses of submissions of which nothing could be read: they have no score until a person gives one."""
ENDED = ("timeout", "out_of_memory", "crashed")
"""The statuses of notebooks that did not run as they should."""
OUTCOMES = get_args(Outcome)
KEPT_BACK = 0.5
"""Points that a task lacks while only checks that are worth none of their own do not pass."""


@dataclass(frozen=True)
class Finding:
    """Something about a submission that a person may want to know; never a change of score by itself."""

    kind: str
    message: str
    student: str = ""
    """The text for the student, if the message tells a grader what to do. Not in the JSON."""


@dataclass(frozen=True)
class CheckVerdict:
    """One check's result. `diagnosis` names the mistake where one is known."""

    check: str
    rule: str
    title: str
    outcome: Outcome
    points: float
    max_points: float
    message: str
    instead: str | None = None
    """Text that the student reads in place of a hidden check's title and message. Not part of the JSON."""
    diagnosis: dict[str, str] | None = None
    answers: str | None = None
    """The fingerprint of the answers of a check that failed: equal for submissions that answered alike."""
    evidence: Evidence | None = None
    """Evidence for a page besides the message: shapes seen and expected, or where values differ."""
    prints: Prints | None = None
    """The output of the student's code in the call that failed."""
    fault: Fault | None = None
    """The fault of the check itself, or of one that it needs: then the check says nothing of the answer."""
    unwritten: bool = False
    """True if the check found the task as it was released."""

    @classmethod
    def from_result(cls, result: CheckResult) -> CheckVerdict:
        check = result.check
        return cls(
            check=check.name,
            rule=check.rule,
            title=check.title,
            outcome=result.outcome,
            points=result.points,
            max_points=check.points,
            message=result.message,
            instead=check.instead,
            answers=result.answers,
            evidence=result.evidence,
            prints=result.prints,
            fault=result.fault,
            unwritten=result.unwritten,
        )

    def as_json(self) -> dict[str, Any]:
        shown = self.evidence or Evidence()
        return {
            "check": self.check,
            "rule": self.rule,
            "title": self.title,
            "outcome": self.outcome,
            "points": self.points,
            "max_points": self.max_points,
            "message": self.message,
            "seen": shown.seen.as_json() if shown.seen else None,
            "expected": shown.expected.as_json() if shown.expected else None,
            "difference": shown.difference.as_json() if shown.difference else None,
            "printed": self.prints.as_json() if self.prints else None,
            "diagnosis": self.diagnosis,
            "answers": self.answers,
            "fault": self.fault.as_json() if self.fault else None,
            "unwritten": self.unwritten,
            "hidden": self.hidden,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> CheckVerdict:
        """Read what `as_json` gives, now or in an earlier version; what stands for a hidden check is lost."""
        seen, expected, difference = (told.get(name) for name in ("seen", "expected", "difference"))
        evidence = Evidence(
            Shape.from_json(seen) if seen else None,
            Shape.from_json(expected) if expected else None,
            Difference.from_json(difference) if difference else None,
        )
        printed, fault = told.get("printed"), told.get("fault")
        return cls(
            check=told["check"],
            rule=told["rule"],
            title=told["title"],
            outcome=told["outcome"],
            points=told["points"],
            max_points=told["max_points"],
            message=told["message"],
            instead="" if told.get("hidden") else None,
            diagnosis=told.get("diagnosis"),
            answers=told.get("answers"),
            evidence=evidence if evidence != Evidence() else None,
            prints=Prints(**printed) if printed else None,
            fault=Fault(**fault) if fault else None,
            unwritten=told.get("unwritten", False),
        )

    @property
    def hidden(self) -> bool:
        """Return whether students see neither its title nor its message."""
        return self.instead is not None


_CAUSES = ("mutation", "from-scratch")
"""The rules of checks whose findings explain those of others."""
_CONSEQUENCES = ("values", "gradient", "dtype", "device", "registration", "generality")
"""The rules of checks that may fail for such a cause."""


@dataclass(frozen=True)
class TaskVerdict:
    """One task: its checks and their points."""

    task: str
    max_score: float
    checks: tuple[CheckVerdict, ...]
    note: str = ""
    """A remark on how the task was judged, where one is needed."""
    only_graded: float = 0.0
    """The further points that the task has for checks that run at grading only; set in a notebook."""
    waits_for: tuple[str, ...] = ()
    """The tasks that it uses and that do not hold yet, so that what fails may follow; set in a notebook."""

    @property
    def kept_back(self) -> float:
        """Return the points missing from the sum of the checks': full points need every check to pass."""
        full = sum(check.points for check in self.checks) >= self.max_score
        faulty = any(check.outcome != "passed" and check.fault is None for check in self.checks)
        return min(KEPT_BACK, self.max_score) if full and faulty else 0.0

    @cached_property
    def score(self) -> float:
        return min(self.max_score, sum(check.points for check in self.checks)) - self.kept_back

    def as_json(self) -> dict[str, Any]:
        checks = [check.as_json() for check in self.checks]
        return {
            "task": self.task,
            "score": self.score,
            "max_score": self.max_score,
            "kept_back": self.kept_back,
            "note": self.note,
            "checks": checks,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> TaskVerdict:
        checks = tuple(map(CheckVerdict.from_json, told["checks"]))
        return cls(told["task"], told["max_score"], checks, told.get("note", ""))

    @property
    def first_to_read(self) -> CheckVerdict | None:
        """Return the failed check that a student should read first, `None` if none failed.

        It is the first one, unless that fails as a consequence: where an argument was written into, or
        the work was left to what is forbidden, wrong gradients and the like come from there.
        """
        failed = [check for check in self.checks if check.outcome not in ("passed", "skipped", "fault")]
        if not failed or failed[0].rule not in _CONSEQUENCES:
            return failed[0] if failed else None
        return next((check for check in failed if check.rule in _CAUSES), failed[0])

    @cached_property
    def unwritten(self) -> bool:
        """Return whether the student has left it as it was released."""
        return any(check.unwritten for check in self.checks)

    def diagnosed(self, known: Sequence[Known]) -> TaskVerdict:
        """Return the same with a diagnosis for each failed check that a known mistake explains."""
        answered = [Answered(check.check, check.outcome, check.answers) for check in self.checks]
        found = explain(answered, known)
        checks = (
            replace(check, diagnosis=_diagnosis(found[check.check]) if check.check in found else None)
            for check in self.checks
        )
        return replace(self, checks=tuple(checks))


@dataclass(frozen=True)
class ByHand:
    """A cell that no check judges: a person gives its points."""

    task: str
    max_score: float


@dataclass(frozen=True)
class Verdict:
    """Everything found out about one notebook of one student."""

    student: str
    assignment: str
    notebook: str
    status: Status
    seconds: float
    seed: int
    findings: tuple[Finding, ...]
    tasks: tuple[TaskVerdict, ...]
    by_hand: tuple[ByHand, ...] = ()
    """Cells that are worth points and wait for a person; neither `score` nor `max_score` counts them."""

    def diagnosed(self, known: Mapping[str, Sequence[Known]]) -> Verdict:
        """Return the same with a diagnosis for each failed check that a mistake, known by task, explains."""
        return replace(self, tasks=tuple(task.diagnosed(known.get(task.task, ())) for task in self.tasks))

    @property
    def nothing_ran(self) -> bool:
        """Return whether it earned nothing because it did not run as it should: a person should look."""
        return self.status in ENDED and self.score == 0

    @property
    def score(self) -> float:
        return sum(task.score for task in self.tasks)

    @property
    def max_score(self) -> float:
        return sum(task.max_score for task in self.tasks)

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data; scores are `None` where nothing could be read."""
        nothing = {"score": None} if self.status in UNREAD else {}
        return {
            "student": self.student,
            "assignment": self.assignment,
            "notebook": self.notebook,
            "status": self.status,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "findings": [{"kind": finding.kind, "message": finding.message} for finding in self.findings],
            "tasks": [{**task.as_json(), **nothing} for task in self.tasks],
            "by_hand": [{"task": each.task, "max_score": each.max_score} for each in self.by_hand],
            **nothing,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Verdict:
        """Read what `as_json` gives, now or in an earlier version. Scores follow from the checks again."""
        return cls(
            student=told["student"],
            assignment=told["assignment"],
            notebook=told["notebook"],
            status=told["status"],
            seconds=told["seconds"],
            seed=told["seed"],
            findings=tuple(Finding(each["kind"], each["message"]) for each in told["findings"]),
            tasks=tuple(map(TaskVerdict.from_json, told["tasks"])),
            by_hand=tuple(ByHand(each["task"], each["max_score"]) for each in told.get("by_hand", ())),
        )


def _diagnosis(known: Known) -> dict[str, str]:
    return {"mistake": known.mistake, "hint": known.hint}
