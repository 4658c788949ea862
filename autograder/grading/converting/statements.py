"""The statements of a test cell as those of a check: each assert a case, with words for who fails it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy

from autograder.cell_source import bound_names
from autograder.grading.building.source import SourceCell
from autograder.grading.converting.names import (
    RAISES,
    CannotConvert,
    Names,
    changed_names,
    last_name,
    root_name,
)

_EXACT = {"assert_equal", "assertEqual", "assert_string_equal"}
_CLOSE = {
    "assert_array_equal": (0, 0),
    "array_equal": (0, 0),
    "allclose": (1e-5, 1e-8),
    "assert_allclose": (1e-7, 0.0),
    "assert_close": (1.3e-6, 1e-5),
    "isclose": (1e-9, 0.0),
    "approx": (1e-6, 1e-12),
}
"""The relative and absolute differences that these functions allow by default, and take in this order."""
_TABLES = {"assert_frame_equal", "assert_series_equal"}
_PLACES = {"assert_almost_equal": 7, "assertAlmostEqual": 7, "assert_array_almost_equal": 6}
_DECIMALS = ("decimal", "places")
_DIFFERENCES = ("rtol", "atol")
_ALLOWED = {
    "rtol": "rtol",
    "atol": "atol",
    "rel_tol": "rtol",
    "abs_tol": "atol",
    "rel": "rtol",
    "abs": "atol",
}
"""The names of differences allowed, as `expect_equal` has them."""
_GROWS = {"range", "zeros", "ones", "empty", "full", "eye", "arange", "linspace", "repeat", "tile", "pow"}
"""Functions that take a number for a size, and with a large answer all memory of the judge."""
_TRUTH = {"assert_true": True, "assertTrue": True, "assert_false": False, "assertFalse": False}


class Statements:
    """The statements of one test cell, converted one by one. What the cell has made so far is remembered."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.given: set[str] = set()
        """The names of what the cell itself makes: inputs, and what a loop goes through."""
        self.values: dict[str, ast.expr | None] = dict.fromkeys(names.variables)
        """The names of what came of a student's code, each with the code to be said in its place."""
        self._known: set[str] = set()
        """The names of what the notebook gives, which students know."""

    def begin(self, body: Sequence[ast.stmt], cell: SourceCell) -> list[str]:
        """Return the lines that make what a cell uses of what the notebook gives. Raises `CannotConvert`."""
        lines = []
        for given, node in self.names.before(body, cell):
            try:
                lines += self.convert(node)
            except CannotConvert as error:
                name = sorted(changed_names(node))[0]
                raise CannotConvert(f"it uses `{name}` of {given.name}, where {error}") from None
        self._known |= self.given
        self.given.clear()
        self.values = dict.fromkeys(self.values)
        return lines

    def convert(self, node: ast.stmt) -> list[str]:
        """Return the lines of a check that do what a statement does. Raises `CannotConvert`."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return []  # the check file has those that it needs
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and _code(node.value.func) == "print"
        ):
            return []  # nobody reads it
        if isinstance(node, ast.Assert) and (name := self.names.is_there(node.test)):
            return [f"submission.{name}.attribute()"]
        self.names.refuse_unknown(node, {*self.given, *self.values, *self._known})
        self._refuse_growth(node)
        match node:
            case ast.Assert(test, message):
                return self._told(message, self._assert(test))
            case ast.Expr(ast.Call(func=func) as call) if name := last_name(func):
                if (lines := self._by_function(name, call)) is not None:
                    return self._told(_option(call, "err_msg"), lines)
            case ast.Raise(ast.Call(ast.Name("AssertionError"), args)):
                return [f"fail({ast.unparse(args[0]) if args else repr('A test of this task fails.')})"]
            case ast.Try() if (call_and_errors := _expected_error(node)) is not None:
                return self._raises(*call_and_errors)
            case ast.With([ast.withitem(ast.Call(func, [errors], []))], [ast.Expr(ast.Call() as call)]):
                if last_name(func) in RAISES:
                    return self._raises(call, errors)
        if not self._is_students(node):
            self._make(bound_names([node]))
            return ast.unparse(node).split("\n")
        return self._of_students(node)

    def _of_students(self, node: ast.stmt) -> list[str]:
        """Convert a statement, no test, in which a student's code has a part."""
        match node:
            case ast.Assign([ast.Name(name)], value):
                line, said = f"{name} = {self._safe(value)}", self._said(value)
                self._came([name])
                self.values[name] = None if name in _names(said) else said
                return [line]
            case ast.Assign([ast.Tuple(targets)], value) if all(
                isinstance(each, ast.Name) for each in targets
            ):
                parts = f"computed(lambda: list({_code(value)}), {self._words(value)})"
                length, said = self._words(value, "len({})"), self._said(value)
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                self._came(names)
                for at, name in enumerate(names):
                    self.values[name] = ast.Subscript(said, ast.Constant(at), ast.Load())
                return [
                    f"parts = {parts}",
                    f"expect_equal(len(parts), {len(targets)}, {length})",
                    f"{_code(node.targets[0]).strip('()')} = parts",
                ]
            case ast.AugAssign(ast.Name(name), operator, value):
                changed = ast.BinOp(ast.Name(name, ast.Load()), operator, value)
                return self._of_students(ast.Assign([ast.Name(name, ast.Store())], changed))
            case ast.Expr(value):
                return [self._safe(value)]
            case ast.For(target, source, body, []):
                through = _code(source)
                if self._is_students(source):
                    through = f"computed(lambda: list({through}), {self._words(source)})"
                    self._came(_stored(target))
                else:
                    self._make(_stored(target))
                return [f"for {_code(target).strip('()')} in {through}:", *self._block(body)]
            case ast.If(test, body, []):
                return [f"if computed(lambda: bool({_code(test)}), {self._words(test)}):", *self._block(body)]
        raise CannotConvert(f"`{_code(node).splitlines()[0]}` has no form in a check", node)

    def _make(self, names: Iterable[str]) -> None:
        """Remember what the cell itself makes. What was computed by it of that name is no more said so."""
        names = set(names)
        self.given |= names
        self.values = {
            name: None if said is None or names & _names(said) else said
            for name, said in self.values.items()
            if name not in names
        }

    def _came(self, names: Iterable[str]) -> None:
        """Remember what came of a student's code."""
        self._make(names)
        self.given -= set(names)
        self.values |= dict.fromkeys(names)

    def _said(self, node: ast.expr) -> ast.expr:
        """Return code with what its names were computed by in their places."""
        return _Instead(self.values).visit(ast.parse(_code(node), mode="eval").body)

    def _block(self, body: Sequence[ast.stmt]) -> list[str]:
        return [f"    {line}" for each in body for line in self.convert(each)] or ["    pass"]

    def _by_function(self, name: str, call: ast.Call) -> list[str] | None:
        """Convert a call of a function that tests; `None` where it is none of those that are known."""
        args, options = call.args, {each.arg: each.value for each in call.keywords}
        if name in RAISES and len(args) > 1:
            return self._raises(ast.Call(args[1], args[2:], call.keywords), args[0])
        if name in _TRUTH and args:
            return self._true(args[0], _TRUTH[name])
        if len(args) < 2:
            return None
        if name in _EXACT:
            return self._equal(args[0], args[1])
        if name in _CLOSE:
            is_numpys = name == "isclose" and "math" not in self.names.imports.get(root_name(call.func), "")
            allowed = map("{:g}".format, _CLOSE["allclose" if is_numpys else name])
            how = dict(zip(_DIFFERENCES, allowed, strict=True))
            if "equal" not in name:
                how |= zip(_DIFFERENCES, map(_code, args[2:4]), strict=False)
            how |= {_ALLOWED[each]: _code(value) for each, value in options.items() if each in _ALLOWED}
            return self._equal(args[0], args[1], **how)
        if name in _TABLES and len(args) == 2:
            how = {str(key): _code(each) for key, each in options.items()}
            return self._equal(args[0], args[1], "expect_table", **how)
        if name in _PLACES:
            given = [*args[2:3], *(options[each] for each in _DECIMALS if each in options)]
            places = _code(given[0]) if given else _PLACES[name]
            return self._equal(args[0], args[1], rtol="0", atol=f"1.5 * 10 ** -{places}")
        return None

    def _assert(self, test: ast.expr) -> list[str]:
        if not self._is_students(test):
            raise CannotConvert("it asks what became of an input, and a check hands out copies", test)
        match test:
            case ast.BoolOp(ast.And(), parts):
                return [line for each in parts for line in self._assert(each)]
            case ast.UnaryOp(ast.Not(), inner):
                return self._true(inner, False)
            case ast.Compare(left, [ast.Eq()], [right]):
                if isinstance(right, ast.Call) and last_name(right.func) == "approx":
                    call = ast.Call(right.func, [left, *right.args], right.keywords)
                    return self._by_function("approx", call) or self._true(test, True)
                if self._is_students(left) != self._is_students(right):
                    return self._equal(left, right)
            case ast.Compare(left, [ast.Is()], [ast.Constant(None) as nothing]):
                return self._equal(left, nothing)
            case ast.Compare(
                ast.Call(func, [ast.BinOp(one, ast.Sub(), other)], []), [ast.Lt() | ast.LtE()], [bound]
            ) if last_name(func) in ("abs", "fabs") and self._is_students(one) != self._is_students(other):
                if not self._is_students(bound):
                    return self._equal(one, other, rtol="0", atol=_code(bound))
            case ast.Call(func=func) if last_name(func) not in RAISES:
                return self._by_function(last_name(func), test) or self._true(test, True)
        return self._true(test, True)

    def _equal(
        self, one: ast.expr, other: ast.expr, expect: str = "expect_equal", **options: str
    ) -> list[str]:
        """A comparison of what a student's code gives with what it must be."""
        seen, wanted = (one, other) if self._is_students(one) else (other, one)
        how = "".join(f", {name}={value}" for name, value in options.items())
        safe = _code(seen) if self._is_sure(seen) else f"lambda: {_code(seen)}"
        right = self._safe(wanted)
        return [f"{expect}({safe}, {right}, {self._words(seen)}{how})"]

    def _true(self, test: ast.expr, wanted: bool) -> list[str]:
        is_answer = isinstance(test, ast.Name) or (
            isinstance(test, ast.Call) and self._is_students(test.func)
        )
        words = self._words(test, "bool({})" if is_answer else "{}")
        return [f"expect_equal(lambda: bool({_code(test)}), {wanted}, {words})"]

    def _raises(self, call: ast.Call, errors: ast.expr) -> list[str]:
        """A call that must stop with one of some errors."""
        named = errors.elts if isinstance(errors, ast.Tuple) else [errors]
        for each in named:
            kind = getattr(builtins, each.id, None) if isinstance(each, ast.Name) else None
            if not (isinstance(kind, type) and issubclass(kind, Exception)):
                raise CannotConvert(f"`{_code(each)}` is none of Python's own exceptions", errors)
        if not self._is_students(call.func):
            raise CannotConvert("what must raise is no call of a student's function", call)
        request = ast.Call(ast.Attribute(call.func, "request", ast.Load()), call.args, call.keywords)
        code = _code(request)
        if not self._is_sure(call):
            code = f"computed(lambda: {code}, {self._words(call)})"
        listed = ", ".join(_code(each) for each in named)
        return [f"with case({self._words(call, '`{}`')}):", f"    expect_raises({code}, {listed})"]

    def _told(self, message: ast.expr | None, lines: list[str]) -> list[str]:
        """Return the lines, with what their author says to who fails there."""
        if not isinstance(message, ast.Constant) or not isinstance(message.value, str):
            return lines
        return [f"with case({message.value!r}):", *(f"    {line}" for line in lines)]

    def _safe(self, value: ast.expr) -> str:
        """Return code for a value in which an error is the student's where their code has a part in it."""
        if self._is_sure(value):
            return _code(value)
        return f"computed(lambda: {_code(value)}, {self._words(value)})"

    def _is_sure(self, value: ast.expr) -> bool:
        """Return whether nothing but a student's function can stop where a value is computed."""
        match value:
            case ast.Call(ast.Name(name), args, keywords) if name in self.names.own:
                return all(map(self._is_sure, [*args, *(each.value for each in keywords)]))
            case ast.Name():
                return True
        return not self._is_students(value)

    def _refuse_growth(self, node: ast.stmt) -> None:
        """Raise `CannotConvert` for what may need all memory or time of the judge with a large answer."""
        for each in ast.walk(node):
            match each:
                case ast.Call(func, args) if last_name(func) in _GROWS and any(map(self._is_students, args)):
                    raise CannotConvert(f"with a large answer `{_code(each)}` has no end", each)
                case ast.BinOp(_, ast.Pow() | ast.Mult(), ast.Constant(int() | float() as few)) | ast.BinOp(
                    ast.Constant(int() | float() as few), ast.Mult()
                ) if few < 1000:
                    pass
                case ast.BinOp(_, ast.Pow() | ast.Mult() | ast.LShift()) if self._is_students(each):
                    raise CannotConvert(f"with a large answer `{_code(each)}` has no end", each)

    def _is_students(self, node: ast.AST) -> bool:
        return self.names.of_students(node, self.values)

    def _words(self, node: ast.expr, around: str = "{}") -> str:
        """Return a text in Python that says what is computed, the inputs by their values."""
        inside = _stored(node)
        inside |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        marks = {name: f"__{at}_given__" for at, name in enumerate(sorted(self.given - inside))}
        text = around.format(ast.unparse(_Renamed(marks).visit(self._said(node))))
        if not any(mark in text for mark in marks.values()):
            return _quoted(text)
        text = text.replace("{", "{{").replace("}", "}}")
        for name, mark in marks.items():
            text = text.replace(mark, f"{{{name}!r}}")
        return f"f{_quoted(text)}"


class _Instead(ast.NodeTransformer):
    def __init__(self, said: Mapping[str, ast.expr | None]) -> None:
        self._said = said

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return deepcopy(self._said.get(node.id)) or node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        func = node.func  # a helper of the cell's own goes by its name
        self.generic_visit(node)
        node.func = func if isinstance(func, ast.Name) else node.func
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return node if isinstance(node.value, ast.Name) else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _expected_error(node: ast.Try) -> tuple[ast.Call, ast.expr] | None:
    """Return the call that a `try` expects to stop, and the errors it may stop with."""
    match node:
        case ast.Try([first, *more], [ast.ExceptHandler(errors, _, handled)], otherwise, []):
            if not all(isinstance(each, ast.Pass) for each in handled) or bool(more) == bool(otherwise):
                return None
            if not all(map(_is_failure, [*more, *otherwise])) or len(more) + len(otherwise) != 1:
                return None
            match first:
                case ast.Expr(ast.Call() as call) | ast.Assign(value=ast.Call() as call):
                    return call, errors or ast.Name("Exception", ast.Load())
    return None


def _is_failure(node: ast.stmt) -> bool:
    match node:
        case ast.Assert(ast.Constant(False)) | ast.Raise(ast.Call(ast.Name("AssertionError"))):
            return True
        case ast.Raise(ast.Name("AssertionError")) | ast.Expr(ast.Call(ast.Attribute(attr="fail"))):
            return True
    return False


def _option(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _stored(node: ast.AST) -> set[str]:
    """Return the names to which code gives a meaning."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


def _code(node: ast.AST) -> str:
    return ast.unparse(node)


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text and text.isprintable() else repr(text)
