"""Parts of a course that every account of the machine can get at: a problem where students have one."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy.engine import make_url

from autograder.grading.course.course import CONFIG_FILE, Course
from autograder.grading.course.gradebook import patient_url, sqlite_file
from autograder.grading.course.template import COURSE_PACKAGE

STEPS = ("source", "solution", "submitted", "autograded", "feedback")
"""nbgrader's folders that are not for students; the release is."""
OURS = ("verdicts", ".autograder", "reports", "exports")


@dataclass(frozen=True)
class OpenPath:
    """One file or folder that every account may read, search or write."""

    path: str
    mode: str
    """The permissions as `ls -l` shows them."""
    remedy: str


def open_paths(course: Course | None) -> list[OpenPath]:
    """Return the open parts of a course, and of the package with the solutions if it is installed."""
    private = [*_private(course)] if course is not None else []
    found = [_open(path, f"chmod o= {path}") for path in private if _is_open(path)]
    for package in _course_package():
        if _is_open(package):
            found.append(
                _open(package, f"install it in an environment of your own, or chmod -R o= {package}")
            )
    return found


def _private(course: Course) -> Iterator[Path]:
    for step in STEPS:
        yield course.folder(step, ".", ".").resolve()
    for name in OURS:
        yield course.root / name
    url = patient_url(str(course.directory.db_url))
    path = sqlite_file(url)
    if path is not None:
        yield path
    elif make_url(url).password is not None:
        yield course.root / CONFIG_FILE  # the database's password most likely stands in it


def _course_package() -> list[Path]:
    """Return the folders of the solutions, which `import autograder_course` finds."""
    spec = find_spec(COURSE_PACKAGE)
    return [Path(place).resolve() for place in spec.submodule_search_locations or ()] if spec else []


def _is_open(path: Path) -> bool:
    """Return whether an account that is neither owner nor in the group can reach the path and do anything."""
    try:
        above = all(folder.stat().st_mode & stat.S_IXOTH for folder in path.absolute().parents)
        return above and bool(path.stat().st_mode & stat.S_IRWXO)
    except OSError:
        return False


def _open(path: Path, remedy: str) -> OpenPath:
    return OpenPath(str(path), stat.filemode(path.stat().st_mode), remedy)
