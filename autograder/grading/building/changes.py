"""The parts that an assignment is made from, and what the last build and validation found of them.

Each part has a key of its own, so that a change asks only for the work that depends on it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nbformat

import autograder
import autograder.exercises
from autograder.errors import UserError
from autograder.grading.assignment.bundle import packaged_checks
from autograder.grading.assignment.cells import grade_id, is_grade, prose_and_code
from autograder.grading.course.course import Course
from autograder.grading.records.store import assignment_seed, has_seed, one_writer, write_whole
from autograder.grading.releasing.page import PAGE
from autograder.tasks import OWN

_ENGINE = (
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
"""The packages that the result of a build depends on."""
RECORDED = "solutions/recorded"
"""The folder in which a checkout keeps the results of the packaged checks' references, for the wheels."""
UNBUILT = ("right_answers",)
"""The parts that a build does not look at."""
_PASSED_OVER = ("__pycache__", ".ipynb_checkpoints")


@dataclass(frozen=True)
class Parts:
    """The key of each part that an assignment is made from: a digest that changes with that part alone."""

    text: str
    """The prose of the source notebook."""
    code: str
    """The rest of the source notebook, and the files beside it."""
    checks: str
    catalogue: str
    """The known mistakes."""
    right_answers: str
    """The right answers in other styles, at which only a validation looks."""
    engine: str
    """This package, the versions of what it uses, the course's settings and its seed."""

    @classmethod
    def of(cls, course: Course, assignment: str) -> Parts:
        """The parts of an assignment as they are now."""
        folder = course.folder("source", ".", assignment)
        notebooks = sorted(folder.glob("*.ipynb"))
        checks = _checks(folder)
        beside = set(_below(folder)).difference(notebooks, checks)
        prose, code = _prose_and_code(notebooks)
        rest = [*sorted(beside), *sorted(folder.parent.glob("*.ipynb"))]
        stated = {
            name: settings for name, settings in course.config.items() if settings
        }  # read ones stay empty
        settings = json.dumps(stated, sort_keys=True, default=repr)
        engine = (assignment, settings, _package(), str(assignment_seed(course, assignment)))
        older = course.root / "tests" / "variants"
        return cls(
            text=_digest([], prose),
            code=_digest(rest, code),
            checks=_digest(checks),
            catalogue=_digest([course.catalogue_path(assignment)]),
            right_answers=_digest([course.right_answers_path(assignment), *_below(older)]),
            engine=hashlib.sha256("\n".join(engine).encode()).hexdigest(),
        )

    def changed(self, before: Parts | None, but: Sequence[str] = ()) -> set[str]:
        """Return the names of the parts that differ, all where there are none before, `but` these."""
        mine, theirs = asdict(self), asdict(before) if before else {}
        return {name for name in mine if mine[name] != theirs.get(name)}.difference(but)


def sources(course: Course, assignments: Iterable[str]) -> Iterator[str]:
    """Yield the texts of some assignments' source notebooks and of their checks."""
    for assignment in assignments:
        folder = course.folder("source", ".", assignment)
        for path in [*sorted(folder.glob("*.ipynb")), *_checks(folder)]:
            yield path.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Last:
    """The report of the last build or validation, and the parts that it was made from."""

    parts: Parts
    said: dict[str, Any]


def last_build(course: Course, assignment: str) -> Last | None:
    """Return the last build, if what it made is still there as it made it."""
    last = _kept(course, "built", assignment)
    return last if last is not None and _in_gradebook(course, assignment) else None


def as_built(course: Course, assignment: str) -> bool | None:
    """Return whether a build would find that nothing has changed; `None` if no build is on record."""
    if not _path(course, "built", assignment).is_file():
        return None
    last = last_build(course, assignment) if has_seed(course) else None
    return last is not None and not Parts.of(course, assignment).changed(last.parts, but=UNBUILT)


def keep_built(course: Course, assignment: str, parts: Parts, said: dict[str, Any]) -> None:
    """Keep what a build that has just ended well said; `parts` are those that it began with."""
    _keep(course, "built", assignment, parts, said)


def last_validation(course: Course, assignment: str) -> Last | None:
    """Return the last validation in which everything held, if what it looked at is still there."""
    return _kept(course, "validated", assignment)


def keep_validated(course: Course, assignment: str, parts: Parts, said: dict[str, Any]) -> None:
    """Keep what a validation found; `parts` are those that it began with."""
    _keep(course, "validated", assignment, parts, said)


def _kept(course: Course, step: str, assignment: str) -> Last | None:
    try:
        kept = json.loads(_path(course, step, assignment).read_text(encoding="utf-8"))
        last = Last(Parts(**kept["parts"]), dict(kept["said"]))
        return last if kept["made"] == _made(course, step, assignment) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(course: Course, step: str, assignment: str, parts: Parts, said: dict[str, Any]) -> None:
    kept = {"parts": asdict(parts), "made": _made(course, step, assignment), "said": said}
    with one_writer(course):
        write_whole(_path(course, step, assignment), json.dumps(kept) + "\n")


def _path(course: Course, step: str, assignment: str) -> Path:
    return course.root / ".autograder" / step / f"{assignment}.json"


def _made(course: Course, step: str, assignment: str) -> str:
    """The digest of all that a build makes: somebody may have edited it, or taken it away.

    A validation reads neither the prose of the release nor the solved notebook.
    """
    recorded = course.root / RECORDED / f"{assignment}.json"
    release = course.folder("release", ".", assignment)
    page = set(release.glob(PAGE))  # one for all assignments: it is brought up to date without a build
    released = [path for path in _below(release) if path not in page]
    if step == "validated":
        notebooks = sorted(release.glob("*.ipynb"))
        return _digest([path for path in released if path not in notebooks], _prose_and_code(notebooks)[1])
    solved = sorted(course.folder("solution", ".", assignment).glob("*.ipynb"))
    known = course.root / ".autograder" / "known" / f"{assignment}.json"
    return _digest([*released, *solved, known, recorded])


def _in_gradebook(course: Course, assignment: str) -> bool:
    """Return whether the gradebook knows the released assignment: else nobody's work could be recorded."""
    released = {
        (path.stem, grade_id(cell), float(cell["metadata"]["nbgrader"]["points"]))
        for path in course.folder("release", ".", assignment).glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if is_grade(cell)
    }
    try:
        with course.gradebook() as gradebook:
            known = {
                (notebook.name, cell.name, float(cell.max_score))
                for notebook in gradebook.find_assignment(assignment).notebooks
                for cell in notebook.grade_cells
            }
    except (UserError, LookupError, ValueError):  # nbgrader's word for what is not there is a ValueError
        return False
    return known == released


@cache
def _package() -> str:
    """The digest of this package without its exercises, and the versions of what it uses."""
    home = Path(autograder.__file__).parent
    versions = [autograder.__version__, platform.python_version(), *map(_version, _ENGINE)]
    files = (path for path in _below(home) if not path.is_relative_to(autograder.exercises.HOME))
    return _digest(files) + repr(versions)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _checks(folder: Path) -> list[Path]:
    """The files of an assignment's checks: its own, or the package's for its notebook."""
    own = _below(folder / OWN)
    packaged = [packaged_checks(notebook.stem) for notebook in sorted(folder.glob("*.ipynb"))]
    shared = sorted(autograder.exercises.HOME.glob("*.py"))
    return own or [file for home in packaged for file in (*_below(home), *shared)]


def _prose_and_code(notebooks: Iterable[Path]) -> tuple[str, str]:
    """The prose of some notebooks, and the rest of them."""
    parts = [prose_and_code(notebook.read_bytes()) for notebook in notebooks]
    return "\n".join(prose for prose, _ in parts), "\n".join(code for _, code in parts)


def _below(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not set(_PASSED_OVER) & set(path.parts))


def _digest(files: Iterable[Path], content: str = "") -> str:
    """The digest of some files' names and contents, and more; a file that is not there counts as such."""
    found = hashlib.sha256(content.encode())
    for path in files:
        found.update(f"{path}\n".encode("utf-8", "surrogateescape"))
        if path.is_file():
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()
