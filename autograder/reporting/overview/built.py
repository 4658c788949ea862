"""Comparison of the source with what students get: the release, and its copy on nbgrader's exchange."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path

from nbgrader.exchange.default import ExchangeList

from autograder.grading.building.changes import as_built
from autograder.grading.course.course import Course

NO, YES, CHANGED = "no", "yes", "changed"
"""The states of something made: missing; up to date; older than a change in what it was made from."""


def built(course: Course, assignment: str) -> str:
    """Return whether release/ and solutions/ are made from the source as it is: `NO`, `YES` or `CHANGED`.

    What no build of this machine made, a clone say, is told by the texts of its cells.
    """
    source, release, solution = (
        _notebook(course.folder(step, ".", assignment)) for step in ("source", "release", "solution")
    )
    if release is None:
        return NO
    if source is None:
        return YES  # nothing to compare with: somebody else's release, say
    if (same := as_built(course, assignment)) is not None:
        return YES if same else CHANGED
    if solution is None:
        return YES
    return YES if _holds(_cells(solution), _cells(source)) else CHANGED


def released(course: Course, assignment: str) -> str:
    """Return whether nbgrader's exchange hands out the release, likewise; `""` without an exchange.

    Only nbgrader's own exchange, a folder, can be looked into.
    """
    outbound = _outbound(course)
    if outbound is None:
        return ""
    there, ours = outbound / assignment, course.folder("release", ".", assignment)
    if not there.is_dir():
        return NO
    files = [path.relative_to(ours) for path in sorted(ours.rglob("*")) if path.is_file()]
    return YES if all(_same(ours / file, there / file) for file in files) else CHANGED


def _outbound(course: Course) -> Path | None:
    if "ExchangeFactory" in course.config:
        return None
    root = Path(ExchangeList(coursedir=course.directory, config=course.config).root)
    return root / course.directory.course_id / "outbound" if root.is_dir() else None


def _same(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _notebook(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.ipynb"))), None)


def _cells(path: Path) -> list[tuple[str, str]]:
    """The kind and text of each cell; `[]` of a file that is no notebook."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _holds(longer: list[tuple[str, str]], cells: list[tuple[str, str]]) -> bool:
    """Return whether a notebook has these cells in a row; it may have a header and a footer, too."""
    return any(longer[at : at + len(cells)] == cells for at in range(len(longer) - len(cells) + 1))
