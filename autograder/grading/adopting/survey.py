"""The assignments that a path means, as nbgrader has them: what is graded, by what, and what cannot be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.assignment.bundle import DEMONSTRATION
from autograder.grading.assignment.cells import is_task, other_language
from autograder.grading.building.examine import examine
from autograder.grading.building.markers import Markers
from autograder.grading.building.source import SourceCell, read_source
from autograder.grading.course.course import CONFIG_FILE, Course

_MAGIC = re.compile(r"\s*%%(\S+)")
_PYTHON_MAGICS = frozenset(
    {"capture", "file", "html", "HTML", "latex", "markdown", "prun", "svg", "SVG", "time"}
    | {"timeit", "writefile"}
)
"""Cell magics that run the cell's Python, keep it in a file, or show it."""


@dataclass(frozen=True)
class Survey:
    """The contents of an assignment's source."""

    assignment: str
    said: str
    """The notebooks, cells and points, in words."""
    left_out: tuple[str, ...] = ()
    """The cells that grading passes over, each with its place and what comes of it."""
    refused: tuple[str, ...] = ()
    """The reasons that keep the whole assignment from being graded here, each with its place."""
    problems: tuple[str, ...] = ()
    """The problems to be mended before it can be built, each with its place."""


def meant(path: Path) -> tuple[Course, list[str]]:
    """Return the course and the assignments of a path: a course, an assignment's folder, or a notebook in it.

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


def survey(course: Course, assignment: str) -> Survey:
    """Look at an assignment's source notebooks. Nothing is run."""
    paths = sorted(course.folder("source", ".", assignment).glob("*.ipynb"))
    cells = {path: read_source(path, course.told(path))[0] for path in paths}
    every = [cell for some in cells.values() for cell in some]
    refused = tuple(filter(None, (_other_kernel(path, course.told(path)) for path in paths)))
    return Survey(
        assignment,
        f"{assignment}: {_said(len(paths), every, Markers.of(course.config))}",
        left_out=() if refused else tuple(_left_out(every)),
        refused=refused,
        problems=() if refused else tuple(map(str, examine(course, [assignment]))),
    )


def plural(count: float, noun: str) -> str:
    """A number of things, in words."""
    return f"{count:g} {noun}{'' if count == 1 else 's'}"


def _said(notebooks: int, cells: list[SourceCell], markers: Markers) -> str:
    tasks = [cell for cell in cells if is_task(cell.node)]
    graded = [cell for cell in cells if cell.is_grade and not is_task(cell.node)]
    checks = [cell for cell in graded if cell.task]
    by_hand = [cell for cell in graded if cell.is_solution or not cell.is_code]
    tests = [cell for cell in graded if cell not in by_hand and not cell.task]
    hidden = sum(cell.source.count(markers.hidden.begin) for cell in graded)
    parts = [f"{plural(len(tests), 'test cell')} ({plural(_points(tests), 'point')})"] if tests else []
    if checks:
        parts.append(f"{plural(len(checks), 'task')} with checks ({plural(_points(checks), 'point')})")
    people = [plural(len(by_hand), "cell")] if by_hand else []
    people += [plural(len(tasks), "task")] if tasks else []
    if people:
        parts.append(f"{' and '.join(people)} that a person grades")
    if not cells:
        return f"{plural(notebooks, 'notebook')}, and no cell could be read."
    said = f"{plural(notebooks, 'notebook')}, {plural(_points([*graded, *tasks]), 'point')}"
    said += f": {', '.join(parts)}." if parts else "; nothing in it is graded."
    if hidden:
        verb = "is" if hidden == 1 else "are"
        said += f" {plural(hidden, 'hidden test')} {verb} kept from students and from their feedback."
    return said


def _points(cells: Iterable[SourceCell]) -> float:
    points = (cell.node["metadata"]["nbgrader"].get("points") for cell in cells)
    return sum(each for each in points if isinstance(each, int | float))  # else nbgrader refuses the cell


def _other_kernel(path: Path, shown: str) -> str:
    """Return why a notebook cannot be served, if its kernel is of another language than Python."""
    try:
        language = other_language(json.loads(path.read_text(encoding="utf-8-sig"))["metadata"])
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return ""  # what is no notebook is told by itself
    return language and f"{shown} is a notebook for {language}, and grading runs Python."


def _left_out(cells: list[SourceCell]) -> Iterator[str]:
    """Yield what grading does not run of the cells, each reason once for all cells of a notebook."""
    found: dict[tuple[str, str], list[SourceCell]] = {}
    for cell in cells:
        if not cell.is_code or DEMONSTRATION in cell.tags:
            continue
        magic = _MAGIC.match(cell.source)
        if magic and magic[1] not in _PYTHON_MAGICS:
            found.setdefault((cell.file, magic[1]), []).append(cell)
    for (file, language), some in found.items():
        is_test = any(cell.is_grade and not cell.is_solution for cell in some)
        test = " As a test it tests nothing." if is_test else ""
        named = ", ".join(cell.name for cell in some)
        yield f"{file}, {named}: `%%{language}` is no Python, and grading passes over it.{test}"


def _is_course(folder: Path) -> bool:
    return (folder / CONFIG_FILE).is_file() or any(folder.glob("source/*/*.ipynb"))
