"""Submissions that a person should look at, and the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.grading.records.scores import Mark
from autograder.verdict import Verdict

REASONS = {
    "check_fault": "not graded: a check has a fault",
    "infra_error": "not graded: the machine failed",
    "corrupt": "file cannot be read",
    "missing": "no file that is the notebook",
    "other_notebook": "the notebook of something else",
    "not_graded": "not graded yet",
    "needs_manual_grade": "waits for points from a person",
    "look_again": "judged again after points from a person",
    "unreadable_time": "time of handing in cannot be read",
    "late": "late, by how much is unknown",
    "group_differs": "members of a group have different submissions",
    "group_points": "members of a group have different scores",
    "other_version": "another version lies beside it",
    "other_name": "graded under another file's name",
    "missing_module": "imports a file that was not handed in",
    "renamed_function": "another function than the one asked for",
    "split_cell": "an answer in two cells",
    "conflict": "marks of a merge conflict",
    "indentation": "wrong indentation",
    "helper_file": "uses a file of the student's own",
    "unusual_code": "code that no task needs",
    "from_scratch": "the library did the work",
    "timeout": "did not end in time",
    "out_of_memory": "asked for too much memory",
    "crashed": "ended its process",
    "missing_cell": "a solution cell was not found",
    "duplicate_cell": "a solution cell is there twice",
    "edited_check": "a check cell was changed",
    "answer_beside": "text beside an answer that is untouched",
    "cell_type": "an answer in a cell of another type",
}
"""The reasons for a person to look, the most urgent first. Other findings (`cell_error`, say) need nobody."""

UNPROTECTED = "unprotected_cell"
"""The kind of finding that is about the assignment, not about a submission: a report says it once."""

_MARKED = {
    "not_graded": "Handed in and not graded yet: run `autograder grade` again.",
    "needs_manual_grade": "A cell has no points yet: give them in formgrader.",
    "look_again": "The submission was judged again after a person had given points: do they still fit?",
}


@dataclass(frozen=True)
class Attention:
    """One reason to look at one submission."""

    student: str
    kind: str
    """One of `REASONS`."""
    message: str


def attention(
    verdicts: Iterable[Verdict], marks: Mapping[str, Mark], submitted: Iterable[str]
) -> list[Attention]:
    """The reasons, the most urgent first; none for a student who handed in nothing at all."""
    handed_in = set(submitted)
    found = [
        Attention(student, mark.state, _MARKED[mark.state])
        for student, mark in marks.items()
        # Without points of a person it is the verdict that says why somebody should look.
        if mark.state in _MARKED and (mark.state != "look_again" or mark.by_hand)
    ]
    found += _groups_apart(marks.values())
    for verdict in verdicts:
        student = verdict.student
        if student in handed_in or verdict.status != "missing":
            found += [Attention(student, kind, _joined(told)) for kind, told in _reasons(verdict).items()]
    order = list(REASONS)
    return sorted(found, key=lambda each: (order.index(each.kind), each.student))


def first_to_see(verdict: Verdict) -> str:
    """Return what a grader should see first of a submission; `""` if nothing is wrong with it.

    It is why nothing was judged, else the first check in the notebook's order that failed (by the known
    mistake, if it is one), else the most urgent finding, else a remark.
    """
    order = [verdict.status, *REASONS]
    told = (each for each in verdict.findings if each.kind != UNPROTECTED)
    findings = sorted(told, key=lambda each: [*order, each.kind].index(each.kind))
    failed = ((task.task, check) for task in verdict.tasks if (check := task.first_to_read) is not None)
    first = next(failed, None)
    if first is None or (verdict.status != "graded" and findings):
        return findings[0].message if findings else ""
    task, check = first
    known = check.diagnosis
    said = f"the known mistake {known.mistake}" if known else check.message
    return f"{task}: {' '.join(said.split())}"


def _groups_apart(marks: Iterable[Mark]) -> Iterator[Attention]:
    """Yield those whose group has one submission and not one score: a person gave points to some."""
    groups: dict[tuple[str, str], list[Mark]] = {}
    for mark in (mark for mark in marks if mark.group):
        groups.setdefault((mark.group, mark.same_as or mark.student), []).append(mark)
    for (group, _), members in groups.items():
        if len({mark.score for mark in members}) > 1:
            said = (
                f"The group `{group}` handed in once, and its members have different scores: is that meant?"
            )
            yield from (Attention(mark.student, "group_points", said) for mark in members)


def _reasons(verdict: Verdict) -> dict[str, list[str]]:
    """The messages of each kind of reason."""
    told: dict[str, list[str]] = {}
    for each in verdict.findings:
        if each.kind in REASONS:
            told.setdefault(each.kind, []).append(each.message)
    if verdict.status in REASONS and not told.keys() & {"check_fault", "other_notebook"}:
        told.setdefault(verdict.status, [f"The notebook as a whole: {REASONS[verdict.status]}."])
    for task in verdict.tasks:
        for check in task.checks:
            # A blank answer fails that check, too: it is the first of its task.
            borrowed = check.rule == "from-scratch" and check.outcome == "failed"
            if borrowed and not check.unwritten:
                told.setdefault("from_scratch", []).append(f"`{task.task}`: {check.message}")
    return told


def _joined(messages: list[str]) -> str:
    more = len(messages) - 1
    return f"{messages[0]} (And {more} more like this.)" if more else messages[0]
