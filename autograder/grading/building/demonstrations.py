"""Demonstrations that a wrong answer could stop: what they use of the tasks, outside `with after(…)`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from autograder.grading.building.source import MAY_FAIL, SourceCell
from autograder.grading.course.problem import Problem

_NOTHING: frozenset[str] = frozenset()
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def look_at_demonstrations(cells: Sequence[SourceCell], checked: Collection[str]) -> Iterator[Problem]:
    """Find uses of a task, or of a name that depends on one, where nothing holds an error back.

    `checked` are the tasks that have checks.
    """
    tasks = {*checked, *(cell.grade_id for cell in cells if cell.is_solution)}
    names = _Names()
    for cell in cells:
        try:
            tree = cell.tree()
        except (SyntaxError, ValueError):
            continue  # told by itself
        if tree is None or cell.is_grade or MAY_FAIL in cell.tags:
            continue
        if cell.is_solution:
            # A student may write anything there.
            names.needs |= {task: frozenset([task]) for task in tasks & {cell.grade_id, *_bound(tree)}}
            continue
        seen: set[str | frozenset[str]] = set()
        for use in names.uses_in(tree):
            mended_by = use.tasks if use.in_block else use.name
            if mended_by not in seen:
                seen.add(mended_by)
                yield Problem(cell.where(use.line), use.message())


@dataclass(frozen=True)
class _Use:
    """The use of a name that depends on tasks, at a line where nothing waits for these tasks."""

    name: str
    line: int
    tasks: frozenset[str]
    """The tasks that are not waited for."""
    in_block: bool
    """True inside `with after(…)`, which then does not name these tasks."""

    def message(self) -> str:
        listed = ", ".join(f'"{task}"' for task in sorted(self.tasks))
        shown = ", ".join(f"`{task}`" for task in sorted(self.tasks))
        depends = "" if self.tasks == {self.name} else f" (which depends on {shown})"
        if self.in_block:
            return f"uses `{self.name}`{depends}: add {listed} to this block's `after(…)`."
        return (
            f"uses `{self.name}`{depends} outside `with after({listed}):`, so that a wrong answer can stop "
            "the notebook here: move it into such a block."
        )


@dataclass
class _Names:
    """The names that a notebook's cells make, run in order, and the tasks that each depends on."""

    needs: dict[str, frozenset[str]] = field(default_factory=dict)
    """The tasks of each name that is a task or was made where some are waited for."""
    bodies: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names that each function and class uses."""

    def uses_in(
        self, node: ast.AST, after: frozenset[str] | None = None, local: frozenset[str] = _NOTHING
    ) -> Iterator[_Use]:
        """Walk code as Python runs it; `after` are the tasks that are waited for, `None` outside a block."""
        first: ast.expr | None = None  # what Python evaluates before all else
        match node:
            case ast.With(items) | ast.AsyncWith(items):
                inside = after
                for item in items:
                    yield from self.uses_in(item, inside, local)
                    inside = inside if (named := _named(item)) is None else named | (inside or _NOTHING)
                for statement in node.body:
                    yield from self.uses_in(statement, inside, local)
                return
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                for child in ast.iter_child_nodes(node):
                    if not isinstance(child, ast.stmt):
                        yield from self.uses_in(child, after, local)
                self._bind(name, after, _free(node))
                return
            case ast.Assign([ast.Name(name)], ast.Lambda() as body):
                self._bind(name, after, _free(body))
                return
            case ast.Name(name, ast.Store()) if name not in local:
                self._bind(name, after)
            case ast.Name(name) if name not in local:
                yield from self._used(name, node.lineno, after)
            case ast.AugAssign(ast.Name(name)):
                yield from self._used(name, node.lineno, after)
                first = node.value
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.AugAssign():
                first = node.value
            case ast.For() | ast.AsyncFor():
                first = node.iter
            case ast.alias():
                self._bind(node.asname or node.name.partition(".")[0], after)
            case ast.Lambda(arguments):
                local |= {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                local |= {name for each in node.generators for name in _bound(each.target)}
        children = ast.iter_child_nodes(node)
        for child in sorted(children, key=lambda child: child is not first) if first else children:
            yield from self.uses_in(child, after, local)

    def _bind(self, name: str, after: frozenset[str] | None, body: frozenset[str] = _NOTHING) -> None:
        self.needs[name], self.bodies[name] = after or _NOTHING, body

    def _used(self, name: str, line: int, after: frozenset[str] | None) -> Iterator[_Use]:
        missing = self._tasks_of(name, set()) - (after or _NOTHING)
        if missing:
            yield _Use(name, line, missing, after is not None)

    def _tasks_of(self, name: str, seen: set[str]) -> frozenset[str]:
        if name in seen:
            return _NOTHING
        seen.add(name)
        inner = (self._tasks_of(each, seen) for each in self.bodies.get(name, _NOTHING))
        return self.needs.get(name, _NOTHING).union(*inner)


def _named(item: ast.withitem) -> frozenset[str] | None:
    """Return the tasks that a `with` waits for; `None` if it is another context manager than `after`."""
    match item.context_expr:
        case ast.Call(ast.Name("after") | ast.Attribute(attr="after"), tasks):
            return frozenset(
                each.value for each in tasks if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )
    return None


def _free(node: ast.AST) -> frozenset[str]:
    """Return the names from outside that a function or class uses, but for those in blocks of `after`."""
    inside = list(_outside_blocks(node))
    bound = {each.arg for each in inside if isinstance(each, ast.arg)} | _bound(node)
    used = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return frozenset(used - bound)


def _outside_blocks(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.With) and any(_named(item) is not None for item in child.items)):
            yield from _outside_blocks(child)


def _bound(node: ast.AST) -> set[str]:
    """Return the names that code gives a meaning to."""
    names = {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return names | {each.name for each in ast.walk(node) if isinstance(each, _DEFINITION)}
