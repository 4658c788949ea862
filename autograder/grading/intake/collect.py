"""Brings uploads into `submitted/`: who sent what, which file is the notebook, what is replaced by it.

The download is only read. A submission is written beside its place and put there whole; what it replaces
is kept in `collected/`. Of what cannot be matched nothing is written: it is listed, with the reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from autograder.grading.bundle import Bundle
from autograder.grading.course import Course
from autograder.grading.intake.archive import Archive, BadArchive, is_archive
from autograder.grading.intake.candidates import assignment_of, is_notebook, is_this
from autograder.grading.intake.folder import MAX_FILES, MAX_TOTAL, OF_NBGRADER
from autograder.grading.intake.layouts import Placed, Sender, place
from autograder.grading.intake.names import listed, shown
from autograder.grading.intake.roster import Person, Roster, is_student, read_roster
from autograder.grading.intake.uploads import Upload, uploads
from autograder.grading.marks import Enrolled
from autograder.grading.rebuild import MAX_BYTES
from autograder.grading.store import one_writer

TIMES = ("known", "files", "none")
"""The choices for the time of handing in: the known one only, the files' own in any case, or none."""


@dataclass(frozen=True)
class Incoming:
    """One file from one student, read."""

    path: str
    raw: bytes
    placed: Placed
    dated: datetime | None


@dataclass(frozen=True)
class Collected:
    """One student's line: what came in, and what is done with it."""

    student: str
    done: str
    """`new`, `replaced`, `unchanged`, `older` (what is there is newer, and stays) or `refused`."""
    notebook: str
    """The upload that is the notebook; `""` if none certainly is."""
    handed_in: datetime | None
    """The time in UTC; `None` where it is not known."""
    late: bool
    """True if the platform marked it as late."""
    notes: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The files of the submission's folder, by path."""
    dated: datetime | None = None
    """The latest that it can have been handed in."""


@dataclass(frozen=True)
class Unmatched:
    """A file of the download that is nobody's."""

    path: str
    why: str


@dataclass(frozen=True)
class Collection:
    """All that came of one download."""

    students: tuple[Collected, ...]
    unmatched: tuple[Unmatched, ...]
    enrolled: int
    """The number of students of the roster that the gradebook did not have."""
    not_there: tuple[str, ...]
    """Students who are known and of whom there is nothing in the download."""


def collect(
    course: Course, assignment: str, source: Path, *, roster: Path | None, times: str, dry_run: bool
) -> Collection:
    """Bring the uploads for an assignment into `submitted/`, or with `dry_run` only say what would be done.

    Raises `UserError` if the assignment, the download or the roster cannot be read.
    """
    bundle = course.bundle(assignment)
    known = read_roster(course, roster)
    with uploads(source) as (found, outside):
        senders, unmatched = _by_student(found, known)
        unmatched += [Unmatched(name, "its path leads out of the archive") for name in outside]
        planned = [
            _planned(course, bundle, known.people.get(student), student, sent, times)
            for student, sent in sorted(senders.items())
        ]
        new = [person.who for person in known.people.values() if person.new] if roster else []
        if not dry_run:
            with one_writer(course):
                for each in planned:
                    if each.done in ("new", "replaced"):
                        _put(course, bundle, each)
                    elif each.done == "unchanged":
                        _stamp(course.folder("submitted", each.student, assignment), each.handed_in)
            _enroll(course, known.people.values() if roster else ())
    absent = tuple(sorted(known.people.keys() - senders.keys()))
    return Collection(tuple(planned), tuple(unmatched), len(new), absent)


def _by_student(
    found: Sequence[Upload], known: Roster
) -> tuple[dict[str, list[tuple[Upload, Placed]]], list[Unmatched]]:
    senders: dict[str, list[tuple[Upload, Placed]]] = {}
    unmatched: list[Unmatched] = []
    answers: dict[Sender, Person | str] = {}
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
            who = Person(Enrolled(name)) if is_student(name) else "that is no name for a student's folder"
        if isinstance(who, str):
            unmatched.append(Unmatched(upload.path, who))
        else:
            senders.setdefault(who.student, []).append((upload, placed))
    return senders, unmatched


def _placed(found: Sequence[Upload], known: Roster) -> list[tuple[Upload, Placed]]:
    """Return the place of each upload, below a folder that holds them all, if that is no student's."""
    cut = 0
    while True:
        tops = {tuple(upload.path.split("/")[cut : cut + 1]) for upload in found}
        # Where students are known, a folder that is none's may be left out even if files lie right in it.
        least = cut + (1 if known.people else 2)
        deep = all(len(upload.path.split("/")) > least for upload in found)
        top = next(iter(tops))[0] if len(tops) == 1 and deep else ""
        sender = place(f"{top}/x").sender
        if not top or sender.platform or isinstance(known.find(sender), Person):
            break
        cut += 1
    return [(upload, place("/".join(upload.path.split("/")[cut:]))) for upload in found]


def _planned(
    course: Course,
    bundle: Bundle,
    person: Person | None,
    student: str,
    sent: Sequence[tuple[Upload, Placed]],
    times: str,
) -> Collected:
    incoming, notes = _read(sent)
    notebook, rest, more = _notebook(incoming, bundle)
    notes += more
    files = {f"{bundle.notebook}.ipynb": notebook.raw} if notebook else {}
    for each in rest:
        path = _own_path(each.placed.path, bundle.assignment)
        if path and path not in files and path not in OF_NBGRADER:
            files[path] = each.raw
    platform = sent[0][1].sender.platform
    dates = [each.dated for each in ([notebook] if notebook else incoming) if each.dated]
    dated = max(dates, default=None)
    # Platforms date the files of a zip with the time of the download.
    of_files = dated if times == "files" or (times == "known" and not platform) else None
    told = person.handed_in if person and times != "none" else None
    late = any(placed.sender.late for _, placed in sent)
    if late and not told:
        notes.append("marked as late; when it was handed in is not known")
    line = Collected(
        student,
        "new",
        notebook.path if notebook else "",
        told or of_files,
        late,
        tuple(notes),
        files,
        told or dated,
    )
    if not files:
        return replace(line, done="refused")
    return _compared(course, bundle, line)


def _read(sent: Sequence[tuple[Upload, Placed]]) -> tuple[list[Incoming], list[str]]:
    """A student's files, those in zip archives among them, within the limits of one submission."""
    found: list[Incoming] = []
    notes: list[str] = []
    left = MAX_TOTAL + MAX_BYTES
    for upload, placed in sorted(sent, key=lambda each: each[0].path):
        try:
            raw = upload.read(left)
            if len(found) >= MAX_FILES:
                raise BadArchive("is one file too many")
            if not is_archive(raw):
                found.append(Incoming(upload.path, raw, placed, upload.dated))
                left -= len(raw)
                continue
            with Archive(raw) as archive:
                if archive.outside:
                    notes.append(f"{shown(upload.path)} holds files that would lie outside of it")
                for entry in archive.entries():
                    parts = entry.path.split("/")
                    if parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts):
                        continue
                    if len(found) >= MAX_FILES:
                        raise BadArchive("holds too many files")
                    inner = archive.read(entry, left)
                    left -= len(inner)
                    where = Placed(placed.sender, entry.path, placed.attempt)
                    found.append(Incoming(f"{upload.path}/{entry.path}", inner, where, upload.dated))
        except BadArchive as error:
            notes.append(f"{shown(upload.path)} {error}")
    return found, notes


def _notebook(
    incoming: Sequence[Incoming], bundle: Bundle
) -> tuple[Incoming | None, list[Incoming], list[str]]:
    """The notebook, the newest if there are several; the files that go with it; what is to be said."""
    expected = f"{bundle.notebook}.ipynb"
    certain = [each for each in incoming if is_this(each.raw, bundle)]
    rest = [each for each in incoming if each not in certain]
    if not certain:
        named = [each for each in incoming if each.placed.path.rpartition("/")[2] == expected]
        loose = named or [
            each for each in incoming if is_notebook(each.raw) and not assignment_of(each.raw, bundle)
        ]
        if len(loose) == 1:
            return loose[0], [each for each in rest if each is not loose[0]], []
        return None, rest, ["none of the files certainly is this notebook"]
    order = sorted(
        certain, key=lambda each: (each.placed.attempt, _age(each, certain), each.placed.copy, each.path)
    )
    newest = order[-1]
    different = {each.raw for each in certain}
    notes = []
    if len(different) > 1:
        others = [shown(each.path) for each in order[:-1] if each.raw != newest.raw]
        notes.append(f"the newest of {len(different)} versions was taken; not taken: {listed(others)}")
    return newest, _beside(newest, rest), notes


def _age(one: Incoming, certain: Sequence[Incoming]) -> float:
    """A file's date, where the dates tell the versions apart."""
    dates = [each.dated.timestamp() if each.dated else 0.0 for each in certain]
    told_apart = max(dates) - min(dates) > 60
    return one.dated.timestamp() if told_apart and one.dated else 0.0


def _beside(notebook: Incoming, rest: Sequence[Incoming]) -> list[Incoming]:
    """The other files, by their paths as the notebook sees them."""
    folder = notebook.placed.path.rpartition("/")[0]
    found = []
    for each in rest:
        path = each.placed.path
        if folder and path.startswith(f"{folder}/"):
            path = path[len(folder) + 1 :]
        found.append(replace(each, placed=replace(each.placed, path=path)))
    return found


def _own_path(path: str, assignment: str) -> str:
    """A path for a student's file in the submission's folder; `""` for one that is not to be there."""
    parts = PurePosixPath(path).parts
    if parts[:1] == (assignment,):
        parts = parts[1:]
    kept = ["".join(c if c.isprintable() else "_" for c in part)[:100].strip() for part in parts]
    if not kept or len(kept) > 4 or any(part.startswith(".") or not part for part in kept):
        return ""
    return "/".join(kept)


def _compared(course: Course, bundle: Bundle, line: Collected) -> Collected:
    """The line with what is done, seen from what is there already."""
    folder = course.folder("submitted", line.student, bundle.assignment)
    if not os.path.lexists(folder):
        return line
    if folder.is_symlink() or not folder.is_dir():
        return replace(line, done="refused", notes=(*line.notes, f"{folder} is no folder"))
    there = _contents(folder)
    if there == line.files:
        return replace(line, done="unchanged")
    if not there:
        return replace(line, done="replaced")
    stamp = course.submitted_at(line.student, bundle.assignment)
    known = stamp.replace(tzinfo=UTC) if stamp else _written(folder)
    if line.dated is not None and line.dated <= known:
        note = f"what is there is newer ({known:%Y-%m-%d %H:%M} UTC), so it stays"
        return replace(line, done="older", notes=(*line.notes, note))
    return replace(line, done="replaced")


def _contents(folder: Path) -> dict[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not path.is_symlink() and name not in OF_NBGRADER:
            found[name] = path.read_bytes() if path.stat().st_size <= MAX_BYTES + MAX_TOTAL else b""
    return found


def _written(folder: Path) -> datetime:
    times = [path.lstat().st_mtime for path in folder.rglob("*") if path.is_file()]
    return datetime.fromtimestamp(max(times, default=0.0), UTC)


def _put(course: Course, bundle: Bundle, line: Collected) -> None:
    """Write a submission beside its place, keep what it replaces, and put it there."""
    folder = course.folder("submitted", line.student, bundle.assignment)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        for name, raw in line.files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
            if line.dated:
                os.utime(path, (line.dated.timestamp(),) * 2)
        _stamp(beside, line.handed_in)
        if folder.exists():
            kept = _kept_place(course, bundle, line.student)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder, kept)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _kept_place(course: Course, bundle: Bundle, student: str) -> Path:
    """A folder that is not there yet, for what is replaced."""
    above = course.root / "collected" / bundle.assignment / student
    number = 1
    while os.path.lexists(above / f"replaced-{number}"):
        number += 1
    return above / f"replaced-{number}"


def _stamp(folder: Path, when: datetime | None) -> None:
    """Write nbgrader's `timestamp.txt`, unless it says the same."""
    path, text = folder / "timestamp.txt", f"{when:%Y-%m-%d %H:%M:%S} UTC" if when else ""
    if text and not (path.is_file() and path.read_text(errors="replace").strip() == text):
        path.write_text(f"{text}\n")


def _enroll(course: Course, people: Iterable[Person]) -> None:
    """Fill in what the gradebook does not know of the roster's students; what it knows stays."""
    with course.gradebook() as gradebook:
        known = {each.id: each for each in gradebook.students}
        for person in people:
            who, old = person.who, known.get(person.student)
            fields = ("first_name", "last_name", "email", "lms_user_id")
            if old is not None and all((getattr(old, name) or "") == getattr(who, name) for name in fields):
                continue
            gradebook.update_or_create_student(
                who.student,
                first_name=who.first_name or None,
                last_name=who.last_name or None,
                email=who.email or None,
                lms_user_id=who.lms_user_id or None,
            )
