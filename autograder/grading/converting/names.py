"""The names that a test cell may use: the notebook's functions, imported modules, and what the cell makes."""

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType

from autograder.cell_source import bound_names, parse_cell
from autograder.grading.assignment.cells import is_grade, is_solution
from autograder.grading.building.source import SourceCell

_ELSEWHERE = {"eval", "exec", "get_ipython", "globals", "input", "locals", "open", "vars"}
"""Functions that mean the notebook, its terminal or its folder, where a check is none of these."""

_READERS = ("read_", "load", "genfromtxt", "imread", "fromfile")
"""The beginnings of the names of functions that read a file, where they are called with its name."""

RAISES = {"raises", "assertRaises", "assert_raises"}
"""Functions that expect an error, and may be handed what raises it."""


class CannotConvert(Exception):
    """A statement that no check can be made of. `line` counts in its cell; 0 is the cell as a whole."""

    def __init__(self, why: str, node: ast.AST | None = None) -> None:
        self.line = getattr(node, "lineno", 0)
        super().__init__(why)


@dataclass(frozen=True)
class Names:
    """The names of a notebook: the functions and classes of its cells, and what it imports."""

    own: frozenset[str]
    """The functions and classes that `submission` is asked for."""
    imports: Mapping[str, str]
    """The statement that imports a name, by the name."""
    variables: frozenset[str] = frozenset()
    """The variables that students write, which `submission` is asked for, too."""
    given: Sequence[tuple[SourceCell, ast.stmt]] = ()
    """The other statements of cells that students do not write, with their cells, in order."""

    @classmethod
    def of(cls, cells: Iterable[SourceCell]) -> Names:
        own, imports, variables = set[str](), dict[str, str](), set[str]()
        given = list[tuple[SourceCell, ast.stmt]]()
        for cell in cells:
            tree = parse_cell(cell.source) if cell.is_code else None
            for node in tree.body if tree else ():
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not (
                    cell.is_grade and not cell.is_solution
                ):
                    own.add(node.name)
                elif cell.is_solution:
                    variables |= {*bound_names([node])} - {*imported(node)}
                elif new := imported(node):
                    imports |= new
                elif not cell.is_grade:
                    given.append((cell, node))
        return cls(frozenset(own), imports, frozenset(variables), given)

    def before(self, body: Sequence[ast.stmt], cell: SourceCell) -> Sequence[tuple[SourceCell, ast.stmt]]:
        """Return the statements of earlier cells that make what some statements of a cell look up."""
        needed, found = names_read(body), []
        for given, node in reversed(self.given):
            if given.number < cell.number and needed & (changed_names(node) - self._modules(node)):
                found.append((given, node))
                if isinstance(node, ast.Assign):
                    needed -= {each.id for each in node.targets if isinstance(each, ast.Name)}
                needed |= names_read([node])
        return found[::-1]

    def _modules(self, node: ast.stmt) -> set[str]:
        """Return the modules that a statement leaves as they are: all, unless it sets a seed."""
        is_seed = any(
            isinstance(each, ast.Call) and last_name(each.func) == "seed" for each in ast.walk(node)
        )
        return set() if is_seed else {*self.imports}

    def is_there(self, test: ast.expr) -> str:
        """Return the function whose presence alone is asserted; `""` where more is."""
        match test:
            case (
                ast.Name(name)
                | ast.Call(ast.Name("callable"), [ast.Name(name)], [])
                | ast.Compare(ast.Name(name), [ast.IsNot()], [ast.Constant(None)])
            ) if name in self.own:
                return name
        return ""

    def of_students(self, node: ast.AST, values: Iterable[str] = ()) -> bool:
        """Return whether code calls what students write, or uses one of the `values` that came of it."""
        known = self.own.union(values)
        return any(isinstance(each, ast.Name) and each.id in known for each in ast.walk(node))

    def refuse_unknown(self, node: ast.AST, local: Iterable[str]) -> None:
        """Raise `CannotConvert` for code that uses a name which a check does not have."""
        known = {*self.own, *self.imports, *local, *_bound_inside(node)}
        parents = {child: each for each in ast.walk(node) for child in ast.iter_child_nodes(each)}
        for each in ast.walk(node):
            match each:
                case ast.Call(func, [ast.Constant(str()), *_]) if last_name(func).startswith(_READERS):
                    raise CannotConvert(f"`{ast.unparse(each)}` reads a file, and a check has none", each)
            if not isinstance(each, ast.Name):
                continue
            if each.id in self.own and not isinstance(each.ctx, ast.Load):
                raise CannotConvert(f"it takes `{each.id}` away, or gives the name another meaning", each)
            if each.id in self.own and not self._is_called(each, parents):
                raise CannotConvert(f"it uses `{each.id}` otherwise than by a call", each)
            if each.id in known:
                continue
            if each.id in _ELSEWHERE or not hasattr(builtins, each.id):
                raise CannotConvert(f"it uses `{each.id}`, which a check does not have", each)

    def _is_called(self, name: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> bool:
        """Return whether a function of the notebook is called here, or handed to one."""
        match parents.get(name):
            case ast.Call(func=func, args=args):
                handed_on = self.of_students(func) or last_name(func) in RAISES
                return func is name or (name in args and handed_on)
            case ast.Attribute(attr=attr):
                return not attr.startswith("__")
        return False


def imported(node: ast.stmt) -> dict[str, str]:
    """Return the names that a statement imports, each with a statement that imports it alone."""
    found = {}
    match node:
        case ast.Import(names):
            for each in names:
                found[each.asname or each.name.partition(".")[0]] = ast.unparse(ast.Import([each]))
        case ast.ImportFrom(module, names, level) if not level and module != "autograder":
            for each in names:
                found[each.asname or each.name] = ast.unparse(ast.ImportFrom(module, [each], 0))
    return found


def made_and_used(cell: SourceCell, later: Iterable[SourceCell]) -> tuple[str, SourceCell] | None:
    """Return a name that a cell makes and a later one uses before it makes it anew, with that one."""
    tree = parse_cell(cell.source)
    made = set(bound_names(tree.body)) if tree else set()
    for other in later:
        tree = parse_cell(other.source) if other.is_code else None
        if tree and (found := sorted(made & names_read(tree.body))):
            return found[0], other
        made -= set(bound_names(tree.body)) if tree else set()
    return None


def names_read(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements, as they run, look up before they give them a meaning."""
    read = set[str]()

    def look(code: CodeType, made: set[str]) -> None:
        for step in dis.get_instructions(code):
            if step.opname == "STORE_NAME":
                made.add(step.argval)
            elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.argval not in made:
                read.add(step.argval)
            elif isinstance(step.argval, CodeType):
                look(step.argval, set(made))

    try:
        module = ast.Module([*body], [])
        look(compile(module, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True, 0), set())
    except SyntaxError:
        pass  # code that does not run reads nothing
    return read


def changed_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement gives a meaning, or whose parts it sets, or whose method it calls."""
    found = set(bound_names([node]))
    for each in ast.walk(node):
        match each:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.add(root_name(each))
            case ast.Expr(ast.Call(ast.Attribute() as method)):
                found.add(root_name(method))
    return found


def is_test_of(cell: SourceCell, name: str, variables: Collection[str] = ()) -> bool:
    """Return whether a cell is a test cell of nbgrader's that calls a function, or uses a variable."""
    node = cell.node
    if not (cell.is_code and is_grade(node) and not is_solution(node)) or cell.task:
        return False
    tree = parse_cell(cell.source)
    if name in variables:
        return tree is not None and name in names_read(tree.body)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree else []
    return any(
        isinstance(each, ast.Name) and each.id == name
        for call in calls
        for each in (call.func, *(call.args if last_name(call.func) in RAISES else ()))
    )


def last_name(func: ast.expr) -> str:
    """Return the last name of what is called: `assert_allclose` of `np.testing.assert_allclose`."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def root_name(node: ast.expr) -> str:
    """Return the name that an expression begins with: `np` of `np.testing.assert_allclose`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound_inside(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            yield each.name
