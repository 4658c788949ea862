"""The file beside handed-out checks: points of the checks kept for grading, and results of references.

`autograder build` writes it into a release, and the students' wheel has it for the packaged exercises.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.checking.inputs.references import Recorded
from autograder.checking.runner.check import Check, ChecksBroken
from autograder.checking.runner.handed_out_file import FILE, VERSION

KEPT_BACK = "kept_back"
"""The beginning of the name of a check of which only the points are known."""


@dataclass(frozen=True)
class HandedOut:
    """The file's content: what a folder of checks, as students get it, knows of the parts it lacks."""

    kept_back: tuple[Check, ...]
    """The checks that grading adds, without their names."""
    recorded: Recorded
    """The results of the references on the public inputs."""


def handed_out(folder: Path) -> HandedOut | None:
    """Return the content of the folder's file; `None` if its checks are complete. Raises `ChecksBroken`."""
    file = folder / FILE
    try:
        return _read(file, file.stat().st_mtime_ns)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ChecksBroken(
            f"{file} cannot be read ({type(error).__name__}): it came with the checks; fetch both again."
        ) from error


@lru_cache(8)
def _read(file: Path, changed: int) -> HandedOut:
    """Read the file; `changed`, its time stamp, is part of the cache key: a replaced file is read again."""
    data = json.loads(file.read_text(encoding="utf-8"))
    if data["version"] != VERSION:
        raise ValueError("written by another version")
    checks = tuple(
        Check(
            task=task,
            name=f"{KEPT_BACK}_{number}",
            rule=told["rule"],
            title=told["instead"],
            points=float(told["points"]),
            needs=(),
            instead=told["instead"],
        )
        for task, every in data["kept_back"].items()
        for number, told in enumerate(every, 1)
    )
    return HandedOut(checks, Recorded(data["recorded"]))
