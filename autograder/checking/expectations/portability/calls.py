"""Calls of the student's code on some device and in some dtype, as its module and its tensors are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from autograder.checking.remote.connection import ask_all
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Probed
from autograder.protocol.values import map_tree

Arguments = tuple[Any, ...] | Callable[[], tuple[Any, ...]]
"""A call's arguments, or what makes them anew for each call where a call uses them up."""


def probe_in_turn(
    target: Handle, arguments: Arguments, ways: Sequence[Mapping[str, Any]]
) -> Iterator[Probed]:
    """Make one call for each of the ways, options of `probe_request`; floating arguments get their dtype."""
    requests = [
        target.probe_request(cast(arguments() if callable(arguments) else arguments, way["dtype"]), **way)
        for way in ways
    ]
    yield from (answer() for answer in ask_all(requests))


def cast(value: Any, dtype: torch.dtype) -> Any:
    """Return a nested value with its floating tensors in a dtype."""
    return map_tree(
        value,
        lambda leaf: leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf,
    )
