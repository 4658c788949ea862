"""Tolerances of comparisons, each with its reason, and the comparisons that use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

TOLERANCE = {
    torch.float64: (1.2e-6, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
}
"""Relative and absolute difference allowed, by the coarser of the two dtypes compared."""

ROUNDING = (2e-5, 2e-6)
"""Largest effect of rounding to float32 on the way: relative, and as a part of the largest number."""
REPEATED = (1e-9, 1e-12)
"""Relative and absolute difference of one computation made twice: its sums may be taken in another order."""
RECORDED = 1e-6
"""Relative difference up to which two inputs of a reference are one: another machine may round otherwise."""

_COMPUTED_IN: ContextVar[tuple[torch.dtype, ...]] = ContextVar("computed_in", default=())
"""The dtypes that results are taken to be computed in, besides their own."""


def tolerance(
    result: torch.Tensor, wanted: torch.Tensor, dtypes: Sequence[torch.dtype] = ()
) -> tuple[float, float]:
    """Return the relative and absolute difference allowed: the coarsest dtype's."""
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


def identical(old: Any, new: Any) -> bool:
    """Return whether two leaves of arguments or answers are the same to the last digit; nan equals nan."""
    if not isinstance(old, torch.Tensor) or not isinstance(new, torch.Tensor):
        return type(old) is type(new) and bool(old == new)
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    return torch.allclose(comparable(old), comparable(new), rtol=0.0, atol=0.0, equal_nan=True)


def comparable(value: torch.Tensor) -> torch.Tensor:
    """Return numbers that torch can compare: it cannot do so in every dtype of eight bits."""
    return value.detach().to(torch.float64) if value.is_floating_point() else value


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
    rtol, of_largest = ROUNDING
    return torch.allclose(seen, right, rtol, of_largest * float(right.abs().max()) if right.numel() else 0.0)


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    if len(tensors) == 1:
        return tensors[0].detach()
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
