r"""Python's and numpy's own values as plain data, and back: sets, arrays, frames, long ints, bytes.

    pack({1, 2})      {"\0set": [1, 2]}
    pack([1, (2,)])   [1, (2,)]

What is plain already stays as it is. What has no such form is left to whoever sends it.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.protocol.frames import MAX_NESTING
from autograder.protocol.values import Opaque

_MARK = "\0"
"""The beginning of the key under which a value that was packed lies, alone in its dict."""
_KEYS = (str, int, float, bool, type(None))
_OF_TIME = re.compile(r"<[mM]8\[(?:ns|us|ms|s|m|h|D|M|Y)\]")
_OF_NUMBERS = re.compile(r"[<|][ufc](?:1|2|4|8|16|32)")
_MAX_DIGITS = 3500
"""Hexadecimal digits of an int: of more Python does not write the decimal ones."""


def pack(value: Any, leaf: Callable[[Any], Any] = lambda value: value, depth: int = 0) -> Any:
    """Return a value as plain data; `leaf` is asked for what it has no form for."""
    if depth > MAX_NESTING:
        return Opaque("a value nested too deeply")

    def inner(item: Any) -> Any:
        return pack(item, leaf, depth + 1)

    pandas = sys.modules.get("pandas")
    match value:
        case np.generic():  # first, for some of these are numbers or texts of Python's, too
            return (
                inner(value.item()) if not isinstance(value, (np.datetime64, np.timedelta64)) else leaf(value)
            )
        case bool() | None | float() | str():
            return value
        case int():
            return value if abs(value) < 1 << 63 else {f"{_MARK}int": f"{value:x}"}
        case list():
            return [inner(item) for item in value]
        case tuple():
            return tuple([inner(item) for item in value])
        case dict():
            if all(type(key) in _KEYS and not str(key).startswith(_MARK) for key in value):
                return {key: inner(item) for key, item in value.items()}
            return {f"{_MARK}dict": [inner(part) for pair in value.items() for part in pair]}
        case set() | frozenset():
            return {f"{_MARK}set": [inner(item) for item in value]}
        case complex():
            return {f"{_MARK}complex": [value.real, value.imag]}
        case bytes() | bytearray():
            return {f"{_MARK}bytes": value.hex()}
        case np.ndarray():
            return {f"{_MARK}array": _packed_array(value, inner)}
    if pandas is not None and isinstance(value, pandas.Series):
        return {f"{_MARK}series": [inner(value.name), inner(_labels(value.index)), inner(np.asarray(value))]}
    if pandas is not None and isinstance(value, pandas.DataFrame):
        columns = [np.asarray(value.iloc[:, at]) for at in range(value.shape[1])]
        labels = [_labels(value.columns), _labels(value.index)]
        return {f"{_MARK}frame": [*inner(labels), inner(columns)]}
    return leaf(value)


def unpack(value: Any) -> Any:
    """Return the value that was packed. Raises `ValueError` or `TypeError` for what no value is packed as."""
    match value:
        case list():
            return [unpack(item) for item in value]
        case tuple():
            return tuple([unpack(item) for item in value])
        case dict():
            kind = next(iter(value), "")
            if len(value) == 1 and isinstance(kind, str) and kind.startswith(_MARK):
                return _unpacked(kind[1:], value[kind])
            return {key: unpack(item) for key, item in value.items()}
    return value


def _packed_array(array: np.ndarray, inner: Callable[[Any], Any]) -> list[Any]:
    """Return what an array is of, its shape, and its numbers: as a tensor where they travel as one."""
    from autograder.protocol.tensors import tensor_of  # it imports torch

    tensor = tensor_of(array)
    if tensor is not None:
        return [tensor]
    kind = array.dtype.newbyteorder("<").str
    flat = array.reshape(-1)
    numbers = flat.astype(np.int64) if array.dtype.kind in "mM" else flat
    return [kind, list(array.shape), inner(numbers.tolist())]


def _unpacked(kind: str, held: Any) -> Any:
    match kind, held:
        case "int", str():
            if len(held) > _MAX_DIGITS:
                raise ValueError("an int of too many digits")
            return int(held, 16)
        case "dict", list() if len(held) % 2 == 0:
            parts = unpack(held)
            return dict(zip(parts[::2], parts[1::2], strict=True))
        case "set", list():
            return set(unpack(held))
        case "complex", [float() as real, float() as imaginary]:
            return complex(real, imaginary)
        case "bytes", str():
            return bytes.fromhex(held)
        case "array", list():
            return _unpacked_array(held)
        case (("series" | "frame"), list()):
            return _of_pandas(kind, held)
    raise ValueError(f"nothing is packed as {kind[:20]!r}")


def _unpacked_array(held: list[Any]) -> np.ndarray:
    match held:
        case [str() as kind, list() as shape, list() as items]:
            flat = np.empty(len(items), dtype=object)
            for at, item in enumerate(unpack(items)):
                flat[at] = item
            if _OF_TIME.fullmatch(kind):
                flat = flat.astype(np.int64).astype(kind)
            elif _OF_NUMBERS.fullmatch(kind):
                flat = flat.astype(kind)
            elif kind[1:2] in ("U", "S"):  # never of the length that is said
                flat = flat.astype(kind[1])
            return flat.reshape(shape)
        case [tensor]:
            from autograder.protocol.tensors import array_of

            return array_of(tensor)
    raise ValueError("no array")


def _labels(index: Any) -> list[Any]:
    """Return the names of an index and its labels: an array, so that dates are dates again."""
    return [list(index.names), np.asarray(index)]


def _of_pandas(kind: str, held: list[Any]) -> Any:
    """Return a series or a frame; where there is no pandas, what it is, in words."""
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        return Opaque(f"a pandas.{'Series' if kind == 'series' else 'DataFrame'}")

    def index(held: list[Any]) -> Any:
        names, labels = unpack(held)
        if len(names) > 1:
            return pandas.MultiIndex.from_tuples(labels, names=names)
        return pandas.Index(labels, name=names[0])

    first, labels, values = held
    if kind == "series":
        return pandas.Series(unpack(values), index=index(labels), name=unpack(first))
    made = pandas.DataFrame(dict(enumerate(unpack(values))), index=index(labels))
    return made.set_axis(index(first), axis=1)
