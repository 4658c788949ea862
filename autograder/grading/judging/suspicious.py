"""Code in students' cells that no exercise needs and that could lie to a check.

What ran inside a call, and what a module registers, only the student's process can tell; code that
rewrites that process can make it lie. No score follows from this reading: it is a finding, so that
a person looks at the cell.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence

from autograder.cell_source import parse_cell
from autograder.verdict import Finding

_MODULES = {"ctypes", "_ctypes", "cffi", "_thread", "autograder.protocol", "autograder.worker", "torch._C"}
"""Modules that reach into the process, however they are used."""
_ROOMS = ("autograder.worker", "autograder.protocol", "autograder/worker", "autograder/protocol")
"""Names and paths that a text holds which reaches into them: no exercise has a use for one."""
_ATTRIBUTES = {
    "_getframe", "_current_frames", "__subclasses__", "__globals__", "__closure__", "__code__", "f_back",
    "getclosurevars", "cell_contents", "get_objects", "get_referrers", "get_referents", "currentframe",
    "getouterframes", "extract_stack", "walk_stack", "format_stack", "settrace", "setprofile",
    "_python_dispatch", "_VF", "_C", "is_inference_mode_enabled", "is_inference",
    "ctypes", "ctypeslib", "CDLL", "PyDLL", "pythonapi", "_cdata",
}  # fmt: skip
"""Attributes that reach the caller, other objects of the process, or running code: no exercise needs them."""
_ONLY_OF = {("inspect", "stack"), ("sys", "monitoring")}
"""Further such names, each with the only module that makes it one: torch has a `stack`, too."""
_TORCH_DICTIONARIES = {"torch", "nn"}
_PLAIN = frozenset(vars(builtins)) - {"__debug__"}


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
    tree = parse_cell(source)
    if tree is None:
        return None
    texts = _texts(tree)
    places = [place for node in ast.walk(tree) if (place := _place(node, texts)) is not None]
    places = places or [place for node in ast.walk(tree) if (place := _room_named(node)) is not None]
    return min(places) if places else None


def _room_named(node: ast.AST) -> tuple[int, str] | None:
    match node:
        case ast.Constant(value=str(text), lineno=line):
            return next(((line, room) for room in _ROOMS if room in text), None)
    return None


Texts = Mapping[str, Sequence[ast.expr]]
"""The expressions that a cell gives its names: what is assigned to each, or what a loop goes over for it."""


def _texts(tree: ast.Module) -> Texts:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.For(target=ast.Name(id=name), iter=ast.List(elts=values) | ast.Tuple(elts=values)):
                found.setdefault(name, []).extend(values)
    return found


def _place(node: ast.AST, texts: Texts) -> tuple[int, str] | None:
    match node:
        case ast.Import(names=names, lineno=line):
            for alias in names:
                if _reaches(alias.name):
                    return line, f"import {alias.name}"
        case ast.ImportFrom(module=str(module), names=names, lineno=line):
            wanted = {alias.name for alias in names}
            if _reaches(module):
                return line, f"from {module} import …"
            if module == "autograder" and (rooms := wanted & {"protocol", "worker"}):
                return line, f"from autograder import {min(rooms)}"
            if module == "sys" and "modules" in wanted:
                return line, "sys.modules"
            if module in ("gc", "inspect", "traceback", "sys", "threading"):
                reaching = wanted & _ATTRIBUTES | {name for name in wanted if (module, name) in _ONLY_OF}
                return (line, min(reaching)) if reaching else None
        case ast.Attribute(value=ast.Name(id=base), attr="__dict__", lineno=line) if (
            base in _TORCH_DICTIONARIES
        ):
            return line, f"{base}.__dict__"
        case ast.Attribute(value=ast.Name(id=base), attr=name, lineno=line) if (base, name) in _ONLY_OF:
            return line, f"{base}.{name}"
        case ast.Attribute(attr=attribute, lineno=line) if attribute in _ATTRIBUTES:
            return line, attribute
        case ast.Attribute(value=ast.Name(id="builtins"), ctx=ast.Store(), attr=name, lineno=line):
            return line, f"builtins.{name} = …"
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=base)], lineno=line) if (
            base in _TORCH_DICTIONARIES
        ):
            return line, f"vars({base})"
        case ast.Call(func=ast.Name(id="getattr"), args=[base, name, *_], lineno=line) if _root(
            base
        ) in _TORCH_DICTIONARIES and any(map(_is_hidden, _given(name, texts))):
            return line, "getattr(…)"
        case ast.Call(func=ast.Name(id="exec" | "eval" | "compile" as name), args=[source, *_], lineno=line):
            for given in _given(source, texts):
                text = _as_text(given)
                inside = _first_place(text)
                if inside is not None or (not text and _is_hidden(given)):
                    return line, f"{name}(…)" if inside is None else inside[1]
        case ast.Call(func=ast.Name(id="__import__") | ast.Attribute(attr="import_module"), args=[name, *_]):
            if _may_reach(name, texts):
                return node.lineno, "import …"
    return _place_among_modules(node, texts)


def _given(node: ast.expr, texts: Texts) -> Sequence[ast.expr]:
    """Return what stands for an expression: all that a name is given in the cell, else itself."""
    return texts.get(node.id, [node]) if isinstance(node, ast.Name) else [node]


def _may_reach(name: ast.expr, texts: Texts) -> bool:
    """Return whether the name of a module is that of one that reaches into the process, or is hidden."""
    return any(_is_hidden(given) or _reaches(_as_text(given)) for given in _given(name, texts))


def _place_among_modules(node: ast.AST, texts: Texts) -> tuple[int, str] | None:
    """The place where `sys.modules` is asked for more than whether Colab is there."""
    match node:
        case (
            ast.Subscript(value=value, slice=key)
            | ast.Call(func=ast.Attribute(value=value, attr="get" | "pop"), args=[key, *_])
        ) if _is_modules(value) and _may_reach(key, texts):
            return value.lineno, "sys.modules"
        case ast.Attribute(value=value, attr="values" | "items") if _is_modules(value):
            return value.lineno, "sys.modules"
    return None


def _is_modules(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            return True
    return False


def _is_hidden(node: ast.expr) -> bool:
    """Return whether a text that could stand there as it is has been put together out of pieces."""
    if isinstance(node, (ast.Constant, ast.Name)):
        return False
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    texts = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return bool(texts) and names <= _PLAIN


def _as_text(node: ast.expr) -> str:
    """A text as it stands in the source, with a name wherever one is put in; `""` of all else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_as_text(part) or "_" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_as_text(left) or "_") + (_as_text(right) or "_")
    return ""


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _reaches(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _MODULES)
