"""Tensors in the body of a frame: their numbers alone, one after the other.

    layout   float64 5 7         or, transposed, float64 5 7; 1 0
    bytes    280

Each begins where the one before it ends, at the next multiple of eight. A layout cannot say where, so that no
tensor can overlap another, be missing or reach outside; and what the layouts say fills the body to its end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from ctypes import string_at
from functools import lru_cache
from typing import Any, NamedTuple, get_args

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor, nn

from autograder.protocol import frames
from autograder.protocol.frames import MAX_BODY, WireError
from autograder.protocol.values import DtypeName

MAX_TENSORS = 512
MAX_DIMS = 16

_ALIGNED = 8
"""Every tensor begins at a multiple of so many bytes, which is the size of the largest number."""
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in get_args(DtypeName)}
NAMES: dict[torch.dtype, DtypeName] = {DTYPES[name]: name for name in get_args(DtypeName)}
_STORED = {"bfloat16": "int16", "bool": "uint8"}
"""The dtype as which numpy reads the bytes of another, where that is not its name."""
_AFTERWARDS: dict[torch.dtype, Callable[[Tensor], Tensor]] = {
    torch.bfloat16: lambda stored: stored.view(torch.bfloat16),
    torch.bool: lambda stored: stored.to(torch.bool),  # any byte may arrive; torch counts on 0 and 1
}
_DENSE = (Tensor, nn.Parameter)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested lists, tuples, dicts and messages, subclasses included, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for item in value for tensor in tensors_in(item)]


def encode_tensors(tensors: list[Tensor]) -> tuple[list[str], list[bytes]]:
    """Layouts and numbers of tensors. What has no numbers here, or too many, is refused."""
    layouts, body, end = [], [], 0
    if len(tensors) > MAX_TENSORS:
        raise WireError("the message has more tensors than a frame may")
    for value in tensors:
        # Only of these is it certain that the numbers lie where `data_ptr` says.
        if type(value) not in _DENSE or not value.is_cpu:
            raise WireError(f"a {type(value).__name__} on {value.device.type} does not travel")
        if value.is_conj() or value.is_neg():
            value = value.resolve_conj().resolve_neg()
        text, size = _described(value.dtype, value.shape, None)
        end += size + -size % _ALIGNED
        if end > MAX_BODY:
            raise WireError("the message is larger than a frame may be")
        if not value.is_contiguous():
            value, order = _in_memory_order(value.detach())
            text, _ = _described(value.dtype, value.shape, order)
        layouts.append(text)
        if size:
            place = value.data_ptr()
            if not place:
                raise WireError("a tensor without its memory does not travel")
            body.append(string_at(place, size))
            if size % _ALIGNED:
                body.append(bytes(-size % _ALIGNED))
    return layouts, body


def decode_tensors(layouts: Any, body: bytearray) -> list[Tensor]:
    """The tensors in a body, the last one first. Their layouts must fill it, and be such as travel."""
    tensors, end = [], 0
    if type(layouts) is not list or len(layouts) > MAX_TENSORS:
        raise WireError("more tensors than a frame may have")
    for text in layouts:
        if type(text) is not str or len(text) > _LONGEST_LAYOUT:
            raise WireError("a tensor of a kind that does not travel")
        shape, strides, stored, dtype, size = _layout(text)
        at, last = end, end + size
        end = last + -size % _ALIGNED
        if end > len(body) or (end != last and any(body[last:end])):
            raise WireError("a body that is not as its layouts say")
        # Not views of one tensor, which would know of each other: what is written into one is news to all.
        if not size:
            tensors.append(torch.empty(shape, dtype=dtype, device="cpu"))
            continue
        tensor = torch.from_numpy(np.ndarray(shape, stored, body, at, strides))
        tensors.append(_AFTERWARDS[dtype](tensor) if dtype in _AFTERWARDS else tensor)
    if end != len(body):
        raise WireError("a body that is not as its layouts say")
    tensors.reverse()
    return tensors


def tensor_of(array: np.ndarray) -> Tensor | None:
    """Return a numpy array as a tensor; `None` where its numbers do not travel as one."""
    if type(array) is not np.ndarray or array.dtype.name not in DTYPES or array.ndim > MAX_DIMS:
        return None
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))


def array_of(tensor: Any) -> np.ndarray:
    """Return the array that became a tensor; `TypeError` for what is none."""
    if not isinstance(tensor, Tensor):
        raise TypeError("no tensor")
    return np.asarray(tensor.detach().numpy())


class _Layout(NamedTuple):
    """The layout of a tensor in the body: `float64 5 7`, or `float64 5 7; 1 0` for a transposed one."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    """In bytes; `None` where it is contiguous."""
    stored: np.dtype
    dtype: torch.dtype
    size: int
    """Bytes."""


_LAYOUT = re.compile(r"([a-z0-9]+)((?: (?:0|[1-9][0-9]{0,9}))*)(?:;((?: [0-9]{1,2})+))?")
_LONGEST_LAYOUT = 256
"""Characters: so many take all that a frame may say, and no more are looked at, or kept for the next time."""


@lru_cache(maxsize=1024)
def _layout(text: str) -> _Layout:
    """Read a layout, which fits into a frame."""
    found = _LAYOUT.fullmatch(text)
    dtype = DTYPES.get(found[1]) if found else None
    if found is None or dtype is None:
        raise WireError("a tensor of a kind that does not travel")
    shape = tuple(map(int, found[2].split()))
    if len(shape) > MAX_DIMS:
        raise WireError("a tensor of too many dimensions")
    stored = np.dtype(_STORED.get(found[1], found[1]))
    # Without numbers, too, a dimension is no larger: torch multiplies them all for its strides.
    if math.prod(filter(None, shape)) * stored.itemsize > MAX_BODY:
        raise WireError("a tensor larger than a frame may be")
    size = math.prod(shape) * stored.itemsize
    return _Layout(shape, _strides(shape, found[3], stored.itemsize), stored, dtype, size)


def _strides(shape: tuple[int, ...], slowest_first: str | None, itemsize: int) -> tuple[int, ...] | None:
    """Bytes from one index to the next in each dimension; the dimensions' order in memory is given."""
    if slowest_first is None:
        return None
    order = list(map(int, slowest_first.split()))
    if sorted(order) != list(range(len(shape))):
        raise WireError("not an order of the tensor's dimensions")
    strides = [0] * len(shape)
    for dim in reversed(order):
        strides[dim] = itemsize
        itemsize *= max(1, shape[dim])
    return tuple(strides)


@lru_cache(maxsize=1024)
def _described(dtype: torch.dtype, shape: torch.Size, order: tuple[int, ...] | None) -> tuple[str, int]:
    """A tensor's layout in words, and its size in bytes."""
    text = " ".join([str(dtype).removeprefix("torch."), *map(str, shape)])
    text += f"; {' '.join(map(str, order))}" if order is not None else ""
    return text, _layout(text).size


def _in_memory_order(value: Tensor) -> tuple[Tensor, tuple[int, ...] | None]:
    """The tensor without gaps between its numbers, and the order of its dimensions unless it is contiguous.

    A transposed tensor arrives as transposed memory: `.view()` on it must fail there as it does here.
    """
    if value.is_contiguous():
        return value, None
    order = tuple(sorted(range(value.dim()), key=lambda dim: (-value.stride()[dim], dim)))
    if value.permute(order).is_contiguous():
        return value, order
    return _in_memory_order(value.clone())  # which closes the gaps and keeps the order


# `frames.py` needs no torch. Whoever sends or receives tensors imports this file.
frames.codec = frames.Codec(Tensor, torch.dtype, DTYPES, encode_tensors, decode_tensors)
