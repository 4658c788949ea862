"""Facts on how each submission came in: its group, whose it is, and findings on its time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from autograder.grading.course.course import Course
from autograder.grading.handed_in.names import listed, shown
from autograder.grading.records.store import load_verdict, write_whole
from autograder.verdict import Finding, Verdict

_WRITE_IT = "Write the time into `timestamp.txt` as `2026-03-01 10:45:00 UTC` and grade again."


class Sent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One student's submission, as `autograder collect` brought it in."""

    group: str = ""
    """The group that one submission counts for; `""` for a student on their own."""
    same_as: str = ""
    """The member of the group whose submission it is; `""` where it is the student's own."""
    file: str = ""
    """The digest of the files that were put there, if they are another member's."""
    late: bool = False
    """True if the platform marked it as late."""


def read_sent(course: Course, assignment: str) -> dict[str, Sent]:
    """Return what `collect` wrote down of an assignment's submissions, by student.

    A member who was judged for something else, handed in since then, has no longer the submission of another.
    """
    try:
        sent = msgspec.json.decode(_path(course, assignment).read_bytes(), type=dict[str, Sent])
    except (OSError, msgspec.MsgspecError):
        return {}
    for student, each in sent.items():
        kept = load_verdict(course, student, assignment) if each.same_as else None
        if kept is not None and kept.file != each.file:
            sent[student] = replace(each, same_as="")
    return sent


def write_sent(course: Course, assignment: str, sent: Mapping[str, Sent]) -> None:
    """Write down what is known of an assignment's submissions."""
    text = msgspec.json.format(msgspec.json.encode(sent), indent=1).decode()
    if sent or _path(course, assignment).exists():
        write_whole(_path(course, assignment), f"{text}\n", course.access)


def _path(course: Course, assignment: str) -> Path:
    return course.root / ".autograder" / "collected" / f"{assignment}.json"


def with_findings(course: Course, assignment: str, verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts, with findings on what a person should know of how each submission came in."""
    sent = read_sent(course, assignment)
    apart = _groups_apart(course, assignment, sent)
    return [
        replace(verdict, findings=(*verdict.findings, *more))
        if (more := [*_of_time(course, verdict, sent), *apart.get(verdict.student, ())])
        else verdict
        for verdict in verdicts
    ]


def _of_time(course: Course, verdict: Verdict, sent: Mapping[str, Sent]) -> Iterator[Finding]:
    folder = course.folder("submitted", verdict.student, verdict.assignment)
    when, why = course.read_timestamp(folder)
    if why:
        said = f"Its `timestamp.txt` {why}: no time is known, and nothing is taken off. {_WRITE_IT}"
        yield Finding("unreadable_time", said)
    elif when is None and sent.get(verdict.student, Sent()).late:
        said = f"The platform marks it as late and gives no time, so nothing is taken off. {_WRITE_IT}"
        yield Finding("late", said)


def _groups_apart(course: Course, assignment: str, sent: Mapping[str, Sent]) -> dict[str, list[Finding]]:
    """Return a finding for each member of a group from which there are different submissions."""
    found: dict[str, list[Finding]] = {}
    for group in sorted({each.group for each in sent.values()} - {""}):
        members = sorted(student for student, each in sent.items() if each.group == group)
        judged = {student: load_verdict(course, student, assignment) for student in members}
        files = {student: kept.file for student, kept in judged.items() if kept}
        if len(set(files.values())) > 1:
            names = listed([shown(student) for student in files], of="member")
            said = (
                f"In the group {shown(group)}, {names} have different submissions: each keeps their own. "
                "If one counts for all, copy its folder in submitted/ to the others and grade again."
            )
            found |= {student: [Finding("group_differs", said)] for student in members}
    return found
