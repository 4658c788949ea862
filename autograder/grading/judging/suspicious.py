"""Code in students' cells that reaches into the process it runs in or for a network: no exercise needs it.

What ran inside a call, and what a module registers, only the student's process can tell. No score follows
from this reading: it is a finding, so that a person looks at the cell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autograder.cell_source import parse_cell
from autograder.verdict import Finding

_MODULES = ("ctypes", "_ctypes", "cffi", "torch._C", "autograder.worker", "autograder.protocol")
"""Modules that reach into the process, imported or named in a text."""
_NETWORK = ("requests", "urllib.request", "http.client", "socket", "httpx", "aiohttp")
"""Modules that ask for a network, of which a submission has none."""
_NAMES = frozenset({
    "CDLL", "ctypeslib", "_cdata", "_getframe", "currentframe", "settrace", "setprofile", "extract_stack",
    "__subclasses__", "__globals__", "__closure__", "__code__", "f_back", "getclosurevars", "cell_contents",
    "get_objects", "get_referrers", "get_referents", "_python_dispatch",
})  # fmt: skip
"""Names of what reaches the caller, other objects of the process, or running code."""


def unusual_code(cells: Mapping[str, str]) -> list[Finding]:
    """Return a finding for each cell with code that no exercise needs, with the first such place."""
    findings = []
    for name, source in cells.items():
        tree = parse_cell(source)
        places = sorted(_places(tree)) if tree is not None else []
        if places:
            line, what = places[0]
            told = (
                f"Line {line} of the cell `{name}` uses `{what}`, which nothing in this course needs: see "
                "what it is for."
            )
            findings.append(Finding("unusual_code", told))
    return findings


def _places(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names, lineno=line):
                yield from ((line, f"import {each.name}") for each in names if _reaches(each.name))
            case ast.ImportFrom(module=str(module), names=names, lineno=line):
                for each in names:
                    if _reaches(f"{module}.{each.name}") or each.name in _NAMES:
                        yield line, f"from {module} import {each.name}"
            case ast.Attribute(value=ast.Name(id="builtins"), ctx=ast.Store(), attr=name, lineno=line):
                yield line, f"builtins.{name} = …"
            case ast.Attribute(value=ast.Name(id=base), attr=name, lineno=line) if _reaches(f"{base}.{name}"):
                yield line, f"{base}.{name}"
            case ast.Attribute(attr=name, lineno=line) if name in _NAMES:
                yield line, name
            case ast.Constant(value=str(text), lineno=line):
                yield from ((line, each) for each in _MODULES if each in text.replace("/", "."))


def _reaches(module: str) -> bool:
    return any(f"{module}.".startswith(f"{each}.") for each in (*_MODULES, *_NETWORK))
