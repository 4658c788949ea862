"""One check file as Python's syntax tree: its checks, its references, and what each of its names needs."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, field

CUT = "return NotImplemented"
"""The stand-in for a reference's body; `autograder.checking.recorded` knows it."""
_LINE = 110


class CannotStrip(ValueError):
    """An error: check files cannot be stripped. Something would be missing, or what is hidden is unclear."""

    def __init__(self, path: str, line: int, told: str) -> None:
        super().__init__(f"{path}, line {line}: {told}")
        self.place, self.told = f"{path}, line {line}", told


@dataclass
class Unit:
    """One statement at the top of a module, or one name that an import brings: kept or cut as a whole."""

    binds: str
    node: ast.stmt
    uses: set[str]
    """The names it mentions; of a reference, without its body."""
    cut_uses: set[str] = field(default_factory=set)
    """The names that only what is cut of it mentions."""


class CheckFile:
    """One file, and what each of its names needs."""

    def __init__(self, path: str, text: str, package: str) -> None:
        self.path, self.text = path, text
        inside = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.dotted = ".".join(filter(None, [package, inside]))
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1  # a ValueError, for a null byte, has none
            raise CannotStrip(path, line, f"is not Python that can be read: {error}.") from error
        self.lines = text.splitlines(keepends=True)
        self.marks = _marks(self.tree)
        self.hidden: dict[str, ast.FunctionDef | ast.Call] = {}
        """The hidden checks: functions, and calls of a specification that make one."""
        self.references: dict[str, ast.FunctionDef] = {}
        self.units: list[Unit] = []
        self.imports: dict[str, tuple[str, str | None]] = {}
        """The module, and the name in it, for each name that an import binds."""
        self.loose: set[str] = set()
        """The names that statements mention which bind nothing, and so are always kept."""
        for node in self.tree.body:
            self._read(node)

    def _read(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(name=name):
                if self._marked(node, "hidden"):
                    if not (self.path.rpartition("/")[2].startswith("test_") and name.startswith("test_")):
                        told = f"`{name}` is marked as hidden, but is no check."
                        raise CannotStrip(self.path, node.lineno, told)
                    self.hidden[name] = node
                unit = Unit(name, node, _names_in(node))
                if self._marked(node, "recorded"):
                    self.references[name] = node
                    head = [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
                    unit.uses, unit.cut_uses = _names_in(*head), _names_in(*node.body)
                self.units.append(unit)
            case ast.ClassDef(name=name):
                self.units.append(Unit(name, node, _names_in(node)))
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                call = node.value
                if self.is_check(name) and isinstance(call, ast.Call) and "hidden" in keywords_of(call):
                    self.hidden[name] = call
                self.units.append(Unit(name, node, _names_in(node) - {name}))
                if name == "DIMENSIONS":  # read by whoever runs the file's checks
                    self.loose.add(name)
            case ast.Import() | ast.ImportFrom() if getattr(node, "module", "") != "__future__":
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self.units.append(Unit(bound, node, set()))
                    if bound == "DIMENSIONS":
                        self.loose.add(bound)
                    if isinstance(node, ast.ImportFrom):
                        self.imports[bound] = (self._imported(node), alias.name)
                    else:
                        self.imports[bound] = (alias.name, None)
            case _:
                self.loose |= _names_in(node)
        for inner in ast.walk(node):
            if inner is not node and isinstance(inner, ast.FunctionDef):
                for mark in ("hidden", "recorded"):
                    if self._marked(inner, mark):
                        raise CannotStrip(
                            self.path,
                            inner.lineno,
                            f"`{inner.name}` is marked `@{mark}` inside something else; only a function at "
                            "the top of its file can be cut out.",
                        )

    def _imported(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        home = self.dotted.split(".")[: -node.level]
        return ".".join([*home, *filter(None, [node.module])])

    def _marked(self, node: ast.FunctionDef, mark: str) -> bool:
        return any(called_name(decorator) in self.marks[mark] for decorator in node.decorator_list)

    def is_check(self, name: str) -> bool:
        """Return whether pytest would collect a function of this name as a check."""
        return self.path.rpartition("/")[2].startswith("test_") and name.startswith("test_")

    def text_with(self, kept: set[str]) -> str:
        """The file's text with these names, its statements that bind none, and no reference's body."""
        gone = {unit.binds for unit in self.units} - kept
        if not gone and not self.references:
            return self.text
        edits: list[tuple[int, int, str]] = []
        """First line and the line after the last, counting from 0, and what comes in their place."""
        for place, node in enumerate(self.tree.body):
            names = [unit.binds for unit in self.units if unit.node is node]
            if names and all(name in gone for name in names):
                edits.append((self._beginning(node), self._end(place), ""))
            elif any(name in gone for name in names):
                assert isinstance(node, (ast.Import, ast.ImportFrom))
                edits.append((node.lineno - 1, node.end_lineno or 0, _import(node, gone)))
            elif isinstance(node, ast.FunctionDef) and node.name in self.references:
                edits.append((node.lineno - 1, node.end_lineno or 0, self._without_body(node)))
        lines = list(self.lines)
        for first, after, text in sorted(edits, reverse=True):
            while not text and after < len(lines) and not lines[after].strip():
                after += 1  # the blank lines behind what goes
            lines[first:after] = [text] if text else []
        return "".join(lines).rstrip() + "\n"

    def _beginning(self, node: ast.stmt) -> int:
        """The first line of a statement, its decorators and the comment that stands right above it."""
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
        while first and self.lines[first - 1].startswith("#"):
            first -= 1
        return first

    def _end(self, place: int) -> int:
        """The line after a statement, and after the text below it that says what its name is for."""
        node = self.tree.body[place]
        behind = self.tree.body[place + 1 : place + 2]
        match behind:
            case [ast.Expr(ast.Constant(str()))] if isinstance(node, (ast.Assign, ast.AnnAssign)):
                node = behind[0]
        return node.end_lineno or 0

    def _without_body(self, node: ast.FunctionDef) -> str:
        text = "".join(self.lines[node.lineno - 1 : node.end_lineno])
        depth = 0
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
            if token.type == tokenize.OP and token.string == ":" and not depth:
                row, column = token.end
                head = text.splitlines(keepends=True)[: row - 1]
                last = text.splitlines()[row - 1][:column]
                return f"{''.join(head)}{last}\n    {CUT}\n"
        raise CannotStrip(self.path, node.lineno, f"the end of the head of `{node.name}` was not found.")


def _marks(tree: ast.Module) -> dict[str, set[str]]:
    """Return the names by which a file knows the marks of checks and of references."""
    found = {mark: {mark} for mark in ("hidden", "recorded", "points", "rule")}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name in found:
                    found[alias.name].add(alias.asname or alias.name)
    return found


def keywords_of(call: ast.Call) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call, by name."""
    return {each.arg: each.value for each in call.keywords if each.arg is not None}


def needed_by(call: ast.Call) -> list[ast.expr]:
    """Return the checks that a mark names: `@needs(…)`, or `needs=[…]` of a check made by a specification."""
    if called_name(call) == "needs":
        return call.args
    match keywords_of(call).get("needs"):
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
    return []


def called_name(decorator: ast.expr) -> str:
    """The last name of a decorator: `hidden` for `@hidden("…")`, `@marks.hidden("…")` and `@hidden`."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _names_in(*nodes: ast.AST) -> set[str]:
    """The names that some nodes mention; `@needs` may name a check by a text."""
    found: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                found.add(inner.id)
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                found.add(f"{inner.value.id}.{inner.attr}")  # a name in a module, perhaps
            elif isinstance(inner, ast.arg):
                found.add(inner.arg)  # a fixture of the file's own
            elif isinstance(inner, ast.Call):
                texts = [each.value for each in needed_by(inner) if isinstance(each, ast.Constant)]
                found |= {f"test_{str(text).removeprefix('test_')}" for text in texts}
    return found


def _import(node: ast.Import | ast.ImportFrom, gone: set[str]) -> str:
    """The import without some of its names."""
    left = [a for a in node.names if (a.asname or a.name.partition(".")[0]) not in gone]
    said = ast.unparse(
        ast.Import(left) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, left, node.level)
    )
    if len(said) <= _LINE:
        return f"{said}\n"
    head, _, names = said.partition(" import ")
    listed = "".join(f"    {name},\n" for name in names.split(", "))
    return f"{head} import (\n{listed})\n"
