"""The language spoken across the wall: length-prefixed frames of a JSON header and a safetensors body.

Both ends use it; the judge's end trusts nothing that arrives. A frame is read as plain data or
refused with `WireError`: no pickle, no class named by the other side, no unknown field.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import TensorSpec, serialize
from safetensors.torch import load as load_tensors

MAX_HEADER = 8 << 20
"""Bytes of JSON in one frame."""
MAX_BODY = 64 << 20
"""Bytes of tensors in one frame."""
MAX_TENSORS = 512
MAX_DIMS = 16
MAX_NESTING = 12
MAX_ITEMS = 20_000
"""Parts of one message, containers included."""

_PREFIX = struct.Struct("!II")
_AT_ONCE = 1 << 18
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
        torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64,
    )
}  # fmt: skip


class WireError(Exception):
    """What arrived is not a frame of this protocol."""


class WireClosed(Exception):
    """The other side is gone."""


class WireTimeout(Exception):
    """The other side did not answer in time."""


@dataclass(frozen=True)
class Ref:
    """An object that stays in the worker: a module, a function, anything that is not plain data."""

    id: int
    type: str
    is_module: bool = False
    """Whether it is an `nn.Module`."""


@dataclass(frozen=True)
class Opaque:
    """An answer that is no plain data, in words: `a numpy.ndarray`, `a sparse tensor`."""

    what: str


class Stream:
    """Frames over one connected stream socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._arrived = bytearray()
        """What has been read beyond the last frame."""

    def send(self, message: dict[str, Any], timeout: float | None = None) -> None:
        """Send one message, a dict of plain data with tensors, `Ref` and `Opaque` anywhere in it."""
        tensors: dict[str, torch.Tensor] = {}
        header = json.dumps(_encode(message, tensors, 0, [0])).encode()
        body = _save(tensors) if tensors else b""
        if len(header) > MAX_HEADER or len(body) > MAX_BODY or len(tensors) > MAX_TENSORS:
            raise WireError("the message is larger than a frame may be")
        self.sock.settimeout(timeout)
        try:
            self.sock.sendall(_PREFIX.pack(len(header), len(body)) + header + body)
        except TimeoutError as error:
            raise WireTimeout from error
        except OSError as error:
            raise WireClosed from error

    def receive(self, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message, every part of it checked. `timeout` in seconds bounds the whole frame."""
        deadline = None if timeout is None else time.monotonic() + timeout
        header_size, body_size = _PREFIX.unpack(self._read(_PREFIX.size, deadline))
        if header_size > MAX_HEADER or body_size > MAX_BODY:
            raise WireError("a frame larger than the limit was announced")
        frame = self._read(header_size + body_size, deadline)
        return decode_frame(frame[:header_size], frame[header_size:])

    def _read(self, size: int, deadline: float | None) -> bytes:
        while len(self._arrived) < size:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise WireTimeout
            if left is not None or self.sock.gettimeout() is not None:
                self.sock.settimeout(left)
            try:
                part = self.sock.recv(_AT_ONCE)
            except TimeoutError as error:
                raise WireTimeout from error
            except OSError as error:
                raise WireClosed from error
            if not part:
                raise WireClosed
            self._arrived += part
        taken = bytes(self._arrived[:size])
        del self._arrived[:size]
        return taken


def decode_frame(header: bytes, body: bytes) -> dict[str, Any]:
    """One frame's bytes as a message; `WireError` for anything this protocol does not say."""
    try:
        tensors = _load(body) if body else {}
        tree = _DECODER.decode(header.decode())
        message = _decode(tree, tensors, 0, [0])
    except WireError:
        raise
    except Exception as error:  # whatever a frame makes json, safetensors or torch trip over, it is no frame
        raise WireError(f"not a frame of this protocol: {type(error).__name__}") from error
    if not isinstance(message, dict) or not all(isinstance(key, str) for key in message):
        raise WireError("a message is a dict with names")
    return message


def map_tree(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Apply `leaf` to everything in nested lists, tuples and dicts that is not one of those."""
    if type(value) is list:
        return [map_tree(item, leaf) for item in value]
    if type(value) is tuple:
        return tuple(map_tree(item, leaf) for item in value)
    if type(value) is dict:
        return {key: map_tree(item, leaf) for key, item in value.items()}
    return leaf(value)


def tree_leaves(value: Any) -> list[Any]:
    """Everything in nested lists, tuples and dicts that is not one of those, in order."""
    leaves: list[Any] = []
    map_tree(value, leaves.append)
    return leaves


def _save(tensors: dict[str, torch.Tensor]) -> bytes:
    """Contiguous tensors as one body: `safetensors.torch.save` without its ten times slower way by numpy."""
    specs = {
        name: TensorSpec(
            dtype=str(value.dtype).removeprefix("torch."),
            shape=value.shape,
            data_ptr=value.data_ptr(),
            data_len=value.nbytes,
        )
        for name, value in tensors.items()
    }
    return serialize(specs)


def _load(body: bytes) -> dict[str, torch.Tensor]:
    """A body's tensors. What announces more of them, or other ones, than a sender may is not read at all."""
    if int.from_bytes(body[:8], "little") > MAX_TENSORS * 512:
        raise WireError("too long a list of tensors in one frame")
    tensors = load_tensors(body)
    if len(tensors) > MAX_TENSORS:
        raise WireError("too many tensors in one frame")
    if any(t.dim() > MAX_DIMS or t.dtype not in DTYPES.values() for t in tensors.values()):
        raise WireError("a tensor of a kind that does not travel")
    return tensors


def _encode(value: Any, tensors: dict[str, torch.Tensor], depth: int, count: list[int]) -> Any:
    count[0] += 1
    if depth > MAX_NESTING or count[0] > MAX_ITEMS:
        raise WireError("the value is nested too deeply or has too many parts")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value, tensors)
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else {"opaque": "an int of more than 64 bits"}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [_encode(item, tensors, depth + 1, count) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, tensors, depth + 1, count) for item in value]}
    if isinstance(value, dict):
        if all(type(key) is str for key in value):
            return {"map": {key: _encode(item, tensors, depth + 1, count) for key, item in value.items()}}
        count[0] += len(value)  # the reader counts the pairs, too
        return {
            "dict": [[_encode(part, tensors, depth + 1, count) for part in pair] for pair in value.items()]
        }
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, Ref):
        return {"ref": value.id, "type": value.type, "module": value.is_module}
    if isinstance(value, Opaque):
        return {"opaque": value.what}
    raise WireError(f"{type(value).__name__} does not travel")


def _encode_tensor(value: torch.Tensor, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    key = str(len(tensors))
    value = value.detach()
    if value.is_contiguous():
        tensors[key] = value
        return {"tensor": key}
    # A transposed tensor arrives as transposed memory: `.view()` on it must fail there as it does here.
    order = sorted(range(value.dim()), key=lambda dim: (-value.stride()[dim], dim))
    packed = value.permute(order)
    if not packed.is_contiguous():
        tensors[key] = value.contiguous()
        return {"tensor": key}
    tensors[key] = packed
    return {"tensor": key, "order": order}


def _decode(tree: Any, tensors: dict[str, torch.Tensor], depth: int, count: list[int]) -> Any:
    count[0] += 1
    if depth > MAX_NESTING or count[0] > MAX_ITEMS:
        raise WireError("the value is nested too deeply or has too many parts")
    kind = type(tree)
    if kind is str:
        return _text(tree)
    if tree is None or kind is bool or kind is float:
        return tree
    if kind is int:
        return _int(tree)
    if kind is list:
        return [_decode(item, tensors, depth + 1, count) for item in tree]
    if kind is not dict:
        raise WireError("not a value of this protocol")
    # Asked for by all of the names at once, in the order that `_encode` gives them: a further one is refused.
    match tuple(tree):
        case ("tensor",):
            return tensors[tree["tensor"]]
        case ("map",) if type(items := tree["map"]) is dict:
            return {_text(key): _decode(item, tensors, depth + 1, count) for key, item in items.items()}
        case ("tuple",) if type(items := tree["tuple"]) is list:
            return tuple(_decode(item, tensors, depth + 1, count) for item in items)
        case ("tensor", "order"):
            return _transposed(tensors[tree["tensor"]], tree["order"])
        case ("dict",) if type(pairs := tree["dict"]) is list:
            items = [_decode(pair, tensors, depth, count) for pair in pairs]
            return {_key(key): item for key, item in map(_pair, items)}
        case ("float",):
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[tree["float"]]
        case ("dtype",):
            return DTYPES[tree["dtype"]]
        case ("ref", "type", "module") if type(tree["ref"]) is int and type(tree["module"]) is bool:
            return Ref(_int(tree["ref"]), _text(tree["type"])[:200], tree["module"])
        case ("opaque",):
            return Opaque(_text(tree["opaque"])[:200])
    raise WireError("unknown fields in a value")


def _transposed(packed: torch.Tensor, order: Any) -> torch.Tensor:
    # Compared whole: looking each dimension up in a list of a million would take the judge hours.
    if len(order) != packed.dim() or sorted(order) != list(range(len(order))):
        raise WireError("not an order of the tensor's dimensions")
    return packed.permute([order.index(dim) for dim in range(len(order))])


def _int(number: int) -> int:
    if abs(number) >= 1 << 63:  # also: keys that are multiples of 2**61 - 1 all have one hash
        raise WireError("an int of more than 64 bits")
    return number


def _text(text: Any) -> str:
    """JSON can say half a surrogate pair, which no file can be written with afterwards."""
    if type(text) is not str:
        raise WireError("not a text")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _pair(pair: Any) -> list[Any]:
    if isinstance(pair, list) and len(pair) == 2:
        return pair
    raise WireError("not a key and its value")


def _key(key: Any) -> Any:
    if key is None or isinstance(key, (bool, int, float, str)):
        return key
    raise WireError("not a key of this protocol")


def _refuse_constant(name: str) -> Any:
    raise WireError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
