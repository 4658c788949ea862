"""A submission's folder, read once and within limits: the notebook's file, and the files beside it.

Everything in the folder, names included, was chosen by a stranger. Only plain files are opened, no link is
followed, and a folder of any size costs no more than the limits below.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.grading.assignment.rebuild import MAX_BYTES
from autograder.grading.handed_in.archive import is_archive

MAX_ENTRIES = 100_000
"""Entries of the folder, and of those below it, that are looked at."""
MAX_FILES = 100
"""Files that are read."""
MAX_DEPTH = 4
MAX_TOTAL = 64 << 20
"""Bytes of all files beside the notebook that are read."""
OF_NBGRADER = ("timestamp.txt", "submission_secret.txt")
"""Files that nbgrader itself puts there."""
_PASSED_OVER = ("__MACOSX", "__pycache__")
_ARCHIVE = "an archive"
"""A file with the notebook's name that is looked into like any other archive."""


@dataclass(frozen=True)
class File:
    """One plain file, by its path below the submission's folder."""

    path: str
    raw: bytes

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class HandedIn:
    """One student's submission as it lies there, as plain data."""

    notebook: bytes | None
    """The bytes of the file with the notebook's name; `None` if there is no such plain file."""
    instead: str = ""
    """The thing that has the notebook's name but is no plain file: "a folder", "a link"."""
    beside: tuple[File, ...] = ()
    """The other plain files, by path."""
    left_out: int = 0
    """The number of other files that were not read: too many, too large, or not readable."""
    refused: str = ""
    """The reason why a notebook that is there could not be read: the machine's fault, not the student's."""
    others: tuple[HandedIn, ...] = ()
    """The same for the assignment's other notebooks, each with the files that are none of the notebooks."""

    @classmethod
    def of(cls, submitted: HandedIn | bytes | None) -> HandedIn:
        """A notebook's bytes alone, or none at all, as a submission."""
        return submitted if isinstance(submitted, HandedIn) else cls(submitted)

    @property
    def parts(self) -> tuple[HandedIn, ...]:
        """Return what was handed in for each of the assignment's notebooks."""
        return (replace(self, others=()), *self.others) if self.others else (self,)

    def digest(self) -> str:
        """A digest of all that was read: while it is the same, the submission is, too."""
        if self.others:
            return hashlib.sha256("\n".join(part.digest() for part in self.parts).encode()).hexdigest()
        own = hashlib.sha256(self.notebook).hexdigest() if self.notebook is not None else "missing"
        if not (self.instead or self.beside or self.left_out):
            return own
        files = [(file.path, hashlib.sha256(file.raw).hexdigest()) for file in self.beside]
        parts = repr((own, self.instead, files, self.left_out))
        return hashlib.sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()


def read_folder(folder: Path, *notebooks: str) -> HandedIn:
    """Read a student's folder, in which files of these names are expected."""
    found = [_read_notebook(folder, name) for name in notebooks]
    if refused := next((each for each in found if each.refused), None):
        return refused
    names = [name for name, each in zip(notebooks, found, strict=True) if each.instead != _ARCHIVE]
    beside, left_out = _read_beside(folder, names)
    first, *others = [replace(each, beside=beside, left_out=left_out) for each in found]
    return replace(first, others=tuple(others))


def _read_notebook(folder: Path, notebook: str) -> HandedIn:
    instead, refused, raw = "", "", None
    path = folder / notebook
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            raw = _read_plain(path, MAX_BYTES + 1)  # enough to see that it is too large
            if raw is None:
                instead = "no plain file"
            elif is_archive(raw):
                raw, instead = None, _ARCHIVE
        else:
            instead = _kind(mode)  # a link or a pipe could name anything, or never end
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        refused = error.strerror or type(error).__name__
    return HandedIn(None if refused else raw, instead, refused=refused)


def _read_beside(folder: Path, notebooks: Sequence[str]) -> tuple[tuple[File, ...], int]:
    found: list[File] = []
    bytes_left, left_out = MAX_TOTAL, 0
    for path, size in sorted(_plain_files(folder)):
        if path in (*notebooks, *OF_NBGRADER):
            continue
        raw = None
        if len(found) < MAX_FILES and 0 <= size <= bytes_left:
            try:
                raw = _read_plain(folder / path, bytes_left + 1)
            except OSError:
                raw = None
        if raw is None or len(raw) > bytes_left:
            left_out += 1
            continue
        bytes_left -= len(raw)
        found.append(File(path, raw))
    return tuple(found), left_out


def _plain_files(folder: Path) -> Iterator[tuple[str, int]]:
    """The paths and sizes of files in a folder and below it, hidden ones and caches left out.

    What is no plain file, a link or a pipe, has the size -1.
    """
    entries_left = MAX_ENTRIES
    waiting = [("", 1)]
    while waiting:
        below, depth = waiting.pop(0)
        try:
            scanned = os.scandir(folder / below)
        except OSError:
            continue
        with scanned:
            for entry in scanned:
                entries_left -= 1
                if entries_left < 0:
                    return
                if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                    continue
                path = f"{below}/{entry.name}" if below else entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if depth < MAX_DEPTH:
                            waiting.append((path, depth + 1))
                    elif entry.is_file(follow_symlinks=False):
                        yield path, entry.stat(follow_symlinks=False).st_size
                    else:
                        yield path, -1
                except OSError:
                    continue


def _read_plain(path: Path, most: int) -> bytes | None:
    """The first bytes of a plain file; `None` if it is something else by now."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(most)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"))
    return next((words for is_kind, words in kinds if is_kind(mode)), "a device or a socket")
