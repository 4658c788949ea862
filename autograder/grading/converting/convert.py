"""Converting a task's test cells into a check, which is proved beside them before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import nbformat
from nbformat import NotebookNode

from autograder.cell_source import bound_names, parse_cell
from autograder.errors import UserError
from autograder.grading.assignment.cells import tags
from autograder.grading.building.demonstrations import look_at_demonstrations
from autograder.grading.building.examine import chosen_assignments
from autograder.grading.building.markers import Markers
from autograder.grading.building.source import MAY_FAIL, SourceCell, read_source
from autograder.grading.converting.cells import Converted, check_files, convert_cell
from autograder.grading.converting.names import CannotConvert, Names, is_test_of
from autograder.grading.course.course import Course
from autograder.grading.course.problem import Unfit
from autograder.grading.records.store import staged as written_beside

_IMPORT = "from autograder import check"
_GIVEN = {"grade": False, "solution": False, "task": False, "locked": True, "schema_version": 3} | {
    "grade_id": "import_check"
}


@dataclass(frozen=True)
class Conversion:
    """A notebook and check files as they are to be written, and what stays as it is."""

    task: str
    path: Path
    notebook: NotebookNode
    files: Mapping[str, str]
    """The check files, by name."""
    converted: tuple[Converted, ...]
    stays: tuple[str, ...]
    """The test cells that are not converted, each with its place and the reason."""
    may_stop: tuple[str, ...]
    """The cells that use the task and may now stop without stopping the notebook, by their places."""

    @property
    def points(self) -> float:
        return sum(each.points for each in self.converted)

    @cached_property
    def texts(self) -> dict[Path, str]:
        """The files to be written."""
        checks = {self.path.parent / "checks" / name: text for name, text in self.files.items()}
        return {self.path: f"{nbformat.writes(self.notebook).rstrip()}\n", **checks}

    def write(self, course: Course) -> None:
        """Write all of it, or nothing."""
        (self.path.parent / "checks").mkdir(exist_ok=True)
        with ExitStack() as written:
            for file, text in self.texts.items():
                written.enter_context(written_beside(file, text, course.access))


def plan(
    course: Course, assignment: str, named: str, unfair: Mapping[str, str] = MappingProxyType({})
) -> Conversion:
    """Return what the conversion of a task writes. Raises `UserError` where there is nothing to convert.

    The cells whose checks are `unfair` stay as they are, with the reason.
    """
    (assignment,) = chosen_assignments(course, [assignment])
    for path in sorted(course.folder("source", ".", assignment).glob("*.ipynb")):
        cells, problems = read_source(path, course.told(path))
        if problems:
            raise Unfit(problems)
        if task := _task(cells, named):
            return _planned(course, path, cells, task, unfair)
    raise UserError(
        f"No solution cell of {assignment} defines `{named}`, and none has this id: name a function, a "
        "class or a variable that students write."
    )


def _task(cells: Sequence[SourceCell], named: str) -> str:
    """Return the function, class or variable named, itself or by its cell's id; `""` if there is none."""
    for cell in cells:
        tree = parse_cell(cell.source) if cell.is_solution and cell.is_code else None
        defined = list(dict.fromkeys(bound_names(tree.body))) if tree else []
        if named in defined:
            return named
        if named == cell.grade_id and defined:
            if len(defined) > 1:
                raise UserError(f"{cell.where()} defines {', '.join(defined)}: name one of them.")
            return defined[0]
    return ""


def _planned(
    course: Course, path: Path, cells: Sequence[SourceCell], task: str, unfair: Mapping[str, str]
) -> Conversion:
    file, names, marks = course.told(path), Names.of(cells), Markers.of(course.config).hidden
    if any(cell.task == task for cell in cells):
        raise UserError(f'{file} has a cell `check("{task}")` already: there is nothing to convert.')
    for name in (f"test_{task}.py", f"hidden_{task}.py"):
        if (path.parent / "checks" / name).exists():
            raise UserError(
                f"{course.told(path.parent / 'checks' / name)} is there already: move it away first."
            )
    converted, stays = list[Converted](), list[str]()
    for at, cell in enumerate(cells):
        if is_test_of(cell, task, names.variables):
            try:
                if cell.grade_id in unfair:
                    raise CannotConvert(unfair[cell.grade_id])
                converted.append(convert_cell(cell, names, cells[at + 1 :], marks))
            except CannotConvert as reason:
                stays.append(f"{cell.where(reason.line)}: it stays a test cell: {reason}.")
    if not converted:
        raise UserError("\n".join([*stays, f"No test cell of {file} that uses `{task}` can be converted."]))
    files = check_files(task, converted, names)
    notebook, may_stop = _notebook(path, cells, converted, task)
    return Conversion(task, path, notebook, files, tuple(converted), tuple(stays), tuple(may_stop))


def _notebook(
    path: Path, cells: Sequence[SourceCell], converted: Sequence[Converted], task: str
) -> tuple[NotebookNode, list[str]]:
    """Return the notebook with the check in place of the cells, and the places of cells that may now stop."""
    notebook = nbformat.read(path, as_version=4)
    kept, first, others = [], converted[0].cell.number, {each.cell.number for each in converted[1:]}
    graded = [cell.task for cell in cells if cell.task]
    stops = {problem.where for problem in look_at_demonstrations(cells, [*graded, task])}
    may_stop = []
    for number, (cell, node) in enumerate(zip(cells, notebook.cells, strict=True), 1):
        if number == first:
            points = sum(each.points for each in converted)
            node |= {"source": f'check("{task}")', "outputs": [], "execution_count": None}
            node["metadata"]["nbgrader"] |= {"points": points if points % 1 else int(points), "locked": True}
        elif any(place.startswith(f"{cell.where()}, line ") for place in stops):
            node["metadata"]["tags"] = [*tags(node), MAY_FAIL]
            may_stop.append(cell.where())
        if number not in others:
            kept.append(node)
    if not any(re.search(r"^\s*from autograder import .*\bcheck\b", cell.source, re.M) for cell in cells):
        cell = nbformat.v4.new_code_cell(_IMPORT, metadata={"nbgrader": _GIVEN})
        if notebook["nbformat_minor"] < 5:
            del cell["id"]
        kept.insert(next(at for at, node in enumerate(kept) if node["cell_type"] == "code"), cell)
    notebook.cells = kept
    return notebook, may_stop
