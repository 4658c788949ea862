"""Values that travel: plain data in nested lists, tuples and dicts, and objects that stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ByName: TypeAlias = dict[str, Any]
"""Values by name: a module's parameters, gradients, a `state_dict()`."""
Keywords: TypeAlias = dict[str, Any]
"""The keyword arguments of one call."""
Json: TypeAlias = dict[str, Any]
"""A JSON object: nested dicts and lists of texts, numbers, booleans and `None`."""
DtypeName = Literal[
    "float64", "float32", "float16", "bfloat16",
    "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
]  # fmt: skip
"""The dtypes that travel."""


@dataclass(frozen=True)
class Ref:
    """An object that stays in the worker: a module, a function, anything that is not plain data."""

    id: int
    type: str
    is_module: bool = False
    """True for an `nn.Module`."""


@dataclass(frozen=True)
class Opaque:
    """An answer that is no plain data, in words: `a numpy.ndarray`, `a sparse tensor`.

    A check that takes it for a tensor fails by itself (it raises `CheckFailed`), and says so. `what` are the
    words.

        if isinstance(answer, Opaque):
            fail(f"Expected a dict of shapes; you returned {answer.what}.")
    """

    what: str
    own: bool = False
    """True for an object of a class that the notebook defines."""


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
    """Return everything in nested lists, tuples and dicts that is not one of those, in order.

    `value` may be anything; of what is none of those it is a list of one. Raises nothing.

        tensors = [each for each in tree_leaves(answer) if isinstance(each, torch.Tensor)]
    """
    leaves: list[Any] = []
    map_tree(value, leaves.append)
    return leaves
