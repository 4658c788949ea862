"""Check files as they are written: what is wrong in them, each with its line, without running any of it."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.checking.runner.marks import NAME_OF_METHOD, RULE_OF_METHOD, RULES
from autograder.grading.course.problem import Problem
from autograder.grading.releasing.check_file import called_name, keywords_of, needed_by

FIXTURES = ("submission", "sizes", "draw")
"""All that a check is given."""
_PYTEST = ("request", "monkeypatch", "tmp_path", "tmp_path_factory", "capsys", "capfd", "pytestconfig")
"""Fixtures that pytest has itself, which no rule forbids."""
_SPECIFICATIONS = ("FunctionSpec", "ModuleSpec")
_TAKEN = sys.stdlib_module_names | {"autograder", "numpy", "pytest", "torch"}
"""Names that no file beside checks can have: they import, or checks do, the module of that name."""
_OF_SOME = ("from_scratch", "registered", "follows")
"""What `standard` makes of some specifications, by its keywords."""
_MARKS = ("points", "rule", "needs", "hidden", "teaching_only")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Check:
    """A check as it is written: a function, a name that is given what a specification makes, or a keyword of
    `standard`."""

    name: str
    node: _Function | ast.expr
    lineno: int
    is_certain: bool = True
    """False of what `standard` makes of some specifications only, and is not asked for."""


@dataclass(frozen=True)
class _File:
    """A check file: its functions that are checks, and what its names stand for."""

    shown: str
    tree: ast.Module
    marks: Mapping[str, str]
    """The names under which the marks were imported, and which ones they are."""
    bound: frozenset[str]
    """Every name that the file gives a meaning to."""
    statements: frozenset[str]
    """The names by which it knows `standard`."""
    has_star: bool
    defined: frozenset[str]
    """The names that the notebook defines; empty if that is not known."""

    @property
    def checks(self) -> list[_Check]:
        found: list[_Check] = []
        for node in self.tree.body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.append(_Check(name, node, node.lineno))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    found.append(_Check(name, call, node.lineno))
                case ast.Expr(value=ast.Call() as call) if called_name(call) in self.statements:
                    found += _checks_of_standard(call)
        return [check for check in found if check.name.startswith("test")]


def _checks_of_standard(call: ast.Call) -> Iterator[_Check]:
    """Yield the checks that `standard` may make: whether it does depends on the specification, too.

    It refuses a name twice itself where it comes second.
    """
    keywords = keywords_of(call)
    for method, usual in NAME_OF_METHOD.items():
        stated = keywords.get(method, call)
        named = keywords_of(stated).get("name") if isinstance(stated, ast.Call) else None
        match stated, named:
            case ast.Constant(str()), _:  # why there is no such check
                continue
            case _, ast.Constant(str(name)):
                yield _Check(f"test_{name.removeprefix('test_')}", stated, stated.lineno)
            case _:
                certain = method in keywords or method not in _OF_SOME
                yield _Check(f"test_{usual}", stated, stated.lineno, certain)


def look_at_check_files(
    files: Mapping[str, str], folder: str, defined: Iterable[str] = ()
) -> Iterator[Problem]:
    """All faults of some check files, by name; `folder` is how the place where they lie is called.

    `defined` are the names that the notebook defines, where they are known: tasks are among them.
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
            if name.startswith("test_"):
                yield from _look_at_file(_read(shown, tree, frozenset(defined)))


def _read(shown: str, tree: ast.Module, defined: frozenset[str]) -> _File:
    marks: dict[str, str] = {}
    bound: set[str] = set()
    statements = {"standard"}
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
                ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                    "autograder.checking"
                )
                if ours and alias.name in _MARKS:
                    marks[name] = alias.name
                if ours and alias.name == "standard":
                    statements.add(name)
    return _File(shown, tree, marks, frozenset(bound), frozenset(statements), has_star, defined)


def _look_at_file(file: _File) -> Iterator[Problem]:
    calls = (called_name(node) for node in ast.walk(file.tree) if isinstance(node, ast.Call))
    if (
        not any(name.startswith("test") for name in file.bound)
        and not file.has_star
        and file.statements.isdisjoint(calls)  # it may stand in a loop, and all that it makes be refused
    ):
        yield Problem(
            file.shown, "has no check: `standard(…)`, or a function whose name begins with `test_`."
        )
    yield from _look_at_specifications(file)
    seen: dict[str, _Check] = {}
    for check in file.checks:
        first = seen.setdefault(check.name, check)
        if first is not check and first.is_certain and check.is_certain:
            yield Problem(
                _at(file, check),
                f"`{check.name}` is defined a second time, and the one of line {first.lineno} is never run: "
                "give it another name.",
            )
        if isinstance(check.node, ast.expr):
            yield from _look_at_made_check(file, check, check.node)
        else:
            yield from _look_at_function(file, check, check.node)


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


def _look_at_made_check(file: _File, check: _Check, made: ast.expr) -> Iterator[Problem]:
    """Find what is wrong in `task.values(points=1, needs=[…])`, and in what `standard` is told of a check."""
    match made:
        case ast.Call(func=ast.Attribute(attr=method)) if method in RULE_OF_METHOD:
            points = keywords_of(made).get("points")
        case ast.Call() if called_name(made) == "worth":
            points = made.args[0] if made.args else keywords_of(made).get("points")
        case ast.Constant():
            points = made
        case _:
            return  # somebody else's
    if isinstance(points, ast.Constant):
        yield from _look_at_points(file, points)
    if isinstance(made, ast.Call):
        yield from _look_at_needs(file, check, needed_by(made))


def _look_at_function(file: _File, check: _Check, function: _Function) -> Iterator[Problem]:
    marked: dict[str, ast.Call | None] = {}
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        called = call.func if call else decorator
        if not isinstance(called, ast.Name) or called.id not in file.marks:
            return  # somebody else's: what it makes of the function, nobody knows
        marked[file.marks[called.id]] = call
    if isinstance(function, ast.AsyncFunctionDef):
        yield Problem(_at(file, check), f"`{check.name}` is `async`: it would never run. Write `def`.")
    if not (ast.get_docstring(function) or "").strip():
        yield Problem(_at(file, check), f"`{check.name}` has no docstring: it is the title that people read.")
    if "rule" not in marked:
        yield Problem(
            _at(file, check), f'`{check.name}` has no `@rule("…")`; the rules are {", ".join(RULES)}.'
        )
    for name, call in marked.items():
        if call is None and name != "teaching_only":
            yield Problem(_at(file, check), f"`@{name}` of `{check.name}` stands without its argument.")
        elif call is not None:
            yield from _look_at_mark(file, check, name, call)
    yield from _look_at_fixtures(file, check, function)


def _look_at_mark(file: _File, check: _Check, name: str, call: ast.Call) -> Iterator[Problem]:
    where = f"{file.shown}, line {call.lineno}"
    value = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    if name == "rule" and isinstance(value, str) and value not in RULES:
        yield Problem(
            where, f"{value!r} is no rule{_nearest(value, RULES)}; the rules are {', '.join(RULES)}."
        )
    if name == "points" and call.args and isinstance(call.args[0], ast.Constant):
        yield from _look_at_points(file, call.args[0])
    if name == "needs":
        yield from _look_at_needs(file, check, needed_by(call))


def _look_at_points(file: _File, points: ast.Constant) -> Iterator[Problem]:
    value = points.value
    if isinstance(value, (int, float)) and (value < 0 or value * 2 != int(value * 2)):
        yield Problem(
            f"{file.shown}, line {points.lineno}",
            f"{value:g} points: points are whole or half numbers, and not less than 0.",
        )


def _look_at_needs(file: _File, check: _Check, needed: Sequence[ast.expr]) -> Iterator[Problem]:
    lines = {each.name: each.lineno for each in file.checks}
    order = [each.name for each in file.checks]
    if file.has_star:
        return
    for argument in needed:
        match argument:
            case ast.Constant(str(text)):
                name = text if text.startswith("test_") else f"test_{text}"
            case ast.Name(name):
                pass
            case _:
                continue
        where = f"{file.shown}, line {argument.lineno}"
        if name not in file.bound and name not in lines:
            yield Problem(
                where,
                f"`{check.name}` needs `{name}`, which is no check of this file{_nearest(name, lines)}.",
            )
        elif name in lines and order.index(name) >= order.index(check.name):
            yield Problem(
                where,
                f"`{check.name}` needs `{name}`, which stands below it (line {lines[name]}): "
                "checks run in the order of the file.",
            )


def _look_at_fixtures(file: _File, check: _Check, function: _Function) -> Iterator[Problem]:
    arguments = [*function.args.posonlyargs, *function.args.args]
    asked = arguments[: len(arguments) - len(function.args.defaults)]
    for argument in asked:
        name = argument.arg
        if name not in (*FIXTURES, *_PYTEST) and name not in file.bound and not file.has_star:
            yield Problem(
                f"{file.shown}, line {argument.lineno}",
                f"`{check.name}` asks for `{name}`{_nearest(name, FIXTURES)}; "
                f"what a check may ask for is {', '.join(f'`{each}`' for each in FIXTURES)}.",
            )


def _at(file: _File, check: _Check) -> str:
    return f"{file.shown}, line {check.lineno}"


def _nearest(name: str, names: Iterable[str]) -> str:
    """The nearest of some names, as an aside; `""` if none is near."""
    near: Sequence[str] = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""
