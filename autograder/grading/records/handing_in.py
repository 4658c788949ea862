"""How submissions came in: for which group and from whom, marked as late, with a time that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from autograder.grading.course.course import Course
from autograder.grading.handed_in.names import listed, shown
from autograder.grading.records.store import load_verdict, write_whole
from autograder.verdict import Finding

_WRITE_IT = "Write the time into `timestamp.txt` as `2026-03-01 10:45:00 UTC` and grade again."


class Sent(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `autograder collect` knows of one student's submission."""

    group: str = ""
    """The group that one submission counts for; `""` for a student on their own."""
    same_as: str = ""
    """The member of the group whose submission it is; `""` where it is the student's own."""
    content: str = ""
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
        if kept is not None and kept.file != each.content:
            sent[student] = msgspec.structs.replace(each, same_as="")
    return sent


def write_sent(course: Course, assignment: str, sent: Mapping[str, Sent]) -> None:
    """Write down what is known of an assignment's submissions."""
    text = msgspec.json.format(msgspec.json.encode(sent), indent=1).decode()
    if sent or _path(course, assignment).exists():
        write_whole(_path(course, assignment), f"{text}\n", course.access)


def _path(course: Course, assignment: str) -> Path:
    return course.root / ".autograder" / "collected" / f"{assignment}.json"


def findings(
    course: Course, assignment: str, sent: Mapping[str, Sent], contents: Mapping[str, str]
) -> dict[str, list[Finding]]:
    """Return what a person should know of how submissions came in, by student.

    `contents` has a digest of each submission's files.
    """
    found: dict[str, list[Finding]] = {student: [] for student in {*contents, *sent}}
    for student in contents:
        when, why = course.read_timestamp(course.folder("submitted", student, assignment))
        if why:
            said = f"Its `timestamp.txt` {why}: no time is known, and nothing is taken off. {_WRITE_IT}"
            found[student].append(Finding("unreadable_time", said))
        elif when is None and student in sent and sent[student].late:
            said = f"The platform marks it as late and gives no time, so nothing is taken off. {_WRITE_IT}"
            found[student].append(Finding("late", said))
    for group in sorted({each.group for each in sent.values()} - {""}):
        members = sorted(student for student, each in sent.items() if each.group == group)
        handed_in = [student for student in members if student in contents]
        if len({contents[student] for student in handed_in}) > 1:
            names = listed([shown(student) for student in handed_in], of="member")
            said = (
                f"In the group {shown(group)}, {names} have different submissions: each keeps their own. "
                "If one counts for all, copy its folder in submitted/ to the others and grade again."
            )
            for student in members:
                found[student].append(Finding("group_differs", said))
    return found
