"""Small files that must be there whole or not at all: verdicts and the course's seed."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.verdict import Verdict


@contextmanager
def staged(path: Path, text: str) -> Iterator[None]:
    """Write a file beside its place, and put it there when the block ends well.

    A reader sees the old file or the new one. If the block fails, neither the file nor a folder made
    for it stays.
    """
    made = [folder for folder in path.parents if not folder.exists()]
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        yield
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        for folder in made:
            with suppress(OSError):  # something else lies in it by now
                folder.rmdir()
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with staged(path, text):
        pass


def assignment_seed(course: Course, assignment: str) -> int:
    """The secret seed of an assignment's inputs: the same for all students, drawn once a course."""
    path = course.root / ".autograder" / "seed"
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{secrets.randbits(62)}\n")
        secret = int(path.read_text())
    except FileExistsError:
        return assignment_seed(course, assignment)
    except (OSError, ValueError) as error:
        raise UserError(f"The course's seed in {path} cannot be read or made: {error}.") from error
    return int.from_bytes(hashlib.blake2b(f"{secret}:{assignment}".encode(), digest_size=6).digest(), "big")


def fingerprint(raw: bytes | None, digest: str, seed: int) -> str:
    """What a verdict depends on: while it is the same, the verdict is, too. `digest` is the bundle's."""
    parts = (
        __version__,
        digest,
        str(seed),
        hashlib.sha256(raw).hexdigest() if raw is not None else "missing",
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@contextmanager
def staged_verdict(course: Course, verdict: Verdict, key: str) -> Iterator[None]:
    """Keep a verdict, with the fingerprint of what it was formed from, when the block ends well."""
    kept = {"fingerprint": key, "verdict": verdict.as_json()}
    with staged(course.verdict_path(verdict.student, verdict.assignment), json.dumps(kept, indent=1) + "\n"):
        yield


def save_verdict(course: Course, verdict: Verdict, key: str) -> None:
    """Keep a verdict of which the gradebook need not know."""
    with staged_verdict(course, verdict, key):
        pass


def load_verdict(course: Course, student: str, assignment: str) -> tuple[str, dict[str, Any]] | None:
    """A kept verdict's fingerprint and JSON, or `None` if there is none that can be read."""
    try:
        kept = json.loads(course.verdict_path(student, assignment).read_text(encoding="utf-8"))
        return kept["fingerprint"], kept["verdict"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
