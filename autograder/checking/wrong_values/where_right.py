"""Tells for which numbers of an input, such as lengths, a wrong answer is right."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checking.expectations.comparing import tolerance
from autograder.checking.expectations.values import WrongValues
from autograder.checking.wrong_values.wrong_call import WrongCall

_FEWEST = 4
"""Indices of a dimension: of fewer, any number divides right ones from wrong ones by chance."""


def right_where(call: WrongCall, raised: WrongValues, names: Sequence[str]) -> str:
    """Say for which numbers of an input with one for each sequence, or the like, the answer is right."""
    seen, right, sizes = raised.seen, raised.right, raised.sizes
    if seen is None or right is None or sizes is None or seen.is_complex():
        return ""
    known = sizes.dimensions
    at = next((at for at, dim in enumerate(raised.dims) if dim in known and known[dim].independent), None)
    if at is None or seen.shape[at] < _FEWEST:
        return ""
    rtol, atol = tolerance(seen, right)
    apart = ~torch.isclose(seen.double(), right.double(), rtol, atol)
    others = [dim for dim in range(apart.dim()) if dim != at]
    wrong = apart.any(dim=others) if others else apart
    for name, value in zip(names, call.call.args, strict=False):
        if isinstance(value, torch.Tensor) and value.shape == wrong.shape:
            told = _told(name, value, wrong)
            if told:
                return told
    return ""


def _told(name: str, value: torch.Tensor, wrong: torch.Tensor) -> str:
    """Say which numbers divide the right ones from the wrong ones; `""` if none do."""
    if value.is_floating_point() or value.is_complex() or wrong.all() or not wrong.any():
        return ""
    if value.dtype == torch.bool:
        if torch.equal(wrong, value):
            return f"It is wrong just where `{name}` is true."
        return f"It is wrong just where `{name}` is false." if torch.equal(wrong, ~value) else ""
    largest, smallest = int(value.max()), int(value.min())
    if torch.equal(wrong, value < largest):
        return f"It is right only where `{name}` is {largest}, the largest of all."
    if torch.equal(wrong, value > smallest):
        return f"It is right only where `{name}` is {smallest}, the smallest of all."
    if torch.equal(wrong, value == largest):
        return f"It is wrong only where `{name}` is {largest}, the largest of all."
    if torch.equal(wrong, value == smallest):
        return f"It is wrong only where `{name}` is {smallest}, the smallest of all."
    return ""
