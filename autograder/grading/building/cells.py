"""The cells of a source notebook: their ids, their Python, and what they grade."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from autograder.grading.building.source import MAY_FAIL, SourceCell
from autograder.grading.course.problem import Problem


def look_at_ids(cells: Sequence[SourceCell]) -> Iterator[Problem]:
    """Ids that two cells have, and nbgrader's own rules for what a cell's metadata must say."""
    from nbgrader.nbgraderformat import (
        MetadataValidator,
        SchemaTooNewError,
        SchemaTooOldError,
        ValidationError,
    )

    seen: dict[str, SourceCell] = {}
    for cell in cells:
        try:
            MetadataValidator().validate_cell(cell.node)
        except SchemaTooOldError:
            yield Problem(cell.file, f"was made with an older nbgrader: run `nbgrader update {cell.file}`.")
            return
        except SchemaTooNewError:
            yield Problem(cell.file, "was made with a newer nbgrader than this one, which cannot read it.")
            return
        except ValidationError as error:
            yield Problem(cell.where(), f"nbgrader refuses its metadata: {str(error).splitlines()[0]}")
        except (KeyError, TypeError, AttributeError) as error:
            yield Problem(cell.where(), f"its nbgrader metadata lack a field or have a wrong one: {error}.")
        if not cell.grade_id:
            continue
        first = seen.setdefault(cell.grade_id, cell)
        if first is not cell:
            yield Problem(
                f"{cell.file}, cell {cell.number}",
                f"has the id `{cell.grade_id}`, which cell {first.number} has, too: "
                "give one of them another id, or delete the copy.",
            )


def look_at_syntax(cells: Sequence[SourceCell]) -> Iterator[Problem]:
    """Cells that are no Python."""
    for cell in cells:
        if MAY_FAIL in cell.tags:
            continue
        try:
            cell.tree()
        except SyntaxError as error:
            text = cell.source.split("\n")
            line = error.lineno or 1
            shown = (
                f" (`{text[line - 1].strip()}`)" if 0 < line <= len(text) and text[line - 1].strip() else ""
            )
            yield Problem(cell.where(line), f"is no Python: {error.msg}{shown}.")
        except ValueError as error:  # a null byte
            yield Problem(cell.where(), f"is no Python: {error}.")


def look_at_tasks(
    cells: Sequence[SourceCell], checked: Mapping[str, str], expected: str
) -> Iterator[Problem]:
    """Tasks with checks and no cell that grades them, and the reverse.

    `checked` has the check file of each task, `expected` is the folder where they would lie.
    """
    graded = {cell.task: cell for cell in cells if cell.task}
    for task, file in checked.items():
        if task not in graded and cells:
            call = next((cell for cell in cells if _mentions_check(cell, task)), None)
            told = (
                f'{call.name} calls `check("{task}")`, but is no graded cell that holds nothing else: '
                "its points would be lost"
                if call
                else f'no graded cell of {cells[0].file} is just `check("{task}")`, so that nothing is graded'
            )
            yield Problem(file, f"{told}. Make one (Create Assignment: Autograder tests), with the points.")
    for task, cell in graded.items():
        if task not in checked:
            yield Problem(
                cell.where(), f"there are no checks of `{task}`: they belong into {expected}/test_{task}.py."
            )


def defined_in(cells: Sequence[SourceCell]) -> frozenset[str]:
    """Return the names that a notebook's code defines; none if that cannot be said of all its cells."""
    found: set[str] = set()
    for cell in cells:
        try:
            tree = cell.tree()
        except (SyntaxError, ValueError):
            return frozenset()
        if tree is None and cell.is_code:
            return frozenset()  # a magic's cell: what that does, nobody knows
        for node in ast.walk(tree) if tree else ():
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.alias(name="*") | ast.Call(ast.Name("exec")):
                    return frozenset()
                case ast.Call(ast.Attribute(attr="run_line_magic"), [ast.Constant("run" | "pylab"), *_]):
                    return frozenset()
                case ast.alias():
                    found.add(node.asname or node.name.partition(".")[0])
    return frozenset(found)


def _mentions_check(cell: SourceCell, task: str) -> bool:
    try:
        tree = cell.tree()
    except (SyntaxError, ValueError):
        return False
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Call(ast.Name("check"), [ast.Constant(str(named)), *_]) if named == task:
                return True
    return False
