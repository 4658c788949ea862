"""An assignment to begin one's own with: the packaged `skeleton/`, which builds as it is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.course.template import SKELETON, course_files

_LEGAL = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]*")
_NUMBER = re.compile(r"^[0-9]+[_.-]+(?=.)")


def new_assignment(course: Course, name: str) -> list[Path]:
    """Copy the skeleton into the course's `source/` and its mistakes and right answers into `solutions/`.

    All of it or nothing; returns the files. Raises `UserError` for a name that is taken or that nbgrader
    could not use.
    """
    if not _LEGAL.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be an assignment's name: it takes English letters, digits, `_`, `-` and `.`, "
            "and begins with a letter or digit, as 01_first does."
        )
    origin = course_files() / SKELETON
    folder, catalogue = course.folder("source", ".", name), course.catalogue_path(name)
    variants = course.folder("solution", ".", "variants") / f"{name}.toml"
    for taken in (folder, catalogue, variants):
        if os.path.lexists(taken):
            raise UserError(f"{taken} is there already, and nothing was written: name another assignment.")
    notebook = f"{_NUMBER.sub('', name)}.ipynb"
    stage = folder.parent / f".{name}.new-{os.getpid()}"
    try:
        (stage / "checks").mkdir(parents=True)
        shutil.copyfile(origin / "assignment.ipynb", stage / notebook)
        checks = sorted(path.name for path in (origin / "checks").glob("*.py"))
        for check in checks:
            shutil.copyfile(origin / "checks" / check, stage / "checks" / check)
        try:
            for path, text in ((catalogue, "mistakes.toml"), (variants, "variants.toml")):
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(origin / text, path)
            stage.rename(folder)
        except BaseException:
            for path in (catalogue, variants):
                path.unlink(missing_ok=True)
            raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return [folder / notebook, *(folder / "checks" / check for check in checks), catalogue, variants]
