"""Habits in an answer that cost nothing and are better left: it prints, or keeps graphs without need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.cell_source import parse_cell

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PRINTING = ("print", "display", "pprint")
_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.ExceptHandler)


@dataclass(frozen=True)
class Habit:
    """One habit: its kind, as findings have it, and a sentence for the student."""

    kind: str
    message: str


def habits(task: str, source: str, printed: str) -> list[Habit]:
    """Return the habits of the cell of a task; `printed` is what it printed when it was called.

    What only warns prints, too: so both the cell and what it printed have to say so. A print under a
    condition may be a guard that a check's odd numbers have set off.
    """
    tree = parse_cell(source)
    found = []
    if tree is not None and printed.strip() and "Warning" not in printed:
        calls = _calls_in_definitions(tree, unconditional=True)
        lines = sorted({call.lineno for call in calls if _name(call) in _PRINTING})
        if lines:
            where = f" in line {lines[0]}" if len(lines) == 1 else ""
            found.append(
                Habit(
                    "prints",
                    f"`{task}` prints when it is called{where}. That costs no points, but in training it "
                    "would print at every step: take it out once you trust the code.",
                )
            )
    if tree is not None:
        kept = sorted(call.lineno for call in _calls_in_definitions(tree) if _keeps_the_graph(call))
        if kept:
            found.append(
                Habit(
                    "retain_graph",
                    f"Line {kept[0]} of `{task}` keeps the graph after the backward pass, by "
                    "`retain_graph=True`. That costs no points, but memory: it is needed only where a graph "
                    "is gone through twice. If torch asked for it: is there a tensor to detach?",
                )
            )
    return found


def _calls_in_definitions(tree: ast.Module, *, unconditional: bool = False) -> Iterator[ast.Call]:
    """Give the calls in the cell's functions and classes: what stands beside them is a student's own test."""
    inside = [statement for statement in tree.body if isinstance(statement, _DEFINITIONS)]
    nodes: list[ast.AST] = [*inside]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Call):
            yield node
        if not (unconditional and isinstance(node, _CONDITIONS)):
            nodes += ast.iter_child_nodes(node)


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _keeps_the_graph(call: ast.Call) -> bool:
    named = call.func.attr if isinstance(call.func, ast.Attribute) else _name(call)
    return named in ("backward", "grad") and any(
        each.arg == "retain_graph" and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in call.keywords
    )
