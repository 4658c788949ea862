"""A remark on defaults that keep what one call puts into them: `def f(x, seen=[])`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.cell_source import parse_cell

_CONTAINERS = (ast.List, ast.Dict, ast.Set)
_MAKERS = ("list", "dict", "set")
_WRITING = ("append", "extend", "insert", "add", "update", "setdefault", "pop", "clear")


def kept_default(source: str) -> str:
    """Return a sentence about the first default of a cell that its function writes into; `""` if none is.

    Python makes a default once, so a later call finds what an earlier one has put there.
    """
    tree = parse_cell(source)
    for function in ast.walk(tree) if tree is not None else ():
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            written = {name for node in ast.walk(function) for name in _written(node)}
            for name, default in _defaults(function.args):
                if _is_container(default) and name in written:
                    told = f"Line {function.lineno} gives `{name}` the default `{ast.unparse(default)}`"
                    return f"{told}, made once: what one call puts into it is still there in the next."
    return ""


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    placed = [*arguments.posonlyargs, *arguments.args]
    first = len(placed) - len(arguments.defaults)
    yield from ((each.arg, default) for each, default in zip(placed[first:], arguments.defaults, strict=True))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield each.arg, default


def _is_container(default: ast.expr) -> bool:
    match default:
        case ast.Call(func=ast.Name(id=name)):
            return name in _MAKERS
    return isinstance(default, _CONTAINERS)


def _written(node: ast.AST) -> Iterator[str]:
    """Give the name that a node writes into, if it does: by a method, an index or `+=`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _WRITING:
            yield name
        case (
            ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) | ast.AugAssign(target=ast.Name(id=name))
        ):
            yield name
