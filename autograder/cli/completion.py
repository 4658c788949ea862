"""Names of assignments and students from a course's folders, for a shell to complete.

A shell asks at every press of Tab, so nothing is imported that takes time: the course's configuration is
looked at for the names of its folders, and not run. What cannot be found is not completed.
"""

from __future__ import annotations

import re
from pathlib import Path

import typer

CONFIG = "nbgrader_config.py"
_NAMED = r"""^c\.CourseDirectory\.{}_directory\s*=\s*["']([^"']+)["']"""


def assignments_here(ctx: typer.Context, incomplete: str) -> list[str]:
    """The assignments that begin so, but for those that stand on the command line already."""
    root = _course(ctx)
    named = ctx.params.get("assignments") or ()
    try:
        folders = {each for step in ("source", "release") for each in _folder(root, step).glob("*/*.ipynb")}
        names = {each.parent.name for each in folders}
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(incomplete) and name not in named)


def students_here(ctx: typer.Context, incomplete: str) -> list[str]:
    """The students who handed in the assignment that stands on the command line, or any."""
    root, assignment = _course(ctx), str(ctx.params.get("assignment") or "*")
    try:
        submitted = _folder(root, "submitted")
        names = {path.parent.name for path in submitted.glob("*/*") if assignment in ("*", path.name)}
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(incomplete) and name.isprintable())


def _course(ctx: typer.Context) -> Path:
    return Path(str(ctx.params.get("course") or "."))


def _folder(root: Path, step: str) -> Path:
    """Return the folder of a step: as one line of the course's configuration says, or nbgrader's default."""
    try:
        config = (root / CONFIG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return root / "there is no course"
    found = re.search(_NAMED.format(step), config, re.MULTILINE)
    return root / (found[1] if found else step)
