"""The Python in a notebook's cell, which may hold lines that only IPython understands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

_MAGIC = re.compile(r"^(\s*+)(?:[\w.][\w., ]*+=\s*+)?[%!?].*$|^(\s*+)[\w.*]++\?{1,2}\s*$")
"""`%magic`, `!shell`, `x = !shell`, `?help` and `help?`; the first line of a `%%magic`, too.

The quantifiers are possessive, and no two of them match the same characters one after the other: a line of
200,000 spaces in a submission would else be tried at every split.
"""

_LINK = re.compile(r"\.(?!\d)|\{")
MAX_LINKS = 10_000
"""The most `links` of one source: what Python takes a twentieth of a second to parse at worst."""


def links(source: str) -> int:
    """Return how many attributes and fields of f-strings a source has at most.

    Python's parser needs the square of their number where they hang together, as `import a.b.b.b…` does: for
    100,000 characters of it some seconds, and nothing can interrupt it.
    """
    return len(_LINK.findall(source))


def parse_cell(source: str) -> ast.Module | None:
    """Return the cell's syntax tree, its lines numbered as in the cell; `None` if it does not parse.

    Lines for IPython count as `pass`; where that does not parse either, as empty ones: a line that begins
    with `%` may be the rest of the one before.
    """
    for text in (source, _without_magics(source, "pass"), _without_magics(source, "")):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _without_magics(source: str, instead: str) -> str:
    return "\n".join(
        _MAGIC.sub(lambda found: f"{found[1] or found[2] or ''}{instead}", line)
        for line in source.splitlines()
    )


def bound_names(body: Sequence[ast.AST]) -> Iterator[str]:
    """Return the names that statements bind where they stand, not inside functions and classes."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.Lambda():
                pass
            case _:
                yield from bound_names(list(ast.iter_child_nodes(node)))
