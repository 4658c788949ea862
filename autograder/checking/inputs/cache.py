"""References that depend on a check's inputs alone, computed once for a whole class."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import FunctionType
from typing import Any, TypeVar

import torch

from autograder.checking.inputs.sizes import Sizes
from autograder.protocol.values import tree_leaves

Result = TypeVar("Result")
_PLAIN = (bool, int, float, str, torch.dtype, Sizes)
_KEPT = 512
"""Results of one function that are kept: more than the checks of an assignment ask for."""


def computed_once(function: Callable[..., Result]) -> Callable[..., Result]:
    """Keep what a function gave, for when it is asked for the same tensors again.

    The same are the very tensors, unchanged since, as `Draw` gives them for every submission, and the very
    functions of a file; numbers, texts, dtypes and `Sizes` are compared, a `functools.partial` part by part.
    With a function that a check makes for itself it is computed each time. The function must depend on
    nothing else, and nobody may write into what it returns: where somebody has, it is computed anew, as it is
    where gradients are asked for. Raises what the function raises.

        @computed_once
        def step(x, h, w):
            return torch.tanh(x + h @ w.T)
    """
    return _once(function, of_leaves=False)


def computed_once_of_leaves(function: Callable[..., Result]) -> Callable[..., Result]:
    """Cache also where arguments ask for gradients, for a function whose results have no graph."""
    return _once(function, of_leaves=True)


def _once(function: Callable[..., Result], *, of_leaves: bool) -> Callable[..., Result]:
    kept: OrderedDict[Any, tuple[Any, list[tuple[torch.Tensor, int]]]] = OrderedDict()

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Result:
        tensors: list[torch.Tensor] = []
        try:
            key = _identity((args, kwargs), tensors)
        except TypeError:
            return function(*args, **kwargs)
        if not of_leaves and any(tensor.requires_grad for tensor in tensors):
            return function(*args, **kwargs)
        if key in kept:
            result, seen = kept[key]
            if all(tensor._version == version for tensor, version in seen):
                kept.move_to_end(key)
                return result
        result = function(*args, **kwargs)
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        # The arguments are kept, too: an address that is free again would pass for the old tensor.
        kept[key] = result, [(tensor, tensor._version) for tensor in (*tensors, *made)]
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return result

    return called


def _identity(value: Any, tensors: list[torch.Tensor]) -> Any:
    """Return the cache key of arguments, and add the tensors among them to `tensors`."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return id(value)
    if isinstance(value, Mapping):
        return tuple((name, _identity(part, tensors)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_identity(part, tensors) for part in value)
    if value is None or type(value) in _PLAIN:
        return type(value), value
    if isinstance(value, partial):
        return partial, _identity((value.func, value.args, value.keywords), tensors)
    if type(value) is FunctionType and "<locals>" not in value.__qualname__:
        return value
    raise TypeError("what may change without a trace, as a module may, tells nothing apart")
