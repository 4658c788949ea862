"""References: what a check compares answers with, computed where it may be seen and looked up where not.

A reference is often a right answer, written down. So students get its results on the public inputs of their
notebooks, as numbers, and not its text: `autograder build` notes each result under what it was called with,
and in the notebook it is looked up. Grading computes it, from inputs of its own.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial, wraps
from types import CellType, FunctionType
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import torch
from torch import nn

from autograder.checking.diagnosis.fingerprint import weights
from autograder.checking.tolerance import RECORDED
from autograder.protocol.values import Json

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


def recorded(function: Callable[..., Result]) -> Callable[..., Result]:
    """Mark a function that computes the right answer for a check, from its arguments alone.

    Students do not get its body: their notebooks look up its results on the public inputs. These are tensors,
    numbers, texts, or containers of such. The function is defined at the top level of its file.
    Raises nothing here: `autograder build` says so where it gives anything else, or two results for what
    cannot be told apart.

        @recorded
        def twice(x):
            return x + x
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Result:
        tape = _tapes[-1] if _tapes else None
        if tape is not None:
            return tape.result(function.__name__, function, args, kwargs)
        result = function(*args, **kwargs)
        if result is NotImplemented:  # what stands in place of a body that is not handed out
            raise NotRecorded(function.__name__)
        return result

    _recorded.add(called)
    return called


def is_recorded(function: Callable[..., Any]) -> bool:
    """Return whether a function is marked with `@recorded`."""
    return function in _recorded


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
    if result is NotImplemented:
        raise NotRecorded(function.__name__)
    return result


@dataclass(frozen=True)
class _Call:
    """The arguments of one call: all that is exact as a text, and numbers that tell where its floats lie."""

    form: str
    numbers: tuple[float, ...]

    def near(self, other: Sequence[float]) -> bool:
        """Return whether the numbers are equal up to rounding; a tensor's are relative to its norm."""
        pairs = zip(self.numbers, other, strict=True)
        return all(abs(mine - its) <= RECORDED * max(1.0, abs(mine), abs(its)) for mine, its in pairs)


class Recorder:
    """Notes what references give. It goes from process to process as plain data.

    A tensor would be handed over by a socket in the folder for temporary files, whose path may be too long.
    """

    def __init__(self) -> None:
        self.tapes: dict[str, list[tuple[_Call, Any]]] = {}

    def __getstate__(self) -> Json:
        return self.as_data()

    def __setstate__(self, data: Mapping[str, Any]) -> None:
        numbers = data["numbers"]
        self.tapes = {
            place: [(_Call(form, tuple(near)), _unpacked(result, numbers)) for form, near, result in entries]
            for place, entries in data["tapes"].items()
        }

    def tape(self, place: str) -> RecordingTape:
        """Return the tape on which one check's calls are noted."""
        return RecordingTape(self.tapes.setdefault(place, []))

    def add(self, other: Recorder) -> None:
        """Take over what another has noted."""
        for place, entries in other.tapes.items():
            tape = self.tape(place)
            for call, result in entries:
                tape.note(call, result)

    def as_data(self) -> Json:
        """All of it, for a JSON file; a tensor that occurs several times is there once."""
        pool: dict[str, str] = {}
        tapes = {
            place: [[call.form, list(call.numbers), _packed(result, pool)] for call, result in entries]
            for place, entries in sorted(self.tapes.items())
            if entries
        }
        return {"tapes": tapes, "numbers": dict(sorted(pool.items()))}


class RecordingTape:
    """Computes references, and notes what they give."""

    def __init__(self, entries: list[tuple[_Call, Any]]) -> None:
        self._entries = entries

    def result(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = _call_of(name, args, kwargs)
        result = _plain(_computed(function, args, kwargs))
        self.note(call, result)
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


class Recorded:
    """The notes of a `Recorder`, read back from a file's data."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._tapes, self._numbers = data["tapes"], data["numbers"]

    def tape(self, place: str) -> RecordedTape:
        """Return the tape in which one check's calls are looked up."""
        return RecordedTape(self._tapes.get(place, ()), self._numbers)


class RecordedTape:
    """Looks references up; one that is not on record is computed, if it was handed out."""

    def __init__(self, entries: Sequence[Sequence[Any]], numbers: Mapping[str, str]) -> None:
        self._entries, self._numbers = entries, numbers

    def result(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = _call_of(name, args, kwargs)
        for form, numbers, packed in self._entries:
            if form == call.form and call.near(numbers):
                return _unpacked(packed, self._numbers)
        return _computed(function, args, kwargs)


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
        case torch.Size():
            return value
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


def _packed(value: Any, pool: dict[str, str]) -> Any:
    match value:
        case torch.Tensor():
            data = (
                value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            )
            name = hashlib.blake2b(data, digest_size=8).hexdigest()
            pool.setdefault(name, base64.b85encode(zlib.compress(data, 9)).decode())
            return {"tensor": [str(value.dtype).removeprefix("torch."), list(value.shape), name]}
        case dict():
            return {"dict": [[_packed(key, pool), _packed(part, pool)] for key, part in value.items()]}
        case torch.Size():
            return {"size": list(value)}
        case tuple():
            return {"tuple": [_packed(part, pool) for part in value]}
        case list():
            return [_packed(part, pool) for part in value]
    return value


def _unpacked(value: Any, numbers: Mapping[str, str]) -> Any:
    match value:
        case {"tensor": [dtype, shape, name]}:
            data = bytearray(zlib.decompress(base64.b85decode(numbers[name])))
            kind = _dtype(dtype)
            flat = torch.frombuffer(data, dtype=kind) if data else torch.empty(0, dtype=kind)
            return flat.reshape(shape)
        case {"dict": pairs}:
            return {_unpacked(key, numbers): _unpacked(part, numbers) for key, part in pairs}
        case {"size": sizes}:
            return torch.Size(sizes)
        case {"tuple": parts}:
            return tuple(_unpacked(part, numbers) for part in parts)
        case list():
            return [_unpacked(part, numbers) for part in value]
    return value


@cache
def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found
