"""Everything that can be said of an assignment's files before a notebook is run, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.catalogue import catalogue_faults
from autograder.grading.assignment.cells import is_task
from autograder.grading.building.cells import (
    defined_in,
    look_at_ids,
    look_at_syntax,
    look_at_tasks,
)
from autograder.grading.building.check_files import look_at_check_files
from autograder.grading.building.demonstrations import look_at_demonstrations
from autograder.grading.building.markers import Markers, look_at_markers
from autograder.grading.building.names import clashes, look_at_folder
from autograder.grading.building.source import SourceCell, read_source
from autograder.grading.course.course import Course
from autograder.grading.course.places import CheckFiles, Places
from autograder.grading.course.problem import Problem

if TYPE_CHECKING:
    from autograder.checking.runner.check import Broken
    from autograder.checking.runner.checks import Checks


def examine(course: Course, assignments: Sequence[str], *, catalogue: bool = True) -> list[Problem]:
    """All problems of some assignments: of their texts and, if those have none, of their collected checks.

    `catalogue=False` leaves the known mistakes out.
    """
    sources = course.folder("source", ".", ".")
    problems = list(clashes(assignments, course.told(sources)))
    for assignment in assignments:
        found = list(_look_at_texts(course, assignment, catalogue))
        problems += found or _look_at_collected(course, assignment, catalogue)
    return problems


def chosen_assignments(course: Course, named: Sequence[str]) -> list[str]:
    """The named assignments, or all; `UserError` for a name that is none, and if there are none."""
    known, sources = course.assignments(), course.folder("source", ".", ".")
    for name in named:
        if name in known:
            continue
        if (sources / name).is_dir():
            raise UserError(f"{course.told(sources / name)} holds no notebook: there is nothing to build.")
        raise UserError(
            f"There is no assignment {name!r} in {course.root}. Assignments: {', '.join(known) or 'none'}."
        )
    if not known:
        raise UserError(
            f"There is nothing to build: {sources} holds no assignment. "
            "`autograder new-assignment 01_first` writes one to begin with."
        )
    return list(dict.fromkeys(named)) or known


def passed_over(course: Course) -> list[str]:
    """The folders of `source/` that are no assignment, since no notebook lies in them."""
    sources = course.folder("source", ".", ".")
    known = course.assignments()
    return [
        f"{course.told(folder)} holds no notebook and is passed over."
        for folder in sorted(sources.glob("*"))
        if folder.is_dir() and folder.name not in known and not folder.name.startswith(".")
    ]


def notebooks_of(course: Course, assignment: str) -> list[Path]:
    """Return the assignment's source notebooks, in order."""
    return sorted(course.folder("source", ".", assignment).glob("*.ipynb"))


def _look_at_texts(course: Course, assignment: str, catalogue: bool) -> Iterator[Problem]:
    folder = course.folder("source", ".", assignment)
    yield from look_at_folder(folder, course.told(folder))
    if "+" in assignment:
        yield Problem(course.told(folder), "nbgrader takes no name with a `+` in it: choose another.")
    every: list[SourceCell] = []
    for path in notebooks_of(course, assignment):
        cells, unread = read_source(path, course.told(path))
        yield from unread
        every += cells
    files = _check_files(course, assignment, every)
    checked = {
        name.removeprefix("test_").removesuffix(".py"): files.place(name)
        for name in files.texts
        if name.startswith("test_")
    }
    for _, own in groupby(every, key=lambda cell: cell.file):
        yield from _look_at_cells(course, list(own), checked)
    if checked or any(cell.task for cell in every):
        yield from look_at_tasks(every, checked, course.told(folder / "checks"))
    elif every and not any(cell.is_grade or is_task(cell.node) for cell in every):
        yield Problem(
            every[0].file,
            "no cell of it is graded. Mark test cells as Autograder tests (Create Assignment), or write "
            f"checks in {course.told(folder / 'checks')}.",
        )
    yield from look_at_check_files(files.texts, files.shown, defined_in(every))
    if catalogue:
        yield from _look_at_catalogue(course, assignment, every)


def _cells_of(course: Course, assignment: str) -> list[SourceCell]:
    """Return the cells of all notebooks of an assignment, as far as these can be read."""
    paths = notebooks_of(course, assignment)
    return [cell for path in paths for cell in read_source(path, course.told(path))[0]]


def _check_files(course: Course, assignment: str, cells: Sequence[SourceCell]) -> CheckFiles:
    """Return the check files that the cells need; of one notebook they may be the package's."""
    first, *others = notebooks_of(course, assignment)
    files = CheckFiles.of(course, assignment, "" if others else first.stem)
    return files.of_tasks({name for cell in cells for name in (cell.task, cell.grade_id)}) if cells else files


def _look_at_cells(course: Course, cells: list[SourceCell], checked: dict[str, str]) -> Iterator[Problem]:
    """Look at the cells of one notebook."""
    yield from look_at_ids(cells)
    yield from look_at_syntax(cells)
    tested = [cell for cell in cells if cell.is_grade and cell.is_code and not cell.is_solution]
    by_asserts = any(not cell.task for cell in tested)
    plain = by_asserts or not (checked or tested)
    yield from look_at_markers(cells, Markers.of(course.config), set(checked), plain=plain)
    if not plain:
        yield from look_at_demonstrations(cells, checked)


def _look_at_catalogue(course: Course, assignment: str, cells: Sequence[SourceCell]) -> Iterator[Problem]:
    path = course.catalogue_path(assignment)
    if not path.is_file():
        return
    shown = course.told(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        yield Problem(shown, f"is no text in UTF-8 (byte {error.start}).")
        return
    solution = {cell.grade_id: cell.solution for cell in cells if cell.is_solution and cell.is_code}
    graded = {cell.task for cell in cells if cell.task}
    for fault in catalogue_faults(text, solution if cells else None, graded):
        yield Problem(f"{shown}, line {fault.line}", fault.message, of_mistakes=True)


def _look_at_collected(course: Course, assignment: str, catalogue: bool) -> list[Problem]:
    """Return the problems that only show when the check files are imported, and torch with them."""
    cells = _cells_of(course, assignment)
    files = _check_files(course, assignment, cells)
    if not files.texts:
        return []
    from autograder.checking.runner.check import ChecksBroken
    from autograder.checking.runner.collection import collect
    from autograder.grading.releasing.trying import old_marks

    name = notebooks_of(course, assignment)[0].stem
    bundle = Bundle(assignment, name, "", own_checks=files.texts if files.are_own else {})
    graded = {cell.task: cell for cell in cells if cell.task}
    points = {} if files.are_own else {task: _points_of(cell) for task, cell in graded.items()}

    with bundle.checks_folder() as folder:
        try:
            checks = collect(folder, points=points)
        except ChecksBroken as broken:
            # A file beside checks stops each that imports it.
            return list(dict.fromkeys(_broken(each, folder, files) for each in broken.broken)) or [
                Problem(files.shown, f"the checks cannot be collected: {broken}.")
            ]
        rules = _rules_without_check(course, assignment, checks) if catalogue else ()
        return [*_points_differ(graded, checks, files.are_own), *old_marks(checks, files.place), *rules]


def _points_of(cell: SourceCell) -> float:
    return float(cell.node["metadata"]["nbgrader"]["points"])


def _points_differ(graded: dict[str, SourceCell], checks: Checks, are_own: bool) -> Iterator[Problem]:
    for task, cell in graded.items():
        says, worth = _points_of(cell), sum(check.points for check in checks.of(task))
        if worth != says:
            each = ", ".join(f"{check.name} {check.points:g}" for check in checks.of(task) if check.points)
            cannot = "" if are_own else f"; {says:g} cannot be dealt out so in whole and half points"
            yield Problem(
                cell.where(), f"gives {says:g} points, its checks give {worth:g} ({each or 'none'}){cannot}."
            )


def _rules_without_check(course: Course, assignment: str, checks: Checks) -> Iterator[Problem]:
    cells = _cells_of(course, assignment)
    solution = {cell.grade_id: cell.solution for cell in cells if cell.is_solution and cell.is_code}
    for mistake in course.mistakes(assignment, solution):
        rules = list(dict.fromkeys(check.rule for check in checks.of(mistake.task)))
        if mistake.caught_by not in rules:
            yield Problem(
                Places(course, assignment, "").mistake(mistake.name),
                f"{mistake.name} is to be caught by the rule `{mistake.caught_by}`, which no check of "
                f"`{mistake.task}` has (they have {', '.join(rules)}).",
                of_mistakes=True,
            )


def _broken(broken: Broken, folder: Path, files: CheckFiles) -> Problem:
    """Return what keeps a file's checks from being collected, with the author's own line."""
    if broken.error is None:
        return Problem(files.place(broken.file.name, broken.line), f"{broken.told}.")
    file, line, trace = broken.file, broken.line, broken.error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).parent == folder:
            file, line = Path(trace.tb_frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    return Problem(files.place(file.name, line), f"stops when it is imported with {broken.told}")
