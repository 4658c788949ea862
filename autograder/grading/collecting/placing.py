"""One student's submission and what is there already: which of the two stays, and putting it in place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import MAX_BYTES
from autograder.grading.course.course import Course
from autograder.grading.handed_in.folder import MAX_TOTAL, OF_NBGRADER


@dataclass(frozen=True)
class Collected:
    """One student's line: what came in, and what is done with it."""

    student: str
    done: str
    """`new`, `replaced`, `unchanged`, `older` (what is there is newer, as far as is known, and stays) or
    `refused`."""
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
    same_as: str = ""
    """The member of their group whose submission it is, where that is somebody else."""
    kept: str = ""
    """The folder in the course that what it replaces is kept in; `""` where it replaces nothing."""


def compared(course: Course, bundle: Bundle, line: Collected) -> Collected:
    """The line with what is done, seen from what is there already."""
    folder = course.folder("submitted", line.student, bundle.assignment)
    if not os.path.lexists(folder):
        return line
    if folder.is_symlink() or not folder.is_dir():
        return replace(line, done="refused", notes=(*line.notes, f"{folder} is no folder"))
    plain = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    there = {path.relative_to(folder).as_posix(): _read(path) for path in plain}
    for name in OF_NBGRADER:
        there.pop(name, None)
    if there == line.files:
        return replace(line, done="unchanged")
    if not there:
        return replace(line, done="replaced")
    stamped = course.submitted_at(line.student, bundle.assignment)
    then = stamped.replace(tzinfo=UTC) if stamped else None
    dated = datetime.fromtimestamp(max(path.stat().st_mtime for path in plain), UTC)
    if line.dated is not None and line.dated <= (then or dated):
        note = (
            f"older than what is there, which was handed in {_date(then)}"
            if then
            else f"what is there stays: its files are dated {_date(dated)}, these {_date(line.dated)}; "
            "the time they were handed in is unknown"
        )
        return replace(line, done="older", notes=(*line.notes, note))
    kept = str(_kept_place(course, bundle, line.student).relative_to(course.root))
    was = f"was handed in {_date(then)}" if then else f"lay there, dated {_date(dated)}"
    unsure = "" if then and line.handed_in else " (it is unknown which of the two is newer)"
    note = f"in place of what {was}{unsure}, which is kept in {kept}"
    return replace(line, done="replaced", kept=kept, notes=(*line.notes, note))


def _read(path: Path) -> bytes | None:
    """A file's bytes; `None` for one that is larger than all that is taken of a student."""
    return path.read_bytes() if path.stat().st_size <= MAX_BYTES + MAX_TOTAL else None


def _date(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"


def put(course: Course, bundle: Bundle, line: Collected) -> None:
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
        stamp(beside, line.handed_in)
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


def stamp(folder: Path, when: datetime | None) -> None:
    """Write nbgrader's `timestamp.txt`, unless it says the same."""
    path, text = folder / "timestamp.txt", f"{when:%Y-%m-%d %H:%M:%S} UTC" if when else ""
    if text and not (path.is_file() and path.read_text(errors="replace").strip() == text):
        path.write_text(f"{text}\n")
