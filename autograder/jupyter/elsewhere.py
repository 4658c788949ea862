"""Remarks on what works in this notebook and may not where it is graded: said beforehand, below the card."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import PurePath
from types import ModuleType
from typing import Any

_OWN = "lstm-autograder"
_ALWAYS = frozenset(
    {"IPython", "__main__", "autograder", "builtins", "matplotlib", "numpy", "pytest", "torch"}
)
"""Packages that need no looking for, which takes a second where much is installed."""
_SHELL = re.compile(r"get_ipython\(\)\.(system|getoutput)\(|run_line_magic\('(pip|conda|system|sx)'")
"""Shell lines as IPython rewrites them."""


def remarks(source: str, namespace: Mapping[str, Any]) -> list[str]:
    """Return sentences on the cell of a task: its packages that grading may do without, its shell lines."""
    said = []
    foreign = sorted({top for top in _packages(source, namespace) if _is_foreign(top)})
    if foreign:
        names = ", ".join(f"`{top}`" for top in foreign)
        said.append(
            f"{names}: not available when this is graded, unless your course says otherwise. Write this "
            "task without it."
        )
    if _SHELL.search(source):
        said.append("Shell lines in this cell are skipped when it is graded.")
    return said


def _packages(source: str, namespace: Mapping[str, Any]) -> Iterator[str]:
    """The packages that a cell imports, and those of the names that it uses."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        names: list[Any] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        elif isinstance(node, ast.Name) and node.id in namespace:
            made = namespace[node.id]
            with suppress(Exception):  # objects may answer as they like
                names = [made.__name__ if isinstance(made, ModuleType) else made.__module__]
        yield from (name.partition(".")[0] for name in names if isinstance(name, str))


def _is_foreign(top: str) -> bool:
    """Return whether a module is of an installed package that nothing of the course brings."""
    if top in _ALWAYS or top in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(top), "__file__", None)
    if not file or not any(part.endswith("-packages") for part in PurePath(file).parts):
        return False  # a file of one's own, or nothing that was imported
    brought = _brought()
    return bool(brought) and not brought & {_plain(name) for name in _distributions().get(top, [top])}


@lru_cache(1)
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@lru_cache(1)
def _brought() -> frozenset[str]:
    """The names of all distributions that come with this one; none where it is not installed."""
    found, todo = set[str](), [_OWN]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            if name == _OWN:
                return frozenset()
            needed = []
        found.add(name)
        for line in needed:
            wanted, _, condition = line.partition(";")
            grading = name == _OWN and re.search(r"extra\s*==\s*['\"]grading", condition)
            if "extra" not in condition or grading:
                todo.append(_plain(re.split(r"[^\w.-]", wanted.strip(), maxsplit=1)[0]))
    return frozenset(found)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
