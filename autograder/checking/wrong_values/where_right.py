"""Tells where a wrong answer is right: for which numbers of an input, with zeros for which, or without which.

All that is said has been seen: for zeros the check is run again, and what is right for them is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch

from autograder.checking.expectations.comparing import tolerance
from autograder.checking.expectations.values import WrongValues
from autograder.checking.inputs.draw import Draw
from autograder.checking.wrong_values.wrong_call import WrongCall, tensors_of

_MOST_TRIED = 16
"""Inputs that are tried, one run of the check each."""
_MOST_NAMED = 2
_FEWEST = 4
"""Indices of a dimension: of fewer, any number divides right ones from wrong ones by chance."""
_FEWEST_FITTED = 8
"""Numbers that two factors are found from."""
_LEAST_SHARE = 0.01
"""The smallest factor that is told: a smaller one may be rounding."""

Passes = Callable[[Sequence[torch.Tensor]], bool]
"""Runs the check with zeros in place of some tensors; says whether it passes on numbers that vary."""


def right_with_zeros(call: WrongCall, draw: Draw, passes: Passes, names: Sequence[str]) -> str:
    """Say with zeros in place of which input the answer to a call is right; `""` if with none or too many.

    `names` are those of the call's arguments. One tensor is tried at a time, and then those of one argument.
    """
    singly = ((name, [tensor]) for name, tensor in tensors_of(call, names))
    for each_one in (singly, _together(call, names)):
        tried = [
            (name, tensors)
            for name, tensors in islice(each_one, _MOST_TRIED)
            if all(_has_numbers(tensor) and draw.has_drawn(tensor) for tensor in tensors)
        ]
        found = [name for name, tensors in tried if passes(tensors)]
        if found and (len(found) < len(tried) or len(found) <= _MOST_NAMED):
            told = " or of ".join(f"`{name}`" for name in found[:_MOST_NAMED])
            it = "it is" if len(found) == 1 else "they are"
            return (
                f"With zeros in place of {told} your answer is right: the mistake is in how {it} used, or in "
                f"what {it} multiplied by."
            )
    return ""


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


def right_without(call: WrongCall, raised: WrongValues, names: Sequence[str]) -> str:
    """Say that each number is a multiple of the right one plus one of an input's at the same place."""
    seen, right = raised.seen, raised.right
    if seen is None or right is None or not _can_be_fitted(seen) or not _can_be_fitted(right):
        return ""
    for name, value in tensors_of(call, names):
        if value.shape != right.shape or not _can_be_fitted(value):
            continue
        parts = torch.stack((right.double().flatten(), value.double().flatten()), dim=1)
        if torch.linalg.matrix_rank(parts, rtol=1e-3) < 2:
            continue  # which of the two it is cannot be told
        found = torch.linalg.lstsq(parts, seen.double().flatten()[:, None]).solution
        rtol, atol = tolerance(seen, right)
        if torch.allclose(parts @ found, seen.double().flatten()[:, None], rtol, atol):
            of_right, of_input = found.flatten().tolist()
            if min(abs(of_right), abs(of_input)) > _LEAST_SHARE:
                sign = "plus" if of_input > 0 else "minus"
                added = f"{sign} {_times(abs(of_input))}the number of `{name}` at the same place"
                return f"Each number is {_times(of_right)}the right one {added}."
    return ""


def _can_be_fitted(values: torch.Tensor) -> bool:
    """Return whether there are enough numbers that two factors do not fit them by chance."""
    return values.is_floating_point() and values.numel() >= _FEWEST_FITTED and bool(values.isfinite().all())


def _times(factor: float) -> str:
    return "" if abs(factor - 1) < 1e-6 else f"{factor:.3g} times "


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


def _together(call: WrongCall, names: Sequence[str]) -> Iterator[tuple[str, list[torch.Tensor]]]:
    """Give the tensors of each argument that has several."""
    for name, value in zip(names, call.call.args, strict=False):
        if isinstance(value, (list, tuple)) and all(isinstance(each, torch.Tensor) for each in value):
            yield name, list(value)


def _has_numbers(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and bool(tensor.any())
