"""Reads a solution cell for calls that "from scratch" forbids.

The worker also reports which kernels ran, but that is the student's word; this reading happens on
the trusted side. It looks at what is used, not at what is mentioned: an annotation, an
`isinstance` test, a comparison, a comment or a docstring that names a forbidden module is no use of it.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from autograder.cell_source import parse_cell

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TORCH_ROOTS = {"torch", "nn", "F"}


def forbidden_uses(cells: Mapping[str, str], task: str, pattern: str) -> list[tuple[str, int, str]]:
    """Cell, line and dotted name of every use of torch in the task whose last part `pattern` fully matches.

    `cells` are the sources of the student's cells, in order. Read are the definition named `task` and the
    statements, in whichever cell, that define what it uses; a comparison with torch that a student left
    below it is no part of the answer. A cell that does not parse uses nothing: it does not run either.
    """
    statements = _statements(cells)
    reader = _Reader(re.compile(pattern))
    for _, statement in statements:
        for node in statement.naming:
            reader.learn_names(node)
    if any(statement.is_definition and task in statement.bound for _, statement in statements):
        reader.forbidden_names.pop(task, None)  # the student's own definition took the imported name's place
    found = set[tuple[str, int, str]]()
    for name, statement in _reachable(statements, task):
        reader.found.clear()
        try:
            reader.visit(statement.node)
        except RecursionError:
            continue
        found |= {(name, line, used) for line, used in reader.found}
    return sorted(found, key=lambda use: (use[0] != task, use))


def cells_used(cells: Mapping[str, str], task: str) -> set[str]:
    """Return the cells that define a task and, at any remove, what it uses; `cells` are sources by name."""
    return {name for name, _ in _reachable(_statements(cells), task)}


def _statements(cells: Mapping[str, str]) -> list[tuple[str, _Statement]]:
    """Return the top-level statements of all cells, each with its cell."""
    return [(name, statement) for name, source in cells.items() for statement in _parsed(source)]


@dataclass(frozen=True, eq=False)
class _Statement:
    """A top-level statement, and what is found out about it once for all checks."""

    node: ast.stmt

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, _DEFINITIONS)

    @cached_property
    def naming(self) -> list[ast.Import | ast.ImportFrom | ast.Assign]:
        """Statements in it that may give torch and its parts other names."""
        kinds = (ast.Import, ast.ImportFrom, ast.Assign)
        return [node for node in ast.walk(self.node) if isinstance(node, kinds)]

    @cached_property
    def bound(self) -> set[str]:
        return _bound(self.node)

    @cached_property
    def global_names(self) -> set[str]:
        return _global_names(self.node)


@lru_cache(maxsize=64)  # the same cells are read for every check
def _parsed(source: str) -> tuple[_Statement, ...]:
    tree = parse_cell(source)
    return tuple(map(_Statement, tree.body)) if tree else ()


def _reachable(statements: list[tuple[str, _Statement]], task: str) -> list[tuple[str, _Statement]]:
    """The top-level statements that make up the task: its own and those whose names it comes to use."""
    by_name: dict[str, list[tuple[str, _Statement]]] = {}
    for cell, statement in statements:
        for name in statement.bound:
            if statement.is_definition:
                by_name[name] = [(cell, statement)]  # an earlier definition of that name is out of use
            else:
                by_name.setdefault(name, []).append((cell, statement))
    todo, seen, reached = [task], set[str](), list[tuple[str, _Statement]]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for cell, statement in by_name.get(name, []):
            if all(statement is not other for _, other in reached):
                reached.append((cell, statement))
                todo += statement.global_names
    return reached


def _bound(node: ast.AST) -> set[str]:
    """The names that a top-level statement defines, or whose attributes or items it sets."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    names = set[str]()
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        names |= {root.id} if isinstance(root, ast.Name) else set()
    for child in ast.iter_child_nodes(node):
        names |= _bound(child)
    return names


def _global_names(node: ast.stmt) -> set[str]:
    """The names that a statement looks up in the notebook: not its arguments and local variables."""

    def looked_up(table: symtable.SymbolTable) -> set[str]:
        here = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())
        }
        return here.union(*(looked_up(child) for child in table.get_children()))

    try:
        return looked_up(symtable.symtable(ast.unparse(node), "<cell>", "exec"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()


class _Reader(ast.NodeVisitor):
    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.roots = set(_TORCH_ROOTS)
        self.forbidden_names: dict[str, str] = {}
        self.found: list[tuple[int, str]] = []

    def learn_names(self, node: ast.Import | ast.ImportFrom | ast.Assign) -> None:
        """Other names for torch and its parts: `import torch as t`, `from torch.nn import …`, `net = nn`."""
        if isinstance(node, ast.Import):
            self.roots.update(a.asname or "torch" for a in node.names if a.name.split(".")[0] == "torch")
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] == "torch":
                for alias in node.names:
                    name = alias.asname or alias.name
                    if self.pattern.fullmatch(alias.name):
                        self.forbidden_names[name] = f"{node.module}.{alias.name}"
                    else:
                        self.roots.add(name)
        elif isinstance(node.value, (ast.Name, ast.Attribute)) and self._dotted(node.value):
            self.roots.update(target.id for target in node.targets if isinstance(target, ast.Name))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self._dotted(node)
        if dotted and self.pattern.fullmatch(node.attr):
            self.found.append((node.lineno, dotted))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.forbidden_names and isinstance(node.ctx, ast.Load):
            self.found.append((node.lineno, self.forbidden_names[node.id]))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("isinstance", "issubclass"):
            self.visit(node.args[0]) if node.args else None
            return
        if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
            base, attribute = self._dotted(node.args[0]), str(node.args[1].value)
            if base and self.pattern.fullmatch(attribute):
                self.found.append((node.lineno, f"{base}.{attribute}"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            if not isinstance(part, (ast.Name, ast.Attribute)):
                self.visit(part)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """`case nn.RNN():` is a test of a type."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """An annotation is no use."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    def _dotted(self, node: ast.expr) -> str:
        """`nn.functional.x` as text if it starts at torch, else ""."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.roots:
            return ".".join([node.id, *reversed(parts)])
        return ""
