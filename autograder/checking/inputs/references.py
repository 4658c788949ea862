"""References: what a check compares answers with, computed where it may be seen and looked up where not.

A reference is often a right answer, written down. So students get its results on the public inputs of their
notebooks, as numbers, and not its text: `autograder build` notes each result under what it was called with,
and in the notebook it is looked up. Grading computes it, from inputs of its own.
"""

from __future__ import annotations

import hashlib
import inspect
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import torch
from msgspec import Struct, field
from torch import nn

from autograder.checking.diagnosis.fingerprint import weights
from autograder.checking.tolerance import RECORDED
from autograder.protocol import tensors as _tensors  # noqa: F401 so that frames carry those of torch
from autograder.protocol.frames import SIZES, decode_frame, encode_frame

Result = TypeVar("Result")


class NotRecorded(Exception):
    """A reference that is not handed out was asked for something that is not on record."""


class AmbiguousReference(Exception):
    """A reference gave two results for what cannot be told apart."""


class _Tape(Protocol):
    def result(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any: ...


_tapes: list[_Tape | None] = []
"""The one in use is the last; `None` while a reference computes, which may call others."""


_recorded: WeakSet[Callable[..., Any]] = WeakSet()


def recorded(function: Callable[..., Result], name: str = "") -> Callable[..., Result]:
    """Have a function's results noted down, or looked up, under a name while a tape is in use.

    It depends on its arguments alone and returns tensors, numbers, texts, or containers of such.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Result:
        tape = _tapes[-1] if _tapes else None
        if tape is not None:
            return tape.result(name or function.__name__, function, args, kwargs)
        return _computed(function, args, kwargs)

    _recorded.add(called)
    return called


def is_recorded(function: Callable[..., Any]) -> bool:
    """Return whether a function's results are noted down and looked up."""
    return function in _recorded


def recorded_in(folder: Path) -> list[CodeType]:
    """Return the code of the recorded functions that the files of a folder define."""
    codes = [inspect.unwrap(each).__code__ for each in _recorded]
    found = {(code.co_filename, code.co_firstlineno): code for code in codes}  # a file may be imported twice
    return [code for (file, _), code in sorted(found.items()) if Path(file).parent == folder]


@contextmanager
def using(tape: _Tape | None) -> Iterator[None]:
    """Have references noted down, or looked up, while the block runs."""
    _tapes.append(tape)
    try:
        yield
    finally:
        _tapes.pop()


def _computed(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with using(None):
        result = function(*args, **kwargs)
    if result is NotImplemented:  # what stands in place of a body that is not handed out
        raise NotRecorded(function.__name__)
    return result


class _Call(Struct, frozen=True):
    """The arguments of one call: all that is exact as a text, and numbers that tell where its floats lie."""

    form: str
    numbers: tuple[float, ...]

    def near(self, other: Sequence[float]) -> bool:
        """Return whether the numbers are equal up to rounding; a tensor's are relative to its norm."""
        pairs = zip(self.numbers, other, strict=True)
        return all(abs(mine - its) <= RECORDED * max(1.0, abs(mine), abs(its)) for mine, its in pairs)


class _Noted(Struct, frozen=True):
    """One call of a reference, and the place of its result among the results."""

    call: _Call
    result: int


class _Result(Struct):
    """The frame in which a result is kept: as it would cross the wall."""

    value: Any


class Record(Struct):
    """The results of references on some inputs, as a file keeps them."""

    results: list[bytes] = field(default_factory=list)
    """Compressed frames, each different one once."""
    calls: dict[str, list[_Noted]] = field(default_factory=dict)
    """The calls of each check, by its place."""
    arguments: dict[str, list[list[Any]]] = field(default_factory=dict)
    """The arguments of each reference: a name, and its default if that is a JSON value."""


class Recorder:
    """Notes the results of references."""

    def __init__(self) -> None:
        self._entries: dict[str, list[tuple[_Call, Any]]] = {}
        self._arguments: dict[str, list[list[Any]]] = {}

    def tape(self, place: str) -> RecordingTape:
        """Return the tape on which one check's calls are noted."""
        return RecordingTape(self._entries.setdefault(place, []), self._arguments)

    def add(self, record: Record) -> None:
        """Take over what another has noted."""
        self._arguments |= record.arguments
        for place, noted in record.calls.items():
            tape = self.tape(place)
            for each in noted:
                tape.note(each.call, _unpacked(record.results[each.result]))

    def record(self) -> Record:
        """Return all of it as plain data, which also goes from process to process."""
        found: dict[bytes, int] = {}
        calls = {
            place: [_Noted(call, found.setdefault(_packed(result), len(found))) for call, result in entries]
            for place, entries in sorted(self._entries.items())
            if entries
        }
        return Record(list(found), calls, dict(sorted(self._arguments.items())))


class RecordingTape:
    """Computes references, and notes what they give."""

    def __init__(self, entries: list[tuple[_Call, Any]], arguments: dict[str, list[list[Any]]]) -> None:
        self._entries, self._arguments = entries, arguments

    def result(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = _call_of(name, args, kwargs)
        result = _plain(_computed(function, args, kwargs))
        self.note(call, result)
        self._arguments.setdefault(name, _arguments_of(function))
        return _plain(result)  # off its graph, as students' notebooks get it

    def note(self, call: _Call, result: Any) -> None:
        """Note a result. Raises `AmbiguousReference` where another one is noted for such a call."""
        for known, noted in self._entries:
            if known.form == call.form and known.near(call.numbers):
                if not _same(noted, result):
                    raise AmbiguousReference(
                        f"`{call.form.partition('(')[0]}` gives different results for arguments that cannot "
                        "be told apart: a reference depends on its arguments alone."
                    )
                return
        self._entries.append((call, result))


class RecordedTape:
    """Looks up what a check's references give; one that is not on record is computed, if it is there."""

    def __init__(self, record: Record, place: str) -> None:
        self._noted, self._results = record.calls.get(place, []), record.results

    def result(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = _call_of(name, args, kwargs)
        for each in self._noted:
            if each.call.form == call.form and call.near(each.call.numbers):
                return _unpacked(self._results[each.result])
        return _computed(function, args, kwargs)


def _arguments_of(function: Callable[..., Any]) -> list[list[Any]]:
    plain = (bool, int, float, str, type(None))
    stated = inspect.signature(function).parameters.values()
    return [[each.name, *([each.default] if isinstance(each.default, plain) else [])] for each in stated]


def _call_of(name: str, args: Any, kwargs: Any) -> _Call:
    numbers: list[float] = []
    said = f"{_form(args, numbers)} {_form(dict(sorted(kwargs.items())), numbers)}"
    digest = hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
    return _Call(f"{name}({digest})", tuple(numbers))


def _form(value: Any, numbers: list[float]) -> str:
    """Return the exact parts of a value as text; projections of floating numbers are added to `numbers`."""
    match value:
        case torch.Tensor():
            return f"{value.dtype}{tuple(value.shape)}{_where(value.detach(), numbers)}"
        case nn.Module():
            return f"{value!r} {_form(value.state_dict(), numbers)}"
        case Mapping():
            return f"{{{', '.join(f'{key!r}: {_form(part, numbers)}' for key, part in value.items())}}}"
        case tuple() | list():
            kind = "tuple" if isinstance(value, tuple) else "list"
            return f"{kind}({', '.join(_form(each, numbers) for each in value)})"
        case float():
            numbers.append(value)
            return "float"
        case None | bool() | int() | str() | torch.dtype():
            return repr(value)
        case partial(args=args, keywords=keywords):
            return f"partial({_form(args, numbers)}, {_form(keywords, numbers)})"
        case FunctionType(__closure__=cells):
            # One of the check's own, known by the check; what it sees may depend on the student.
            seen = [_cell(cell) for cell in cells or ()]
            return f"function({', '.join('' if callable(each) else _form(each, numbers) for each in seen)})"
        case _ if callable(value):
            return "callable"
        case _:
            return (
                repr(value)
                if type(value).__module__.startswith("autograder.checking")
                else type(value).__name__
            )


def _cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not there yet
        return None


def _where(tensor: torch.Tensor, numbers: list[float]) -> str:
    if not tensor.is_floating_point():
        data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        return hashlib.blake2b(data, digest_size=8).hexdigest()
    flat = tensor.reshape(-1).to(torch.float64)
    finite = torch.isfinite(flat)
    told = "" if finite.all() else f" but {(~finite).nonzero().flatten().tolist()}"
    flat = torch.where(finite, flat, 0.0)
    size = float(flat.norm())
    numbers.append(size)
    if size:
        numbers += [float(number) / size for number in weights(len(flat)) @ flat]
    return told


def _plain(value: Any) -> Any:
    """Return a result detached, in a form that a file can hold."""
    match value:
        case torch.Tensor():
            return value.detach().clone()
        case dict():
            return {_plain(key): _plain(part) for key, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case tuple():
            return tuple(_plain(part) for part in value)
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(
        "a reference gives tensors, numbers, texts and what holds these, not an object of type "
        f"{type(value).__name__}"
    )


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return (one.shape, one.dtype) == (other.shape, other.dtype) and torch.allclose(
            one, other, rtol=RECORDED, atol=RECORDED, equal_nan=True
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float):
        return (
            one == other
            or abs(one - other) <= RECORDED * max(1.0, abs(one))
            or (one != one and other != other)
        )
    return bool(one == other)


def _packed(result: Any) -> bytes:
    return zlib.compress(encode_frame(_Result(result)), 9)


def _unpacked(packed: bytes) -> Any:
    frame = bytearray(zlib.decompress(packed))
    header = SIZES.size + SIZES.unpack_from(frame)[0]
    return decode_frame(frame[SIZES.size : header], frame[header:], _Result).value
