"""Points lost to something else than the exercise: for a person, who may decide otherwise.

Nothing here changes a score. Each finding has a kind of its own, and is told only of tasks that lost points:
in a notebook that test cells judge, of all answers where one of the tests did.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.util import find_spec

from autograder.cell_source import parse_cell
from autograder.checking.remote.errors import StudentError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.matching import definitions
from autograder.grading.assignment.rebuild import Rebuilt, conflict_line
from autograder.grading.handed_in.names import listed, shown
from autograder.verdict import Finding, TaskVerdict

_INDENTATION = ("IndentationError", "TabError")


def technical_losses(
    rebuilt: Rebuilt,
    bundle: Bundle,
    tasks: Iterable[TaskVerdict],
    errors: Mapping[str, StudentError],
    files: Collection[str],
) -> list[Finding]:
    """The findings of a judged submission; `files` are the paths of those beside the notebook."""
    sources = rebuilt.sources
    lost = {task.task for task in tasks if task.score < task.max_score}
    any_test = bool(lost & bundle.test_cells.keys())
    found: list[Finding] = []
    for name, stub in bundle.stubs.items():
        # Nobody says which test cell is about which answer.
        concerned = name in lost or (any_test and name not in bundle.tasks)
        source = sources.get(name, stub)
        if not concerned or source == stub:
            continue
        error, tree, wanted = errors.get(name), parse_cell(source), _asked(name, stub)
        if conflict_line(source):
            found.append(Finding("conflict", _conflict(name)))
        elif wanted is not None and _is_split(rebuilt, name, source, wanted.name):
            found.append(Finding("split_cell", _split(name)))
        elif tree is None and error is not None and error.type in _INDENTATION:
            found.append(Finding("indentation", _indentation(name)))
        elif tree is not None:
            missing = sorted(_missing_modules(tree, files))
            if missing and error is not None and error.type == "ModuleNotFoundError":
                found.append(Finding("missing_module", _module(name, missing)))
            if wanted is not None and (other := _renamed(wanted, source, bundle, sources)):
                found.append(Finding("renamed_function", _renamed_said(name, other, wanted.name)))
    return found


def _conflict(task: str) -> str:
    return f"The cell `{task}` holds the marks of a merge conflict, which somebody has to resolve."


def _split(task: str) -> str:
    return (
        f"The cell `{task}` holds the beginning of an answer; the rest is in a cell that the student "
        "added. Joined together, the two can be read."
    )


def _indentation(task: str) -> str:
    return f"The cell `{task}` did not run because of its indentation alone."


def _module(task: str, names: list[str]) -> str:
    return (
        f"The cell `{task}` imports {listed([shown(name) for name in names], of='module')}, which was not "
        "handed in: one of the student's own files?"
    )


def _renamed_said(task: str, other: str, wanted: str) -> str:
    return f"The cell `{task}` defines {shown(other)} with as many parameters, and no `{wanted}`: renamed?"


def _is_split(rebuilt: Rebuilt, task: str, source: str, wanted: str) -> bool:
    """Return whether the next cell, one that the student added, completes the cell and is nothing alone."""
    steps = list(rebuilt.steps)
    place = next((number for number, step in enumerate(steps) if step.name == task), len(steps))
    added = steps[place + 1] if place + 1 < len(steps) and steps[place + 1].role == "added" else None
    if added is None or parse_cell(added.source) is not None:
        return False
    return wanted in {node.name for node in definitions(f"{source}\n{added.source}")}


def _missing_modules(tree: ast.Module, files: Collection[str]) -> Iterator[str]:
    """The modules that are imported and are neither installed nor among the files."""
    beside = {path.partition("/")[0].removesuffix(".py") for path in files}
    for node in ast.walk(tree):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
            else []
        )
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in beside and not _installed(top):
                yield top


def _installed(top: str) -> bool:
    """Return whether there is such a module here; a name without a dot is looked for, not imported."""
    try:
        return top in sys.modules or find_spec(top) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _asked(task: str, stub: str) -> ast.FunctionDef | ast.ClassDef | None:
    """Return the function or class that a cell asks for: the task's, or the only one in its stub."""
    found = definitions(stub)
    return next((node for node in found if node.name == task), found[0] if len(found) == 1 else None)


def _renamed(
    wanted: ast.FunctionDef | ast.ClassDef, source: str, bundle: Bundle, sources: Mapping[str, str]
) -> str:
    """Another function in the cell with the parameters of the one asked for, where that one is nowhere."""
    trees = [each for each in map(parse_cell, sources.values()) if each is not None]
    if any(wanted.name in set(_bound(each)) for each in trees):
        return ""
    known = {node.name for text in bundle.stubs.values() for node in definitions(text)}
    for node in definitions(source):
        if node.name not in known and type(node) is type(wanted) and _size(node) == _size(wanted):
            return node.name
    return ""


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a cell defines or assigns anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def _size(node: ast.FunctionDef | ast.ClassDef) -> int:
    """Return the number of parameters of a function, or of a class's `__init__`."""
    if isinstance(node, ast.FunctionDef):
        return len(node.args.posonlyargs) + len(node.args.args)
    made = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    return max((_size(each) for each in made), default=0)
