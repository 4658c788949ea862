"""The file beside handed-out checks: points of the checks kept for grading, and results of references.

`autograder build` writes it into a release, and the students' wheel has it for the packaged exercises.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from autograder.checking.inputs.references import Record
from autograder.checking.runner.check import Check, ChecksBroken
from autograder.checking.runner.handed_out_file import FILE
from autograder.checking.runner.marks import Rule

KEPT_BACK = "kept_back"
"""The beginning of the name of a check of which only the points are known."""
_VERSION = 2


class KeptBack(Struct, frozen=True):
    """A check that grading adds, as far as students are told of it."""

    points: float
    rule: Rule
    instead: str


class HandedOut(Struct):
    """The file's content: what a folder of checks, as students get it, knows of the parts it lacks."""

    kept_back: dict[str, list[KeptBack]]
    """The checks that grading adds, by task."""
    recorded: Record
    """The results of the references on the public inputs."""
    version: int = _VERSION

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return the checks that grading adds, without their names."""
        return tuple(
            Check(
                task=task,
                name=f"{KEPT_BACK}_{number}",
                rule=each.rule,
                title=each.instead,
                points=each.points,
                needs=(),
                instead=each.instead,
            )
            for task, every in self.kept_back.items()
            for number, each in enumerate(every, 1)
        )


def text_of(checks: Iterable[Check], recorded: Record) -> str:
    """Return the text of the file for some checks, those included that are handed out."""
    kept_back: dict[str, list[KeptBack]] = {}
    for check in checks:
        if check.instead is not None:
            each = KeptBack(check.points, check.rule, check.instead)
            kept_back.setdefault(check.task, []).append(each)
    return msgspec.json.encode(HandedOut(kept_back, recorded), order="sorted").decode() + "\n"


def handed_out(folder: Path) -> HandedOut | None:
    """Return the content of the folder's file; `None` if its checks are complete. Raises `ChecksBroken`."""
    file = folder / FILE
    try:
        return _read(file, file.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ChecksBroken(
            f"{file} cannot be read ({type(error).__name__}): it came with the checks; fetch both again."
        ) from error


@lru_cache(8)
def _read(file: Path, changed: int) -> HandedOut:
    """Read the file; `changed`, its time stamp, is part of the cache key: a replaced file is read again."""
    found = msgspec.json.decode(file.read_bytes(), type=HandedOut)
    if found.version != _VERSION:
        raise ValueError("written by another version")
    return found
