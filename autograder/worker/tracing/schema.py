"""Kernels' schemas: which arguments a kernel writes to and returns, and whether it reads their numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

# Their results have an argument's shape and nothing of its numbers.
_SHAPE_ONLY = ("new_", "zeros_like", "ones_like", "full_like", "empty_like", "rand", "bernoulli")
# They change what a tensor's shape is where it lies.
_RESHAPED = ("unsqueeze_", "squeeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "as_strided_", "resize_")


class OpSchema:
    """One kernel's schema, read once."""

    def __init__(self, func: Any) -> None:
        schema = func._schema
        name = schema.name.removeprefix("aten::")
        self.shape_only = name.startswith(_SHAPE_ONLY)
        self.reshaped = name in _RESHAPED
        arguments = list(enumerate(schema.arguments))
        written = [(n, a) for n, a in arguments if a.alias_info is not None and a.alias_info.is_write]
        self.written = [(n, a.name) for n, a in written]
        """The position and the name of each argument that it writes to."""
        aliases = [result.alias_info for result in schema.returns if result.alias_info is not None]
        same = [
            (n, a.name)
            for n, a in written
            if any(alias.is_write and alias.before_set == a.alias_info.before_set for alias in aliases)
        ]
        self.returned = same[0] if same and len(schema.returns) == 1 else None
        """The argument that is its result, if one is."""


@cache
def schema_of(func: Any) -> OpSchema:
    """Return a kernel's schema, read once."""
    return OpSchema(func)
