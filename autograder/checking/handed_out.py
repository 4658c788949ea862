"""What lies beside checks that were handed out: of the checks kept for grading their points, and references.

`autograder build` writes it into a release, and the students' wheel has it for the packaged exercises.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.checking.check import Check, ChecksBroken
from autograder.checking.handed_out_file import FILE, VERSION
from autograder.checking.references import Recorded

KEPT_BACK = "kept_back"
"""How checks are called of which only the points are known."""


@dataclass(frozen=True)
class HandedOut:
    """What a folder of checks as students get it knows of what is not in it."""

    kept_back: tuple[Check, ...]
    """The checks that grading adds, without their names."""
    recorded: Recorded
    """What references give on the public inputs."""


def handed_out(folder: Path) -> HandedOut | None:
    """What the folder has of it; `None` for checks that are complete. Raises `ChecksBroken`."""
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
    """`changed` is when the file was: one that is replaced while a notebook runs is read again."""
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
