"""Bringing uploads into `submitted/`: who sent what, and what becomes of it.

The download is only read (`incoming`). A submission is written beside its place and put there whole; what it
replaces is kept in `collected/` (`placing`). Of what cannot be matched nothing is written: it is listed, with
the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from itertools import takewhile
from pathlib import Path

import msgspec

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.collecting.incoming import choose_notebooks, own_path, read_incoming
from autograder.grading.collecting.layouts import Placed, Sender, place
from autograder.grading.collecting.placing import Collected, compared, put, stamp
from autograder.grading.collecting.roster import Person, Roster, is_student, read_roster
from autograder.grading.collecting.uploads import Upload, uploads
from autograder.grading.course.course import Course
from autograder.grading.handed_in.folder import OF_NBGRADER
from autograder.grading.records.handing_in import Sent, read_sent, write_sent
from autograder.grading.records.scores import Enrolled, enrolled
from autograder.grading.records.store import one_writer

_Senders = dict[str, list[tuple[Upload, Placed]]]
"""The uploads of each student, and what their paths say."""


@dataclass(frozen=True)
class Collection:
    """All that came of one download."""

    students: tuple[Collected, ...]
    unmatched: tuple[tuple[str, str], ...]
    """The paths of files that are nobody's, each with the reason."""
    enrolled: int
    """The number of students of the roster that the gradebook did not have."""
    not_there: tuple[str, ...]
    """Students who are known and of whom there is nothing in the download."""
    with_roster: bool = False
    """True if a roster was named."""
    left_out: tuple[str, ...] = ()
    """Sentences that name the rows and times of the roster that were left out."""


def collect(
    course: Course, assignment: str, source: Path, *, roster: Path | None, times: str, dry_run: bool
) -> Collection:
    """Bring the uploads for an assignment into `submitted/`, or with `dry_run` only say what would be done.

    What is in `submitted/` already, with that folder as the source, is only given to the others of a group.
    Raises `UserError` if the assignment, the download or the roster cannot be read.
    """
    bundle = course.bundle(assignment)
    known, sent = read_roster(course, roster), read_sent(course, assignment)

    def digest(student: str) -> str:
        return course.handed_in(student, bundle).digest()

    groups = {student: one.group for student, one in known.people.items() if one.group}
    groups = groups or {student: one.group for student, one in sent.items() if one.group}
    given = {student for student, one in sent.items() if one.same_as and one.file == digest(student)}
    lies_there = source.resolve() == course.folder("submitted", ".", ".").resolve()
    with uploads(source) as (found, outside):
        senders, unmatched = _there(found, assignment, given) if lies_there else _by_student(found, known)
        unmatched += [(name, "its path leads out of the archive") for name in outside]
        planned = [
            _planned(course, bundle, known.people.get(student), student, files, times)
            for student, files in sorted(senders.items())
        ]
        if lies_there:
            planned = [_as_it_lies(course, bundle, each) for each in planned]
        planned = _for_groups(course, bundle, planned, groups, given)
        if not dry_run:
            with one_writer(course):
                for each in planned:
                    if each.done in ("new", "replaced"):
                        put(course, bundle, each)
                    elif each.done == "unchanged" and not lies_there:
                        stamp(course.folder("submitted", each.student, assignment), each.handed_in)
                for each in planned:
                    if each.done in ("new", "replaced", "unchanged") and (each.same_as or not lies_there):
                        file = digest(each.student) if each.same_as else ""
                        sent[each.student] = Sent("", each.same_as, file, each.late)
                for student, group in groups.items():
                    sent[student] = msgspec.structs.replace(sent.get(student, Sent()), group=group)
                write_sent(course, assignment, sent)
            _enroll(course, known.people.values() if roster else ())
    new = sum(person.new for person in known.people.values())
    absent = tuple(sorted(known.people.keys() - {each.student for each in planned}))
    return Collection(tuple(planned), tuple(unmatched), new, absent, roster is not None, known.left_out)


def _there(
    found: Sequence[Upload], assignment: str, given: Set[str]
) -> tuple[_Senders, list[tuple[str, str]]]:
    """Return what students themselves handed in for an assignment, of what lies in `submitted/`."""
    senders: _Senders = {}
    for upload in found:
        student, _, path = upload.path.partition("/")
        if student not in given and path.startswith(f"{assignment}/"):
            placed = Placed(Sender("", student), path.removeprefix(f"{assignment}/"))
            senders.setdefault(student, []).append((upload, placed))
    return senders, []


def _as_it_lies(course: Course, bundle: Bundle, line: Collected) -> Collected:
    """Return the line of a submission that is in its place already: nothing is done with it."""
    stamped = course.submitted_at(line.student, bundle.assignment)
    at = stamped.replace(tzinfo=UTC) if stamped else None
    return replace(line, done="unchanged", handed_in=at, dated=at or line.dated, kept="", notes=())


def _for_groups(
    course: Course,
    bundle: Bundle,
    planned: Sequence[Collected],
    groups: Mapping[str, str],
    given: Set[str],
) -> list[Collected]:
    """Return the lines, with those of members of whom nothing came in: the one submission of their group.

    Where members sent different ones nobody knows which is the group's, so it is given to nobody. What a
    member handed in themselves stays.
    """
    lines = {each.student: each for each in planned}
    for group in sorted(set(groups.values())):
        members = sorted(student for student in groups if groups[student] == group)
        came = [lines[student] for student in members if student in lines and lines[student].notebook]
        if any(each.files != came[0].files for each in came):
            note = f"members of {group} sent different submissions: each keeps their own"
            lines |= {each.student: replace(each, notes=(*each.notes, note)) for each in came}
        elif came and came[0].done != "older":
            lines |= {each.student: replace(each, same_as=came[0].student) for each in came[1:]}
            note = f"the submission of {came[0].student}, for {group}"
            same = replace(came[0], done="new", same_as=came[0].student, kept="", notes=(note,))
            for student in members:
                own = course.folder("submitted", student, bundle.assignment).exists() and student not in given
                if student not in lines and not own:
                    lines[student] = compared(course, bundle, replace(same, student=student))
    return [lines[student] for student in sorted(lines)]


def _by_student(found: Sequence[Upload], known: Roster) -> tuple[_Senders, list[tuple[str, str]]]:
    senders: _Senders = {}
    unmatched: list[tuple[str, str]] = []
    answers: dict[Sender, list[Person] | str] = {}
    for upload, placed in _placed(found, known):
        parts = placed.path.split("/")
        if "__MACOSX" in upload.path.split("/") or any(part.startswith(".") for part in parts):
            continue
        sender = placed.sender
        if sender not in answers:
            answers[sender] = known.find(sender)
        who = answers[sender]
        if isinstance(who, str) and not known.people and not sender.platform:
            # Nobody is known, so a folder's name is all there is to go by.
            name = sender.name.split("_")[0] if sender.is_file else sender.name
            who = [Person(Enrolled(name))] if is_student(name) else "that is no name for a student's folder"
        if isinstance(who, str):
            unmatched.append((upload.path, who))
        else:
            for person in who:
                senders.setdefault(person.student, []).append((upload, placed))
    return senders, unmatched


def _placed(found: Sequence[Upload], known: Roster) -> list[tuple[Upload, Placed]]:
    """Return the place of each upload, below folders that hold them all, if those are no student's."""
    # Where nobody is known, the innermost folder is a student's.
    folders = [upload.path.split("/")[: -1 if known.people else -2] for upload in found]
    shared = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
    senders = (place(f"{name}/x").sender for name, *_ in shared)
    none_of_them = takewhile(lambda one: not one.platform and isinstance(known.find(one), str), senders)
    cut = len(list(none_of_them))
    return [(upload, place("/".join(upload.path.split("/")[cut:]))) for upload in found]


def _planned(
    course: Course,
    bundle: Bundle,
    person: Person | None,
    student: str,
    sent: Sequence[tuple[Upload, Placed]],
    times: str,
) -> Collected:
    incoming, notes = read_incoming(sent)
    notebooks, rest, more = choose_notebooks(incoming, bundle)
    notes += more
    files = {f"{name}.ipynb": each.raw for name, each in notebooks.items()}
    for each in rest:
        path = own_path(each.placed.path, bundle.assignment)
        if path and path not in files and path not in OF_NBGRADER:
            files[path] = each.raw
    platform = sent[0][1].sender.platform
    dates = [each.dated for each in (notebooks.values() or incoming) if each.dated]
    dated = max(dates, default=None)
    # Platforms date the files of a zip with the time of the download.
    of_files = dated if times == "files" or (times == "known" and not platform) else None
    told = person.handed_in if person and times != "none" else None
    late = any(placed.sender.late for _, placed in sent)
    if late and not told:
        notes.append("marked as late; the time it was handed in is unknown")
    name, when = ", ".join(each.path for each in notebooks.values()), told or of_files
    line = Collected(student, "new", name, when, late, tuple(notes), files, told or dated)
    return compared(course, bundle, line) if files else replace(line, done="refused")


def _enroll(course: Course, people: Iterable[Person]) -> None:
    """Fill in what the gradebook does not know of the roster's students; what it knows stays."""
    with course.gradebook() as gradebook:
        known = enrolled(gradebook)
        for person in people:
            if person.who != known.get(person.student):
                about = {name: value or None for name, value in asdict(person.who).items()}
                del about["student"]
                gradebook.update_or_create_student(person.student, **about)
