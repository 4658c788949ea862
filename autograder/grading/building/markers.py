"""The marks around a solution and around hidden tests, and what nbgrader makes of them in a release."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from autograder.grading.assignment.instead import COMMENT, INSTEAD, released_instead
from autograder.grading.building.source import SourceCell
from autograder.grading.course.problem import Problem

_ALIKE = 0.9
"""The least likeness to a mark at which a comment is taken for a misspelled one."""


@dataclass(frozen=True)
class Region:
    """A pair of marks, as the course's configuration spells them, and the cells that they belong into."""

    begin: str
    end: str
    what: str

    @property
    def marks(self) -> tuple[str, str]:
        return self.begin, self.end


@dataclass(frozen=True)
class Markers:
    """The marks of solutions and hidden tests in a course, and the stub that nbgrader puts for a solution."""

    solution: Region
    hidden: Region
    stub: str

    @classmethod
    def of(cls, config: Any) -> Markers:
        """The marks of a course with this nbgrader configuration."""
        from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

        clear, tests = ClearSolutions(config=config), ClearHiddenTests(config=config)
        return cls(
            Region(clear.begin_solution_delimeter, clear.end_solution_delimeter, "solution"),
            Region(tests.begin_test_delimeter, tests.end_test_delimeter, "hidden tests"),
            clear.code_stub.get("python", ""),  # without one nbgrader says so when it releases
        )


def look_at_markers(
    cells: Sequence[SourceCell], markers: Markers, tasks: set[str], *, plain: bool = False
) -> Iterator[Problem]:
    """Marks that are not closed, not opened, misspelled, in the wrong kind of cell, or not there at all.

    In a `plain` notebook, which test cells of nbgrader's judge, what students are given may be any text. So
    it may in a cell that a person grades.
    """
    for cell in cells:
        meant = _misspelled(cell, markers)
        faults = [
            *_pairs(cell, markers.solution, meant),
            *_pairs(cell, markers.hidden, meant),
            *_as_meant(cell, meant),
        ]
        if not faults:
            faults += _instead(cell, markers)
        yield from faults
        yield from _misplaced(cell, markers)
        if not faults and not plain and cell.is_solution and not cell.is_grade and cell.is_code:
            if markers.solution.begin not in cell.source:
                yield from _unmarked(cell, markers, tasks)
            else:
                yield from _shallow(cell, markers) or _unreadable(cell, markers)


def released_source(cell: SourceCell, markers: Markers) -> str:
    """The cell as it is released, its marked solutions replaced by the stub, or by what they say."""
    lines: list[str] = []
    inside = False
    for line in released_instead(cell.source, *markers.solution.marks).split("\n"):
        if markers.solution.begin in line:
            inside = True
            lines += [line[: _indent(line)] + stub for stub in markers.stub.split("\n")]
        elif markers.solution.end in line:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def _pairs(cell: SourceCell, region: Region, meant: Mapping[int, str]) -> Iterator[Problem]:
    """Marks without a partner. A misspelled one counts as the one that is `meant`: it is told by itself."""
    opened: int | None = None
    for number, written in enumerate(cell.source.split("\n"), 1):
        line = meant.get(number, written)
        if region.begin in line:
            if opened is not None:
                yield Problem(
                    cell.where(number),
                    f"`{region.begin}` stands inside the {region.what} that line {opened} begins: "
                    f"put `{region.end}` before it.",
                )
            opened = number
        elif region.end in line:
            if opened is None:
                yield Problem(
                    cell.where(number), f"`{region.end}` without a `{region.begin}` above it in the cell."
                )
            opened = None
    if opened is not None:
        yield Problem(cell.where(opened), f"`{region.begin}` without a `{region.end}` below it in the cell.")


def _instead(cell: SourceCell, markers: Markers) -> Iterator[Problem]:
    """Misplaced marks of what is released instead, and lines below them that are no comments."""
    begin, end = markers.solution.marks
    inside, mark, given = False, 0, False
    for number, line in enumerate(cell.source.split("\n"), 1):
        if begin in line:
            inside, mark, given = True, 0, False
        elif end in line:
            if mark and not given:
                yield Problem(
                    cell.where(mark),
                    f"nothing stands below `{INSTEAD}`: write there, as comments, what students are given.",
                )
            inside, mark = False, 0
        elif INSTEAD in line:
            if not inside or mark:
                where = f"below the one in line {mark}" if mark else "outside of a solution"
                yield Problem(
                    cell.where(number),
                    f"`{INSTEAD}` stands {where}: put it once between `### {begin}` and `### {end}`, below "
                    "the right code.",
                )
            mark = number
        elif mark and line.strip():
            given = True
            if not COMMENT.fullmatch(line):
                yield Problem(
                    cell.where(number),
                    f"stands below `{INSTEAD}` and is no comment: begin the line with `# `, or move it above "
                    "the mark.",
                )


def _misspelled(cell: SourceCell, markers: Markers) -> dict[int, str]:
    """Return the lines that are nearly a mark, and which one is meant."""
    found: dict[int, str] = {}
    if not cell.is_code:
        return found
    marks = [*markers.solution.marks, *markers.hidden.marks, INSTEAD]
    for number, line in enumerate(cell.source.split("\n"), 1):
        comment = line.strip()
        if not comment.startswith("#") or any(mark in line for mark in marks):
            continue
        letters = _letters(comment)
        meant = max(marks, key=lambda mark: SequenceMatcher(None, letters, _letters(mark)).ratio())
        if SequenceMatcher(None, letters, _letters(meant)).ratio() >= _ALIKE:
            found[number] = meant
    return found


def _as_meant(cell: SourceCell, meant: Mapping[int, str]) -> Iterator[Problem]:
    lines = cell.source.split("\n")
    for number, mark in meant.items():
        shown = lines[number - 1].strip()
        yield Problem(cell.where(number), f"`{shown}` is no mark that nbgrader knows: write `### {mark}`.")


def _misplaced(cell: SourceCell, markers: Markers) -> Iterator[Problem]:
    for region, right, kind in (
        (markers.solution, cell.is_solution, "solution"),
        (markers.hidden, cell.is_grade, "graded"),
    ):
        if not right and region.begin in cell.source:
            line = next(n for n, text in enumerate(cell.source.split("\n"), 1) if region.begin in text)
            yield Problem(
                cell.where(line),
                f"`{region.begin}` in a cell that is no {kind} cell: nbgrader refuses to release it. "
                f"Make it a {kind} cell with an id (Create Assignment), or take the marks out.",
            )


def _unmarked(cell: SourceCell, markers: Markers, tasks: set[str]) -> Iterator[Problem]:
    """A cell whose name and docstring students would never see: nbgrader replaces all of it."""
    try:
        tree = cell.tree()
    except SyntaxError:
        return  # told by itself
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [node.name for node in tree.body if isinstance(node, kinds)] if tree else []
    if defined or cell.grade_id in tasks:
        begin, end = markers.solution.marks
        lost = f"the line that defines `{defined[0]}`, too" if defined else "all of it"
        yield Problem(
            cell.where(),
            f"no `### {begin}` in it: students would be given the stub in place of {lost}. "
            f"Put `### {begin}` and `### {end}` around what they are to write.",
        )


def _shallow(cell: SourceCell, markers: Markers) -> list[Problem]:
    """A mark that stands further out than the solution: the stub would stand there, outside the function."""
    lines = cell.source.split("\n")
    found = []
    for number, line in enumerate(lines, 1):
        first = next((text for text in lines[number:] if text.strip()), "")
        if markers.solution.begin in line and _indent(line) < _indent(first):
            found.append(
                Problem(
                    cell.where(number),
                    f"`{markers.solution.begin}` stands further left than the solution, and the stub that "
                    "students are given stands where the mark does: move it in.",
                )
            )
    return found


def _unreadable(cell: SourceCell, markers: Markers) -> Iterator[Problem]:
    """A cell that is right, but no Python once the stub stands in the solution's place."""
    released = SourceCell(
        cell.number, type(cell.node)({**cell.node, "source": released_source(cell, markers)}), cell.file
    )
    try:
        cell.tree()
    except SyntaxError:
        return  # told by itself
    try:
        released.tree()
    except SyntaxError as error:
        yield Problem(
            cell.where(),
            f"what students are given is no Python (line {error.lineno} of it: {error.msg}): "
            f"do `### {markers.solution.begin}` and `### {markers.solution.end}` take out whole blocks, "
            "and stand as far in as they?",
        )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text).upper()
