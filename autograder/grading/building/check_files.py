"""Check files as they are written: what is wrong in them, each with its line, without running any of it."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.grading.course.problem import Problem

_SPECIFICATIONS = ("FunctionSpec", "ModuleSpec")
_TAKEN = sys.stdlib_module_names | {"autograder", "numpy", "pytest", "torch"}
"""Names that no file beside checks can have: they import, or checks do, the module of that name."""


@dataclass(frozen=True)
class _Check:
    """A check as it is written: a function, or a name that is given what a specification makes."""

    name: str
    lineno: int
    is_async: bool = False


@dataclass(frozen=True)
class _File:
    """A check file: its functions that are checks, and what its names stand for."""

    shown: str
    tree: ast.Module
    bound: frozenset[str]
    """Every name that the file gives a meaning to."""
    names_standard: bool
    has_star: bool
    defined: frozenset[str]
    """The names that the notebook defines; empty if that is not known."""

    @property
    def checks(self) -> list[_Check]:
        found: list[_Check] = []
        for node in self.tree.body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.append(_Check(name, node.lineno, isinstance(node, ast.AsyncFunctionDef)))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                    found.append(_Check(name, node.lineno))
        return [check for check in found if check.name.startswith("test")]


def look_at_check_files(
    files: Mapping[str, str], folder: str, defined: Iterable[str] = ()
) -> Iterator[Problem]:
    """Yield the faults of some check files, by name; `folder` is how the place where they lie is called.

    What their import or their collection refuses is not looked for. `defined` are the names that the notebook
    defines, where they are known: tasks are among them.
    """
    for name, text in sorted(files.items()):
        shown = f"{folder}/{name}"
        if (module := name.removesuffix(".py")) in _TAKEN:
            yield Problem(
                shown, f"has the name of the module `{module}`, which checks then import: choose another."
            )
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            line = (error.text or "").strip()
            yield Problem(
                f"{shown}, line {error.lineno}", f"is no Python: {error.msg}{f' (`{line}`)' if line else ''}."
            )
        except ValueError as error:  # a null byte
            yield Problem(shown, f"is no Python: {error}.")
        else:
            if name.startswith(("test_", "hidden_")):
                yield from _look_at_file(_read(shown, tree, frozenset(defined), "standard" in text))


def _read(shown: str, tree: ast.Module, defined: frozenset[str], names_standard: bool) -> _File:
    bound: set[str] = set()
    has_star = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                has_star = has_star or alias.name == "*"
                bound.add(name)
    return _File(shown, tree, frozenset(bound), names_standard, has_star, defined)


def _look_at_file(file: _File) -> Iterator[Problem]:
    if not (any(name.startswith("test") for name in file.bound) or file.has_star or file.names_standard):
        yield Problem(
            file.shown, "has no check: `standard(…)`, or a function whose name begins with `test_`."
        )
    yield from _look_at_specifications(file)
    seen: dict[str, _Check] = {}
    for check in file.checks:
        first = seen.setdefault(check.name, check)
        if first is not check:
            yield Problem(
                _at(file, check),
                f"`{check.name}` is defined a second time, and the one of line {first.lineno} is never run: "
                "give it another name.",
            )
        if check.is_async:
            yield Problem(_at(file, check), f"`{check.name}` is `async`: it would never run. Write `def`.")


def _look_at_specifications(file: _File) -> Iterator[Problem]:
    """Find specifications of what no cell of the notebook defines, as after a task got another name."""
    for node in ast.walk(file.tree) if file.defined else ():
        match node:
            case ast.Call(ast.Name(kind), [ast.Constant(str(task)) as name, *_]) if kind in _SPECIFICATIONS:
                if task not in file.defined:
                    yield Problem(
                        f"{file.shown}, line {name.lineno}",
                        f"`{task}` is stated here as a task, but no cell of the notebook defines "
                        f"it{_nearest(task, file.defined)}.",
                    )


def _at(file: _File, check: _Check) -> str:
    return f"{file.shown}, line {check.lineno}"


def _nearest(name: str, names: Iterable[str]) -> str:
    """The nearest of some names, as an aside; `""` if none is near."""
    near: Sequence[str] = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""
