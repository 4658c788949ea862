"""The packaged course's files, and a fresh course directory made from them.

From a checkout (or an editable install of one) the course is the repository itself; from installed
wheels it is the `autograder_course` package, which only instructors have.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import autograder
from autograder.errors import UserError
from autograder.grading.course.course_id import course_id_of, legal_course_id, with_course_id
from autograder.grading.course.texts import texts

CONFIG = "nbgrader_config.py"
COURSE_PARTS = ("source", CONFIG)
MISTAKES, VARIANTS = "solutions/mistakes", "solutions/variants"
"""Further files that a course may have: known mistakes, and right answers in other styles."""
PAGE = "students.*"
"""The page that goes out to students with every assignment, and its picture; they lie in `source/`."""
SKELETON = "skeleton"
"""The assignment that one's own begin with."""
COURSE_PACKAGE = "autograder_course"

_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__")


class CourseFilesMissing(UserError):
    """An error: neither a checkout nor the instructor's package is there to copy a course from."""


class CourseTargetTaken(UserError):
    """An error: the directory that a new course should go to is in use or cannot be written."""


def course_files() -> Path:
    """The directory that holds the packaged course's `source/` and `nbgrader_config.py`.

    A checkout that the running `autograder` is imported from comes before an installed package, so
    that what is edited is what is copied. Raises `CourseFilesMissing` when there is neither.
    """
    for root in (checkout(), _installed_package()):
        if root is not None and all((root / part).exists() for part in COURSE_PARTS):
            return root
    raise CourseFilesMissing(
        "The course's source notebooks are not installed here: "
        "install lstm-autograder-course, or run autograder from a checkout of the repository."
    )


def new_course(
    target: Path, origin: Path | None = None, *, course_id: str | None = None, empty: bool = False
) -> str:
    """Make a fresh course directory at `target`, a copy of the course at `origin`: whole, or not at all.

    `origin` is the packaged course if it is not named; for an `empty` course only its configuration and its
    page for students are copied. `target` may be absent or an empty directory; missing parents are made.
    Returns the name by which nbgrader is to know the course: `course_id`, or one made from the directory's.

    Raises `CourseTargetTaken` if the directory is in use or cannot be written, `CourseFilesMissing` as
    `course_files` does and for an `origin` that is no course, `UserError` for an illegal `course_id`.
    """
    if origin is not None and not all((origin / part).exists() for part in COURSE_PARTS):
        raise CourseFilesMissing(
            f"There is no course in {origin} to copy: it needs {' and '.join(COURSE_PARTS)}."
        )
    origin = origin or course_files()
    target = Path(os.path.abspath(target))
    name = course_id_of(target.name) if course_id is None else legal_course_id(course_id)
    try:
        if target.is_dir() and not any(target.iterdir()):
            _fill(target, origin, name, empty)
        elif os.path.lexists(target):
            raise CourseTargetTaken(f"{target} exists and is not an empty directory; name another one.")
        else:
            _make(target, origin, name, empty)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise CourseTargetTaken(f"No course could be made at {target}: {reason}.") from error
    return name


def _make(target: Path, origin: Path, name: str, empty: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    stage = target.parent / f".{target.name}.new-{os.getpid()}"
    try:
        _write(origin, stage, name, empty)
        stage.rename(target)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _fill(target: Path, origin: Path, name: str, empty: bool) -> None:
    """Make a course in the empty directory that is there, and keep that: someone may be working in it."""
    stage = target / f".new-{os.getpid()}"
    try:
        _write(origin, stage, name, empty)
        for made in stage.iterdir():
            made.rename(target / made.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _write(origin: Path, stage: Path, name: str, empty: bool) -> None:
    """Write a course, with all that it begins with, to a place that is free."""
    stage.mkdir()
    if empty:
        for part in ("source", MISTAKES):
            (stage / part).mkdir(parents=True)
        for page in sorted(origin.glob(f"source/{PAGE}")):
            shutil.copyfile(page, stage / "source" / page.name)
    else:
        for part in ("source", MISTAKES, VARIANTS):
            if (origin / part).is_dir():
                shutil.copytree(
                    origin / part, stage / part, ignore=_NOT_COPIED, copy_function=shutil.copyfile
                )
    config = (origin / CONFIG).read_text(encoding="utf-8")
    (stage / CONFIG).write_text(with_course_id(config, name), encoding="utf-8")
    sources = sorted({path.parent for path in stage.glob("source/*/*.ipynb")})
    written = texts(
        name,
        [path.name for path in sources],
        has_mistakes=(stage / MISTAKES).is_dir(),
        has_variants=(stage / VARIANTS).is_dir(),
        has_page=any(stage.glob(f"source/{PAGE}")),
    )
    for file, text in written.items():
        if not (stage / file).exists():
            (stage / file).write_text(text, encoding="utf-8")
    for part in ("source", "solutions"):
        if (stage / part).is_dir():
            (stage / part).chmod(0o700)  # a machine may have students on it


def checkout() -> Path | None:
    """The repository that this package runs from, if it does."""
    root = Path(autograder.__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() else None


def _installed_package() -> Path | None:
    spec = find_spec(COURSE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
