"""The course that a path lies in, and the assignments of it that the path means."""

from __future__ import annotations

from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import CONFIG_FILE, Course


def meant(path: Path) -> tuple[Course, list[str]]:
    """The course, and the assignments meant: a path is a course, an assignment's folder or a notebook in it.

    Raises `UserError` for a path that is none of these.
    """
    here = path.resolve()
    if not here.exists():
        raise UserError(f"There is no {path}.")
    root = next((each for each in (here, *here.parents) if _is_course(each)), None)
    if root is None:
        raise UserError(
            f"{path} lies in no nbgrader course: none of the folders above it has a {CONFIG_FILE} or a "
            "folder source/ with assignments. Name the course directory: `autograder adopt DIR`."
        )
    course = Course.at(root, configured=False)
    sources, known = course.folder("source", ".", "."), course.assignments()
    if not known:
        raise UserError(
            f"{root} has no assignment: {sources} holds no folder with a notebook. If the course keeps its "
            f"sources elsewhere, say so in {CONFIG_FILE} (`c.CourseDirectory.source_directory`)."
        )
    if here in (root, sources.resolve()):
        return course, known
    for name in known:
        if here.is_relative_to((sources / name).resolve()):
            return course, [name]
    raise UserError(
        f"{path} is no assignment of the course in {root}. Name the course, or of {course.told(sources)} an "
        f"assignment's folder or a notebook in one. Assignments: {', '.join(known)}."
    )


def _is_course(folder: Path) -> bool:
    return (folder / CONFIG_FILE).is_file() or any(folder.glob("source/*/*.ipynb"))
