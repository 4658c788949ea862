"""Frames: two sizes, a JSON header, and a body with the numbers of the message's tensors.

    sizes   59, 304
    header  [{"number":7,"answer":{"is":"value","value":["tuple",[],"text",[]]}},["float64 5 7","float64 3"]]
    body    280 + 24 bytes

The header is a message (a struct of `messages.py` or `answers.py`) and the layouts of its tensors, in order;
`[]` in the message is the next of them. A struct, without the fields that have their defaults, and a dict
with names are JSON objects; whatever else is not a number, a text, a truth value or `None` is a list
that begins with the name of its kind. How tensors lie in the body is in `tensors.py`.

The judge's end trusts nothing that arrives: a frame is read as plain data or refused with `WireError`. There
is no pickle, no class named by the other side but those that the expected one has room for, and no unknown
field.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, convert

from autograder.protocol.values import Opaque, Ref

MAX_HEADER = 8 << 20
"""Bytes of JSON in one frame."""
MAX_BODY = 64 << 20
"""Bytes of tensors in one frame."""
MAX_NESTING = 14
MAX_ITEMS = 20_000
"""Parts of one message, containers included."""

SIZES = struct.Struct("!II")
"""The beginning of a frame: how many bytes its header has, and its body."""


Kind = TypeVar("Kind", bound=Struct)


class WireError(Exception):
    """Data that is not a frame of this protocol."""


def _no_tensors(layouts: Any, body: bytearray) -> list[Any]:
    if layouts != [] or body:
        raise WireError("tensors, which nobody here can read")
    return []


class Codec(NamedTuple):
    """A library's way to send tensors and dtypes; the defaults are for no library."""

    tensor: Any = ()
    dtype: Any = None
    dtypes: Mapping[str, Any] = {}
    encode: Callable[[list[Any]], tuple[list[str], list[bytes]]] = lambda _: ([], [])
    decode: Callable[[Any, bytearray], list[Any]] = _no_tensors


codec = Codec()
"""The codec in use. Importing `tensors.py` puts the one for torch here."""


def encode_frame(message: Struct) -> bytes:
    """Return a message, with plain data, tensors, `Ref` and `Opaque` anywhere in it, as one frame."""
    writer = _Writer([])
    tree = writer.write(message, 0)
    layouts, body = codec.encode(writer.tensors)
    header = _ENCODER.encode([tree, layouts]).encode()
    if len(header) > MAX_HEADER:
        raise WireError("the message is larger than a frame may be")
    return b"".join((SIZES.pack(len(header), sum(map(len, body))), header, *body))


def decode_frame(header: bytes | bytearray, body: bytearray, kind: type[Kind]) -> Kind:
    """Return one frame's bytes as a message of a kind; `WireError` for anything else.

    The message's tensors lie in `body`, each in a part of its own.
    """
    try:
        tree, layouts = _DECODER.decode(header.decode())
        reader = _Reader(codec.decode(layouts, body))
        message = reader.read(tree, 0)
    except WireError:
        raise
    except Exception as error:  # whatever a frame makes json, numpy or torch trip over, it is no frame
        raise WireError(f"not a frame of this protocol: {type(error).__name__}") from error
    if reader.tensors:
        raise WireError("more tensors than the message names")
    try:
        return convert(message, kind)
    except Exception as error:  # of a tensor where a dict belongs msgspec asks for its keys
        raise WireError(f"not a {kind.__name__}: {error}") from error


class _Limits:
    """Limits of a message: the same for who writes it and who reads it."""

    def __init__(self, tensors: list[Any]) -> None:
        self.tensors = tensors
        self._items = 1

    def within(self, more: int, depth: int) -> None:
        """Refuse a container that is one too deep, or has more in it than a message may."""
        self._items += more
        if depth > MAX_NESTING or self._items > MAX_ITEMS:
            raise WireError("the value is nested too deeply or has too many parts")


class _Writer(_Limits):
    """Values as what JSON can say. The tensors among them are put into `tensors`."""

    def write(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind not in _KINDS:
            if isinstance(value, codec.tensor):
                self.tensors.append(value)
                return _NEXT_TENSOR
            # A subclass is written as what it extends.
            kind = next((base for base in _WRITTEN if isinstance(value, base)), kind)
        if kind in _AS_IT_IS:
            return value
        depth += 1
        if kind is dict:
            if _NAMES.issuperset(map(type, value)):
                self.within(len(value), depth)
                return {key: self.write(item, depth) for key, item in value.items()}
            self.within(3 * len(value), depth)
            pairs = [[self._key(key, depth), self.write(item, depth)] for key, item in value.items()]
            return ["dict", *pairs]
        if kind is int:
            return value if -1 << 63 < value < 1 << 63 else ["opaque", _TOO_LONG, False]
        if kind is tuple or kind is list:
            self.within(len(value), depth)
            return [kind.__name__, *[self.write(item, depth) for item in value]]
        if kind is codec.dtype:
            return ["dtype", str(value).removeprefix("torch.")]
        if kind is float:
            return value if math.isfinite(value) else ["float", float.__repr__(value)]  # numpy's has its own
        if kind is Struct:
            struct_kind: Any = type(value)  # else mypy takes a class for something that has no hash
            fields, tag = _outline(struct_kind)
            written = {
                name: self.write(item, depth)
                for name, default in fields
                if (item := getattr(value, name)) is not default
            }
            self.within(len(tag) + len(written), depth)
            return tag | written
        if kind is Ref:
            return ["ref", value.id, value.type, value.is_module]
        if kind is Opaque:
            return ["opaque", value.what, value.own]
        raise WireError(f"{kind.__name__} does not travel")

    def _key(self, key: Any, depth: int) -> Any:
        """Write a key such as the other side reads: an int of too many bits is there in words."""
        if key is not None and not isinstance(key, _PLAIN):
            raise WireError(f"a {type(key).__name__} as a key does not travel")
        written = self.write(key, depth)
        return _TOO_LONG if isinstance(key, int) and type(written) is list else written


class _Reader(_Limits):
    """Values made of what JSON said. The tensors among them are taken from `tensors`, the last one first."""

    def read(self, tree: Any, depth: int) -> Any:
        kind = type(tree)
        if kind is list:
            return self._named(tree, depth + 1) if tree else self.tensors.pop()
        if kind is str:
            return tree if tree.isascii() else _text(tree)
        if kind is int:
            return _int(tree)
        if kind is dict:
            depth += 1
            self.within(len(tree), depth)
            return {_text(key): self.read(item, depth) for key, item in tree.items()}
        if kind in _AS_IT_IS or kind is float:
            return tree
        raise WireError("not a value of this protocol")

    def _named(self, tree: list[Any], depth: int) -> Any:
        name = tree[0]
        if name == "tuple" or name == "list":
            self.within(len(tree) - 1, depth)
            items = [self.read(item, depth) for item in tree[1:]]
            return tuple(items) if name == "tuple" else items
        if name == "dtype":
            _, said = tree
            return codec.dtypes[said]
        if name == "ref":
            _, number, said, is_module = tree
            if type(number) is int and type(is_module) is bool:
                return Ref(_int(number), _text(said)[:200], is_module)
        if name == "opaque":
            _, said, own = tree
            if type(own) is bool:
                return Opaque(_text(said)[:200], own)
        if name == "dict":
            self.within(3 * (len(tree) - 1), depth)
            return dict([self._pair(pair, depth) for pair in tree[1:]])
        if name == "float":
            _, said = tree
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[said]
        raise WireError("not a value of this protocol")

    def _pair(self, pair: Any, depth: int) -> tuple[Any, Any]:
        if type(pair) is not list or len(pair) != 2:
            raise WireError("not a key and its value")
        key, item = (self.read(part, depth) for part in pair)
        if key is not None and not isinstance(key, _PLAIN):
            raise WireError("not a key of this protocol")
        return key, item


@cache
def _outline(kind: Any) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Return a struct's fields with their defaults, and what its JSON object begins with: its tag, if any."""
    without = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    defaults = [*[NODEFAULT] * without, *kind.__struct_defaults__]
    config = kind.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field is not None else {}
    return list(zip(kind.__struct_fields__, defaults, strict=True)), tag


_AS_IT_IS = frozenset({str, bool, type(None)})
_WRITTEN = (str, bool, type(None), int, float, list, tuple, dict, Ref, Opaque, Struct)
_KINDS = frozenset(_WRITTEN)
_NAMES = frozenset({str})
_PLAIN = (bool, int, float, str)
"""The kinds of keys that travel, besides `None`."""
_TOO_LONG = "an int of more than 64 bits"
_NEXT_TENSOR: list[Any] = []


def _int(number: int) -> int:
    if abs(number) >= 1 << 63:  # also: keys that are multiples of 2**61 - 1 all have one hash
        raise WireError(_TOO_LONG)
    return number


def _text(text: Any) -> str:
    """JSON can say half a surrogate pair, which no file can be written with afterwards."""
    if type(text) is not str:
        raise WireError("not a text")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _refuse_constant(name: str) -> Any:
    raise WireError(f"{name} is not JSON")


_ENCODER = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
