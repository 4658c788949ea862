"""An assignment to begin one's own with: the packaged `skeleton/`, which builds as it is."""

from __future__ import annotations

import keyword
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.course.template import SKELETON, course_files

_LEGAL = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]*")
_NUMBER = re.compile(r"^[0-9]+[_.-]+(?=.)")


_TASK = re.compile(r"[A-Za-z_]\w{0,39}", re.ASCII)
_TAKEN = ("after", "check", "torch")
"""Names that the skeleton's notebook gives another meaning."""
TASK = "scale"
"""The task of the skeleton, a function."""


@dataclass(frozen=True)
class NewAssignment:
    """The files of an assignment that was just written."""

    notebook: Path
    checks: Path
    mistakes: Path
    right_answers: Path


def new_assignment(course: Course, name: str, task: str = TASK) -> NewAssignment:
    """Write the skeleton into the course's `source/`, and its mistakes and right answers into `solutions/`.

    `task` is the name of its function. All of it or nothing. Raises `UserError` for a name that is taken or
    that nbgrader or Python could not use.
    """
    if not _LEGAL.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be an assignment's name: it takes English letters, digits, `_`, `-` and `.`, "
            "and begins with a letter or digit, as 01_first does."
        )
    if not _TASK.fullmatch(task) or keyword.iskeyword(task) or task in _TAKEN:
        raise UserError(
            f"{task!r} cannot be a task's name: it is the name of a function in the notebook, as attend or "
            "conv1d."
        )
    origin = course_files() / SKELETON
    folder, catalogue = course.folder("source", ".", name), course.catalogue_path(name)
    variants = course.right_answers_path(name)
    for taken in (folder, catalogue, variants):
        if os.path.lexists(taken):
            raise UserError(f"{taken} is there already, and nothing was written: name another assignment.")
    made = NewAssignment(
        folder / f"{_NUMBER.sub('', name)}.ipynb", folder / "checks" / f"test_{task}.py", catalogue, variants
    )
    stage = folder.parent / f".{name}.new-{os.getpid()}"
    try:
        (stage / "checks").mkdir(parents=True)
        _write(origin / "assignment.ipynb", stage / made.notebook.name, task)
        _write(origin / "checks" / f"test_{TASK}.py", stage / "checks" / made.checks.name, task)
        try:
            for path, text in ((catalogue, "mistakes.toml"), (variants, "variants.toml")):
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(origin / text, path, task)
            stage.rename(folder)
        except BaseException:
            for path in (catalogue, variants):
                path.unlink(missing_ok=True)
            raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return made


def _write(origin: Path, target: Path, task: str) -> None:
    """Write one of the skeleton's texts, its task under another name."""
    text = re.sub(rf"(?<![^\W_]){TASK}(?!\w)", task, origin.read_text(encoding="utf-8"))
    target.write_text(text, encoding="utf-8")
