"""Small files that must be there whole or not at all: verdicts and the course's seed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock, Timeout

from autograder import __version__
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.course.gradebook import LOCK_SECONDS
from autograder.grading.files.access import UMASK, Access
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.records.kept import Kept, read_kept
from autograder.verdict import Verdict

TIMESTAMP = "timestamp.txt"
"""The file with the time of handing in that nbgrader writes beside a notebook."""
SECRET = "submission_secret.txt"
"""The file with the secret from which nbgrader makes a feedback page's name in the exchange."""
BESIDE = (TIMESTAMP, SECRET)
"""The files that go with a notebook from `submitted/` to `autograded/`."""


@dataclass(frozen=True)
class Key:
    """All that a verdict depends on: while the key is the same, the verdict is, too."""

    conditions: str
    """The versions, the released notebook, its checks and the seed."""
    file: str
    """The submitted files."""

    @classmethod
    def of(cls, submitted: HandedIn | bytes | None, digest: str, seed: int) -> Key:
        """Return the key of a submission, `None` if without any file; `digest` is the bundle's."""
        conditions = hashlib.sha256("\n".join((*_versions(), digest, str(seed))).encode()).hexdigest()
        return cls(conditions, HandedIn.of(submitted).digest())


@cache
def _versions() -> tuple[str, ...]:
    """The versions that a verdict depends on: cached, since a package's is parsed out of a file."""
    return (__version__, version("torch"), *platform.python_version_tuple()[:2])


@contextmanager
def staged(path: Path, text: str, access: Access = UMASK) -> Iterator[None]:
    """Write a file beside its place, and put it there when the block ends well.

    A reader sees the old file or the new one. If the block fails, neither the file nor a folder made
    for it stays. Raises `UserError`, before anything is written, where a folder has the file's name.
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; a file is to be written there. Move it away, then try again.")
    made = [folder for folder in path.parents if not folder.exists()]
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        access.make_folder(path.parent)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 & (access.file or 0o666))
        access.give(beside)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        yield
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        for folder in made:
            with suppress(OSError):  # something else lies in it by now
                folder.rmdir()
        raise


def write_whole(path: Path, text: str, access: Access = UMASK) -> None:
    """Write a file whole or not at all."""
    with staged(path, text, access):
        pass


@contextmanager
def one_writer(course: Course) -> Iterator[None]:
    """Keep other graders from writing to the course's files while the block runs; a killed one lets go.

    A submission's files and scores are several writes. Two graders' writes must not mix, whichever
    database the gradebook is in. Raises `UserError` after `LOCK_SECONDS` of waiting.
    """
    path = course.root / ".autograder" / "lock"
    course.access.make_folder(path.parent)
    _make_lock_file(path, course.access)
    # `fallback_to_soft` would lock by a file's being there, and a killed grader would leave that file behind.
    lock = FileLock(path, timeout=LOCK_SECONDS, poll_interval=0.01, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise UserError(
            f"Another grader has held {path} for {LOCK_SECONDS} seconds; nothing more was written. "
            "Try again when it is done."
        ) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        # A file system without locks: the gradebook's own lock is all there is.
    try:
        yield
    finally:
        lock.release()


def _make_lock_file(path: Path, access: Access) -> None:
    """Make the lock file if it is missing: filelock would give it a mode, but not the course's group."""
    if not path.exists():
        with suppress(FileExistsError):  # another grader was faster
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            access.give(path)


def clear_leftovers(course: Course, bundle: Bundle) -> None:
    """Remove what a killed grader had written beside its place: nbgrader would hand it to students."""
    with one_writer(course):  # so that none of it is being written now
        hidden = course.root / ".autograder"
        ours = [(course.verdict_path("x", bundle.assignment).parent, "*.json")]
        ours += [(hidden, "seed"), (hidden / "known", "*.json"), (hidden / "collected", "*.json")]
        for student in course.students(bundle.assignment):
            graded = course.folder("autograded", student, bundle.assignment)
            names = (f"{part.notebook}.ipynb" for part in bundle.parts)
            ours += [(graded, name) for name in (*names, *BESIDE)]
            ours.append((course.folder("feedback", student, bundle.assignment), SECRET))
        for folder, name in ours:
            for path in folder.glob(f".{name}.*.tmp"):
                path.unlink(missing_ok=True)


def has_seed(course: Course) -> bool:
    """Return whether the course's seed has been drawn."""
    return (course.root / ".autograder" / "seed").exists()


def assignment_seed(course: Course, assignment: str) -> int:
    """The secret seed of an assignment's inputs: the same for all students, drawn once a course."""
    path = course.root / ".autograder" / "seed"
    try:
        if not path.exists():
            with one_writer(course):
                if not path.exists():
                    write_whole(path, f"{secrets.randbits(62)}\n", course.access)
        secret = int(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"The course's seed in {path} cannot be read or made: {error}.") from error
    return int.from_bytes(hashlib.blake2b(f"{secret}:{assignment}".encode(), digest_size=6).digest(), "big")


@contextmanager
def staged_verdict(course: Course, verdict: Verdict, key: Key, content: str) -> Iterator[None]:
    """Keep a verdict, with what it was formed from, when the block ends well."""
    kept = {**asdict(key), "content": content, "verdict": verdict.as_json()}
    path = course.verdict_path(verdict.student, verdict.assignment)
    with staged(path, json.dumps(kept) + "\n", course.access):
        yield


def withdraw_verdict(course: Course, student: str, assignment: str) -> None:
    """Remove a kept verdict: until another is in place, the submission counts as not graded."""
    course.verdict_path(student, assignment).unlink(missing_ok=True)


def not_in_gradebook(course: Course, assignment: str) -> UserError:
    """Return the error that the gradebook does not know an assignment: it was never built, or is lost."""
    graded = sum(1 for _ in course.verdict_path("x", assignment).parent.glob("*.json"))
    build = f"run `autograder build {assignment}`"
    if not graded:
        return UserError(f"The gradebook does not know the assignment {assignment}: {build} first.")
    return UserError(
        f"{graded} submissions of {assignment} were graded, and the gradebook knows none of them: points and "
        f"comments that people gave are lost. Put a copy of the gradebook back, or {build} and then "
        f"`autograder grade {assignment}`, which bring back what was judged."
    )


def load_verdict(course: Course, student: str, assignment: str) -> Kept | None:
    """A verdict on record, or `None` if there is none that can be read."""
    try:
        return read_kept(course.verdict_path(student, assignment).read_bytes())
    except (OSError, ValueError):
        return None
