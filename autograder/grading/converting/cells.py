"""A check from each test cell of a task: its title, its points, its statements, hidden ones apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autograder.grading.building.markers import Region
from autograder.grading.building.source import SourceCell
from autograder.grading.converting.names import (
    CannotConvert,
    Names,
    imported,
    made_and_used,
    names_read,
)
from autograder.grading.converting.statements import Statements

_TESTS = re.compile(r"\b(?:expect_\w+|fail)\(")
_INSTEAD = re.compile(r"#+\s*HIDDEN:\s*(.+)")
"""The text in a hidden test's place, as its author says it."""
_KEPT_BACK = "It also holds for inputs that are kept back."


@dataclass(frozen=True)
class Converted:
    """One test cell as a check, or as two of which the second is hidden."""

    cell: SourceCell
    points: float
    title: str
    visible: tuple[str, ...]
    """The lines of the check that students get, empty if there is none."""
    hidden: tuple[str, ...] = ()
    instead: str = _KEPT_BACK

    @property
    def name(self) -> str:
        return "test_" + re.sub(r"\W", "_", self.cell.grade_id)


def convert_cell(cell: SourceCell, names: Names, later: Iterable[SourceCell], marks: Region) -> Converted:
    """Return a test cell as a check. Raises `CannotConvert` with the line and the reason."""
    points = float(cell.node["metadata"]["nbgrader"].get("points", 0))
    if points <= 0 or points * 2 % 1:
        raise CannotConvert(f"it is worth {points:g} points; a check is made of whole or half ones")
    if used := made_and_used(cell, later):
        raise CannotConvert(f"it makes `{used[0]}`, which {used[1].name} uses")
    try:
        body = list(ast.parse(cell.source).body)
    except SyntaxError as error:
        raise CannotConvert(f"it is no plain Python ({error.msg})") from None
    first = cell.source.split("\n")[0]
    title = first[2:].strip() if first.startswith("# ") else f"The tests of the cell {cell.grade_id} pass."
    match body:
        case [ast.Expr(ast.Constant(str(text))), *rest] if text.strip():
            title, body = " ".join(text.split()), rest
    _refuse_partial(body)
    hidden_lines = _hidden_lines(cell.source, marks)
    here = {key: each for node in body for key, each in imported(node).items()}
    statements = Statements(replace(names, imports={**names.imports, **here}))
    visible = statements.begin(body, cell)
    hidden = list(visible)
    for node in body:
        lines = statements.convert(node)
        if node.lineno in hidden_lines:
            hidden += lines
        else:
            visible += lines
            hidden += [] if _TESTS.search("\n".join(lines)) else lines
    if not hidden_lines:
        hidden = []
    if not _TESTS.search("\n".join(visible)):
        visible = []
    said = next(
        (found[1] for line in cell.source.split("\n") if (found := _INSTEAD.search(line))), _KEPT_BACK
    )
    return Converted(cell, points, title, tuple(visible), tuple(hidden), said.strip())


def check_files(task: str, converted: Sequence[Converted], names: Names) -> dict[str, str]:
    """Return the texts of the check files by name: what students get, and hidden checks if there are any."""
    shown, hidden = list[str](), list[str]()
    for each in converted:
        if each.visible:
            marks = [f"@points({0 if each.hidden else each.points:g})", f'@rule("{_rule(each.visible)}")']
            shown.append(_check(each.name, marks, each.title, each.visible, names))
        if each.hidden:
            marks = [
                f"@points({each.points:g})",
                f'@rule("{_rule(each.hidden)}")',
                f"@hidden({each.instead!r})",
            ]
            marks += [f'@needs("{each.name}")'] if each.visible else []
            hidden.append(
                _check(f"{each.name}_hidden", marks, f"{each.title.rstrip('.')} (hidden)", each.hidden, names)
            )
    if not shown:
        lines, marks = [f"submission.{task}.attribute()"], ["@points(0)", '@rule("error")', "@teaching_only"]
        shown.append(_check("test_there", marks, f"`{task}` is there.", lines, names))
    files = {f"test_{task}.py": _file(task, shown, converted, names)}
    if hidden:
        files[f"hidden_{task}.py"] = _file(task, hidden, converted, names)
    return files


def _file(task: str, checks: Sequence[str], converted: Sequence[Converted], names: Names) -> str:
    """Return a file of checks, with the imports that they need."""
    used = {each.id for check in checks for each in ast.walk(ast.parse(check)) if isinstance(each, ast.Name)}
    inside = [
        each
        for one in converted
        for node in ast.parse(one.cell.source).body
        for each in imported(node).items()
    ]
    imports = sorted({line for name, line in [*names.imports.items(), *inside] if name in used})
    language = sorted(used & _LANGUAGE)
    head = [f'"""`{task}`, as the test cells of the notebook judged it."""', ""]
    head += [*imports, ""] if imports else []
    head += [f"from autograder.checking import {', '.join(language)}"]
    return "\n".join([*head, *(f"\n\n{check}" for check in checks)]) + "\n"


_LANGUAGE = frozenset(
    {
        "case",
        "computed",
        "expect_equal",
        "expect_raises",
        "expect_table",
        "fail",
        "hidden",
        "needs",
        "points",
        "rule",
    }
    | {"teaching_only"}
)


def _check(name: str, marks: Sequence[str], title: str, lines: Sequence[str], names: Names) -> str:
    text = "\n".join(lines)
    used = names_read(ast.parse(text).body)
    asked = [f"{each} = submission.{each}.plain" for each in sorted(used & names.own)]
    asked += [f"{each} = submission.{each}.value" for each in sorted(used & names.variables)]
    doc = title if title.endswith((".", "!", "?")) else f"{title}."
    quoted = f'"""{doc}"""' if '"' not in doc and "\\" not in doc else repr(doc)
    body = [quoted, *asked, *lines]
    return "\n".join([*marks, f"def {name}(submission):", *(f"    {line}" for line in body)])


def _rule(lines: Iterable[str]) -> str:
    return "values" if any(re.search(r"expect_(equal|table)\(|fail\(", line) for line in lines) else "error"


def _refuse_partial(body: Sequence[ast.stmt]) -> None:
    """Raise `CannotConvert` for a cell whose last line is a number of points, as nbgrader has it."""
    match body[-1:]:
        case [ast.Expr(value)] if not isinstance(value, ast.Call):
            raise CannotConvert("its last line gives a part of the points", body[-1])


def _hidden_lines(source: str, marks: Region) -> set[int]:
    """Return the numbers of the lines between the marks of hidden tests."""
    found, inside = set[int](), False
    for number, line in enumerate(source.split("\n"), 1):
        inside = (inside or marks.begin in line) and marks.end not in line
        if inside:
            found.add(number)
    return found
