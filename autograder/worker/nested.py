"""Values in nested lists, tuples and dicts: what requests, answers and arguments are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def map_tree(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Apply `leaf` to everything in nested lists, tuples and dicts that is not one of those."""
    kind = type(value)
    if kind is list:
        return [map_tree(item, leaf) for item in value]
    if kind is tuple:
        return tuple([map_tree(item, leaf) for item in value])
    if kind is dict:
        return {key: map_tree(item, leaf) for key, item in value.items()}
    return leaf(value)


def tree_leaves(value: Any) -> list[Any]:
    """Everything in nested lists, tuples and dicts that is not one of those, in order."""
    leaves: list[Any] = []
    map_tree(value, leaves.append)
    return leaves


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dicts, named tuples and other subclasses included, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for item in value for tensor in tensors_in(item)]
