"""Reads students' cells for code that no exercise needs and that could lie to a check.

What ran inside a call, and what a module registers, only the student's process can tell; code that
rewrites that process can make it lie. No score follows from this reading: it is a finding, so that
a person looks at the cell.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autograder.grading.verdict import Finding

_MODULES = {"ctypes", "gc", "inspect", "importlib", "builtins", "_thread", "autograder.worker", "torch._C"}
"""Imports that reach into the process."""
_ATTRIBUTES = {
    "_getframe", "_current_frames", "__subclasses__", "__globals__", "__closure__", "__code__", "f_back",
    "_python_dispatch", "_VF", "_C", "is_inference_mode_enabled", "is_inference",
}  # fmt: skip
_TORCH_DICTIONARIES = {"torch", "nn"}
_ALLOWED_FROM = {"inspect": {"signature", "getsource"}, "importlib": {"reload"}}


def unusual_code(cells: Mapping[str, str]) -> list[Finding]:
    """One finding for each cell that reaches into the process it runs in, naming the first such place."""
    findings = []
    for name, source in cells.items():
        place = _first_place(source)
        if place is not None:
            line, what = place
            findings.append(
                Finding(
                    "unusual_code",
                    f"Line {line} of the cell `{name}` uses `{what}`, which nothing in this course needs: "
                    "see what it is for.",
                )
            )
    return findings


def _first_place(source: str) -> tuple[int, str] | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    places = [place for node in ast.walk(tree) if (place := _place(node)) is not None]
    return min(places) if places else None


def _place(node: ast.AST) -> tuple[int, str] | None:
    match node:
        case ast.Import(names=names, lineno=line):
            for alias in names:
                if _reaches(alias.name):
                    return line, f"import {alias.name}"
        case ast.ImportFrom(module=str(module), names=names, lineno=line):
            wanted = {alias.name for alias in names}
            if _reaches(module) and not wanted <= _ALLOWED_FROM.get(module, set()):
                return line, f"from {module} import …"
            if module == "autograder" and "worker" in wanted:
                return line, "from autograder import worker"
        case ast.Attribute(value=ast.Name(id=base), attr="__dict__", lineno=line) if (
            base in _TORCH_DICTIONARIES
        ):
            return line, f"{base}.__dict__"
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules", lineno=line):
            return line, "sys.modules"
        case ast.Attribute(attr=attribute, lineno=line) if attribute in _ATTRIBUTES:
            return line, attribute
        case ast.Call(func=ast.Name(id="vars" | "dir"), args=[ast.Name(id=base)], lineno=line) if (
            base in _TORCH_DICTIONARIES
        ):
            return line, f"vars({base})"
        case ast.Call(func=ast.Name(id="exec" | "eval" | "compile" | "__import__" as name), lineno=line):
            return line, f"{name}(…)"
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=base), name, *_], lineno=line) if (
            base in _TORCH_DICTIONARIES and not isinstance(name, (ast.Constant, ast.Name))
        ):
            return line, f"getattr({base}, …)"
    return None


def _reaches(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _MODULES)
