"""The last build and validation, kept so that neither is repeated while nothing that counts has changed."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nbformat

import autograder
from autograder.errors import UserError
from autograder.grading.assignment.cells import grade_id, is_grade
from autograder.grading.course.course import Course
from autograder.grading.records.store import assignment_seed, one_writer, write_whole
from autograder.grading.releasing.handout import RECORDED
from autograder.grading.releasing.page import PAGE
from autograder.grading.validating.right import kept_in

_COUNTS = (
    "torch",
    "numpy",
    "nbgrader",
    "nbconvert",
    "nbformat",
    "nbclient",
    "ipykernel",
    "ipython",
    "pytest",
)
"""The packages that what is made depends on."""
_PASSED_OVER = ("__pycache__", ".ipynb_checkpoints")


def built_before(course: Course, assignment: str) -> dict[str, Any] | None:
    """Return the last build's report if neither source nor release has changed since, else `None`."""
    told = _kept(
        course, "built", assignment, source_digest(course, assignment), _built_digest(course, assignment)
    )
    return told if told is not None and _in_gradebook(course, assignment) else None


def keep_built(course: Course, assignment: str, source: str, told: dict[str, Any]) -> None:
    """Remember a build that has just ended well; `source` is the digest that it began with."""
    _keep(course, "built", assignment, source, _built_digest(course, assignment), told)


def validated_before(course: Course, assignment: str) -> dict[str, Any] | None:
    """Return the last validation's findings if nothing has changed since, else `None`."""
    made = _built_digest(course, assignment)
    return _kept(course, "validated", assignment, examined_digest(course, assignment), made)


def keep_validated(course: Course, assignment: str, source: str, told: dict[str, Any]) -> None:
    """Remember what a validation found; `source` is the digest that it began with."""
    _keep(course, "validated", assignment, source, _built_digest(course, assignment), told)


def source_digest(course: Course, assignment: str) -> str:
    """The digest of all that a build is made from."""
    folder = course.folder("source", ".", assignment)
    files = [*_below(folder), *sorted(folder.parent.glob("*.ipynb")), course.catalogue_path(assignment)]
    settings = json.dumps(course.config, sort_keys=True, default=repr)
    parts = (assignment, settings, _package(), str(assignment_seed(course, assignment)), _digest(files))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def examined_digest(course: Course, assignment: str) -> str:
    """The digest of all that a validation looks at besides what was built."""
    kept = (kept_in(course, assignment).parent, course.root / "tests" / "variants")
    variants = "".join(_digest(_below(folder)) for folder in kept)
    return hashlib.sha256((source_digest(course, assignment) + variants).encode()).hexdigest()


def _kept(course: Course, step: str, assignment: str, source: str, made: str) -> dict[str, Any] | None:
    try:
        kept = json.loads(_path(course, step, assignment).read_text(encoding="utf-8"))
        same = (kept["source"], kept["made"]) == (source, made)
        return dict(kept["told"]) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(course: Course, step: str, assignment: str, source: str, made: str, told: dict[str, Any]) -> None:
    kept = {"source": source, "made": made, "told": told}
    with one_writer(course):
        write_whole(_path(course, step, assignment), json.dumps(kept) + "\n")


def _path(course: Course, step: str, assignment: str) -> Path:
    return course.root / ".autograder" / step / f"{assignment}.json"


def _built_digest(course: Course, assignment: str) -> str:
    """The digest of all that a build makes: somebody may have edited it, or taken it away."""
    solved = sorted(course.folder("solution", ".", assignment).glob("*.ipynb"))
    known = course.root / ".autograder" / "known" / f"{assignment}.json"
    recorded = course.root / RECORDED / f"{assignment}.json"
    release = course.folder("release", ".", assignment)
    page = set(release.glob(PAGE))  # one for all assignments: it is brought up to date without a build
    released = [path for path in _below(release) if path not in page]
    return _digest([*released, *solved, known, recorded])


def _in_gradebook(course: Course, assignment: str) -> bool:
    """Return whether the gradebook knows the released assignment: else nobody's work could be recorded."""
    (path,) = course.folder("release", ".", assignment).glob("*.ipynb")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if is_grade(cell)]
    try:
        with course.gradebook() as gradebook:
            known = gradebook.find_notebook(path.stem, assignment).grade_cells
            found = {(cell.name, float(cell.max_score)) for cell in known}
    except (UserError, LookupError, ValueError):  # nbgrader's word for what is not there is a ValueError
        return False
    return found == {(grade_id(cell), float(cell["metadata"]["nbgrader"]["points"])) for cell in cells}


@cache
def _package() -> str:
    """The digest of this package and the versions of what it uses."""
    home = Path(autograder.__file__).parent
    versions = [autograder.__version__, platform.python_version(), *map(_version, _COUNTS)]
    return _digest(path for path in _below(home) if path.suffix != ".pyc") + repr(versions)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _below(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not set(_PASSED_OVER) & set(path.parts))


def _digest(files: Iterable[Path]) -> str:
    """The digest of some files' names and contents; one that is not there counts as such."""
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path}\n".encode("utf-8", "surrogateescape"))
        if path.is_file():
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()
