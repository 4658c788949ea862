"""Comparison of numbers, to the tolerance of their dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import torch

from autograder.checking.explain.location import ends_early, located
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.recognize import recognize

TOLERANCE = {
    torch.float64: (1.2e-6, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
}
"""Relative and absolute difference allowed, by the coarser of the two dtypes compared."""

_COMPUTED_IN: ContextVar[tuple[torch.dtype, ...]] = ContextVar("computed_in", default=())
"""The dtypes that results are taken to be computed in, besides their own."""

_LITTLE = 0.01
"""The part of the largest right number below which the size of a difference says something."""
ROUNDED = (
    "The difference is as small as float32's rounding: is something computed in a coarser dtype on the way, "
    "or a small number added, such as an epsilon?"
)
"""The words for numbers that would be right in float32."""


def compare(
    result: torch.Tensor,
    wanted: torch.Tensor,
    dims: str = "",
    *,
    dtypes: Sequence[torch.dtype] = (),
    dimensions: Dimensions = RECURRENT,
) -> str:
    """Say how two tensors of one shape differ, or return `""` where they agree to tolerance.

    `result` is the student's, `wanted` the right one; `dims` (`"B T H"`) has the text say where they differ.
    `dtypes` are those of tensors that the result was computed from, where they may be coarser. The tolerance
    is that of the coarsest dtype: relative 1.2e-6 and absolute 1e-9 for float64, 1e-4 and 1e-5 for float32,
    1e-2 for float16, 5e-2 for bfloat16. Raises nothing, given two tensors of one shape.

        (weights,) = parts_of(submission.attention(query, keys), "weights")
        if told := compare(weights, right, "B T"):
            fail(f"The context is right, the weights are not: {told}")
    """
    if result.dtype.is_complex:
        return "they are complex numbers."
    rtol, atol = tolerance(result, wanted, dtypes)
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    if torch.allclose(seen, right, rtol, atol):
        return ""
    if not torch.isfinite(seen).all():
        return _not_finite(seen, dims, dimensions)
    apart = ~torch.isclose(seen, right, rtol, atol)
    far = (seen - right).abs().max().item()
    rounded = f" {ROUNDED}" if are_rounded(result, wanted) else ""
    if apart.numel() == 1:
        return f"it is too {'large' if seen > right else 'small'} by {far:.2g}.{rounded}"
    little = f", by {far:.2g} at most" if far < _LITTLE * right.abs().max().item() else ""
    ended = " Does a loop end before it?" if ends_early(apart, dims, dimensions) else ""
    return f"{counted(apart)} differ{little}{located(apart, dims, dimensions)}.{ended}{rounded}"


def _not_finite(seen: torch.Tensor, dims: str, dimensions: Dimensions) -> str:
    lost = ~torch.isfinite(seen)
    kinds = " or ".join(kind for kind, mask in (("nan", seen.isnan()), ("inf", seen.isinf())) if mask.any())
    if lost.numel() == 1:
        return f"it is not finite ({kinds})."
    if int(lost.sum()) == 1:
        return f"1 of {lost.numel()} numbers is not finite ({kinds})."
    return f"{counted(lost)} are not finite ({kinds}){located(lost, dims, dimensions)}."


def counted(mask: torch.Tensor) -> str:
    """Return how many numbers a mask of two or more is true for: "3 of 77 numbers", "all 77 numbers"."""
    true = int(mask.sum())
    if true < mask.numel():
        return f"{true} of {mask.numel()} numbers"
    return "both numbers" if true == 2 else f"all {true} numbers"


def recognized(
    result: torch.Tensor,
    wanted: torch.Tensor,
    dims: str,
    sizes: Sizes,
    *,
    dtypes: Sequence[torch.dtype] = (),
) -> str:
    """Say what turns a wrong result into the right one, `""` if nothing known does.

    Coarser dtypes than float32 are left alone: to their tolerance too much is alike.
    """
    if not {result.dtype, wanted.dtype, *dtypes} <= {torch.float32, torch.float64}:
        return ""
    rtol, atol = tolerance(result, wanted, dtypes)
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    return recognize(seen, right, dims, sizes, partial(torch.allclose, rtol=rtol, atol=atol))


def are_rounded(result: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Return whether two tensors of one shape differ by no more than rounding to float32 would make them.

    Numbers rounded to a few decimals differ by more, or are those decimals exactly.
    """
    if result.dtype.is_complex:
        return False
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    if not torch.isfinite(right).all():  # of a student's own, where two of their answers are compared
        return False
    if any(torch.equal(seen, right.round(decimals=decimals)) for decimals in range(3, 8)):
        return False
    return torch.allclose(seen, right, 2e-5, 2e-6 * float(right.abs().max()) if right.numel() else 0.0)


def agree(
    results: Sequence[torch.Tensor],
    wanted: Sequence[torch.Tensor],
    *,
    dtypes: Sequence[torch.dtype] = (),
    equal_nan: bool = False,
) -> bool:
    """Return whether several tensors, each of its partner's shape, are known to agree to tolerance.

    One comparison of all of them, which is what most submissions need; where it says no, `compare` says of
    each whether and how it differs. It says no to dtypes that are mixed. `equal_nan` lets nan agree with nan.
    Raises nothing, given as many tensors on both sides, one or more.

        if not agree([state[name] for name in right], list(right.values())):
            wrong = [name for name, value in right.items() if compare(state[name], value)]
    """
    if len({result.dtype for result in results}) != 1 or len({right.dtype for right in wanted}) != 1:
        return False
    if results[0].dtype.is_complex:
        return False
    seen, right = _joined(results).to(torch.float64), _joined(wanted).to(torch.float64)
    rtol, atol = tolerance(results[0], wanted[0], dtypes)
    return torch.allclose(seen, right, rtol, atol, equal_nan)


def same_numbers(old: torch.Tensor, new: Any) -> bool:
    """Return whether a tensor is still the same: shape, dtype and every number."""
    alike = isinstance(new, torch.Tensor) and old.shape == new.shape and old.dtype == new.dtype
    return alike and torch.equal(old, new)


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    if len(tensors) == 1:
        return tensors[0].detach()
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def tolerance(
    result: torch.Tensor, wanted: torch.Tensor, dtypes: Sequence[torch.dtype] = ()
) -> tuple[float, float]:
    """Relative and absolute difference allowed: the coarsest dtype's."""
    every = {result.dtype, wanted.dtype, *dtypes, *_COMPUTED_IN.get()}
    return max(TOLERANCE.get(dtype, (0.0, 0.0)) for dtype in every)


@contextmanager
def computed_in(dtype: torch.dtype) -> Iterator[None]:
    """Allow in the block the differences of results that were computed in a dtype, whatever their own is."""
    before = _COMPUTED_IN.set((dtype,))
    try:
        yield
    finally:
        _COMPUTED_IN.reset(before)
