"""Verdicts: what grading finds out about one submission, and their JSON form.

The JSON is a contract with other people's tools; docs/verdict.md describes it, and docs/verdict.schema.json
is made from the types here. Fields may be added. One that earlier versions did not write needs a default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec import Meta, Struct, to_builtins
from msgspec.structs import asdict, replace

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


class Finding(Struct, frozen=True):
    """Something about a submission that a person may want to know; never a change of score by itself."""

    kind: str
    message: str
    student: str = ""
    """The text for the student, if the message tells a grader what to do. Not in the JSON."""
    WRITTEN: ClassVar = ("kind", "message")


class Diagnosis(Struct, frozen=True):
    """The known mistake that explains a failed check."""

    mistake: str
    hint: str


class CheckVerdict(Struct, frozen=True):
    """One check's result. `diagnosis` names the mistake where one is known."""

    check: str
    rule: str
    title: str
    outcome: Annotated[str, Meta(extra_json_schema={"enum": list(OUTCOMES)})]
    """One of `OUTCOMES`; a file of another version may have others."""
    points: float
    max_points: float
    message: str
    seen: Shape | None = None
    expected: Shape | None = None
    difference: Difference | None = None
    """Evidence for a page besides the message: shapes seen and expected, or where values differ."""
    printed: Prints | None = None
    """The output of the student's code in the call that failed."""
    diagnosis: Diagnosis | None = None
    answers: str | None = None
    """The fingerprint of the answers of a check that failed: equal for submissions that answered alike."""
    fault: Fault | None = None
    """The fault of the check itself, or of one that it needs: then the check says nothing of the answer."""
    unwritten: bool = False
    """True if the check found the task as it was released."""
    hidden: bool = False
    """True if students see neither its title nor its message."""
    instead: str = ""
    """Text that the student reads in place of a hidden check's title and message. Not in the JSON."""
    WRITTEN: ClassVar = (
        *("check", "rule", "title", "outcome", "points", "max_points", "message", "seen", "expected"),
        *("difference", "printed", "diagnosis", "answers", "fault", "unwritten", "hidden"),
    )

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
            **asdict(result.evidence or Evidence()),
            printed=result.prints,
            answers=result.answers,
            fault=result.fault,
            unwritten=result.unwritten,
            hidden=check.instead is not None,
            instead=check.instead or "",
        )

    def saying(self, message: str) -> CheckVerdict:
        """Return it with another message, and without the evidence and the output that go with its own."""
        return replace(self, message=message, seen=None, expected=None, difference=None, printed=None)


_CAUSES = ("mutation", "from-scratch")
"""The rules of checks whose findings explain those of others."""
_CONSEQUENCES = ("values", "gradient", "dtype", "device", "registration", "generality")
"""The rules of checks that may fail for such a cause."""


class TaskVerdict(Struct, frozen=True, dict=True):
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
    WRITTEN: ClassVar = ("task", "score", "max_score", "kept_back", "note", "checks")

    @property
    def kept_back(self) -> float:
        """Return the points missing from the sum of the checks': full points need every check to pass."""
        full = sum(check.points for check in self.checks) >= self.max_score
        faulty = any(check.outcome != "passed" and check.fault is None for check in self.checks)
        return min(KEPT_BACK, self.max_score) if full and faulty else 0.0

    @cached_property
    def score(self) -> float:
        return min(self.max_score, sum(check.points for check in self.checks)) - self.kept_back

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
        found = {check: Diagnosis(it.mistake, it.hint) for check, it in explain(answered, known).items()}
        checks = (replace(check, diagnosis=found.get(check.check)) for check in self.checks)
        return replace(self, checks=tuple(checks))


class ByHand(Struct, frozen=True):
    """A cell that no check judges: a person gives its points."""

    task: str
    max_score: float


class Verdict(Struct, frozen=True):
    """Everything found out about one notebook of one student."""

    student: str
    assignment: str
    notebook: str
    status: Annotated[str, Meta(extra_json_schema={"enum": list(STATUSES)})]
    """One of `STATUSES`; a file of another version may have others."""
    seconds: float
    seed: int
    findings: tuple[Finding, ...]
    tasks: tuple[TaskVerdict, ...]
    by_hand: tuple[ByHand, ...] = ()
    """Cells that are worth points and wait for a person; neither `score` nor `max_score` counts them."""
    WRITTEN: ClassVar = (
        *("student", "assignment", "notebook", "status", "score", "max_score", "seconds", "seed"),
        *("findings", "tasks", "by_hand"),
    )

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
        """Return the verdict as plain data; scores are `None` where nothing could be read."""
        data: dict[str, Any] = plain(self)
        if self.status in UNREAD:
            for each in (data, *data["tasks"]):
                each["score"] = None
        return data


def plain(value: Any) -> Any:
    """Return a struct as JSON has it: its fields, or those fields and properties that are `WRITTEN`."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if hasattr(value, "WRITTEN"):
        return {name: plain(getattr(value, name)) for name in value.WRITTEN}
    return to_builtins(value) if isinstance(value, Struct) else value
