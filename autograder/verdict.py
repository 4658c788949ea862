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
    notebook: str = ""
    """The notebook that it is about, of an assignment that has several; the message begins with it."""
    WRITTEN: ClassVar = ("kind", "message", "notebook")
    IF_SET: ClassVar = ("notebook",)


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


class NotebookVerdict(Struct, frozen=True):
    """One notebook of an assignment that has several; the names of its tasks begin with its own and a `/`."""

    notebook: str
    status: Annotated[str, Meta(extra_json_schema={"enum": list(STATUSES)})]
    """The same as in a verdict; one that is missing beside others has 0 points."""
    score: float
    max_score: float
    seconds: float


class Verdict(Struct, frozen=True):
    """Everything found out about one student's submission: of one notebook, or of several together."""

    student: str
    assignment: str
    notebook: str
    """The notebook's name; `""` where there are several."""
    status: Annotated[str, Meta(extra_json_schema={"enum": list(STATUSES)})]
    """One of `STATUSES`; a file of another version may have others."""
    seconds: float
    seed: int
    findings: tuple[Finding, ...]
    tasks: tuple[TaskVerdict, ...]
    by_hand: tuple[ByHand, ...] = ()
    """Cells that are worth points and wait for a person; neither `score` nor `max_score` counts them."""
    notebooks: tuple[NotebookVerdict, ...] = ()
    """The notebooks of an assignment that has several."""
    WRITTEN: ClassVar = (
        *("student", "assignment", "notebook", "status", "score", "max_score", "seconds", "seed"),
        *("findings", "tasks", "by_hand", "notebooks"),
    )
    IF_SET: ClassVar = ("notebooks",)

    @classmethod
    def of_several(cls, parts: Sequence[Verdict]) -> Verdict:
        """Return the verdict on a submission of several notebooks from those on each of them.

        Its status is the worst of theirs; it is missing only if all are.
        """
        there = [part.status for part in parts if part.status != "missing"]
        return replace(
            parts[0],
            notebook="",
            status=max(there, key=_WORST.index, default="missing"),
            seconds=round(sum(part.seconds for part in parts), 3),
            findings=tuple(_of(part.notebook, each) for part in parts for each in part.findings),
            tasks=tuple(_named(part.notebook, each) for part in parts for each in part.tasks),
            by_hand=tuple(_named(part.notebook, each) for part in parts for each in part.by_hand),
            notebooks=tuple(
                NotebookVerdict(part.notebook, part.status, part.score, part.max_score, part.seconds)
                for part in parts
            ),
        )

    def part(self, notebook: str) -> Verdict:
        """Return the verdict on one of its notebooks, as it was before they were put together."""
        about = next((each for each in self.notebooks if each.notebook == notebook), None)
        if about is None:
            return self
        before = qualified(notebook, "")
        return replace(
            self,
            notebook=notebook,
            status=about.status,
            seconds=about.seconds,
            findings=tuple(
                replace(each, message=each.message.removeprefix(f"{notebook}: "), notebook="")
                for each in self.findings
                if each.notebook == notebook
            ),
            tasks=tuple(_bare(before, each) for each in self.tasks if each.task.startswith(before)),
            by_hand=tuple(_bare(before, each) for each in self.by_hand if each.task.startswith(before)),
            notebooks=(),
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


_WORST = ("graded", "timeout", "out_of_memory", "crashed", "corrupt", "infra_error")
"""The statuses of notebooks that are there, the worst last."""


def _of(notebook: str, finding: Finding) -> Finding:
    told = f"{notebook}: {finding.message}"
    student = finding.student and f"{notebook}: {finding.student}"
    return Finding(finding.kind, told, student, notebook)


def qualified(notebook: str, task: str) -> str:
    """Return the name that a task has in a verdict on several notebooks."""
    return f"{notebook}/{task}"


def _named(notebook: str, one: Any) -> Any:
    return replace(one, task=qualified(notebook, one.task))


def _bare(before: str, one: Any) -> Any:
    return replace(one, task=one.task.removeprefix(before))


def plain(value: Any) -> Any:
    """Return a struct as JSON has it: its fields, or those fields and properties that are `WRITTEN`.

    Of these, fields that are named in `IF_SET` are left out while they are empty.
    """
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if hasattr(value, "WRITTEN"):
        found = {name: getattr(value, name) for name in value.WRITTEN}
        left_out = getattr(value, "IF_SET", ())
        return {name: plain(each) for name, each in found.items() if each or name not in left_out}
    return to_builtins(value) if isinstance(value, Struct) else value
