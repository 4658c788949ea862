"""A remark on lists that are added to as if by `append`: `steps += step`, `steps.extend(step)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.cell_source import parse_cell

_OF_LISTS = (
    "list",
    "tolist",
    "range",
    "map",
    "zip",
    "sorted",
    "reversed",
    "split",
    "chunk",
    "unbind",
    "tuple",
)
"""Functions and methods that give what a list is meant to be lengthened by."""


def taken_apart(source: str) -> str:
    """Return a sentence about the first list of a cell that something is added to by its parts; `""` if none.

    Of a tensor these are its rows. A list that is written out, or is made by a known call, is meant so.
    """
    tree = parse_cell(source)
    for function in ast.walk(tree) if tree is not None else ():
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lists = {name for node in ast.walk(function) for name in _begun(node)}
            for node in ast.walk(function):
                name, how, added = _lengthened(node)
                if name in lists and added is not None and not _is_list(added):
                    return (
                        f"Line {added.lineno} adds to the list `{name}` by {how}, which takes a tensor apart "
                        "along its first dimension; `append` adds it whole."
                    )
    return ""


def _begun(node: ast.AST) -> Iterator[str]:
    """Give the names that a node makes empty lists of: `a = []`, `a, b = [], []`."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for one, value in pairs:
            if isinstance(one, ast.Name) and isinstance(value, ast.List) and not value.elts:
                yield one.id


def _lengthened(node: ast.AST) -> tuple[str, str, ast.expr | None]:
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=added):
            return name, "`+=`", added
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[added]):
            return name, "`extend`", added
    return "", "", None


def _is_list(added: ast.expr) -> bool:
    match added:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _OF_LISTS
    return isinstance(added, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.BinOp))
