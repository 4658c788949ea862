"""Words for how two tensors differ, beyond the tolerance of their dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from autograder.checking.explain.location import ends_early, located
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.recognize import recognize
from autograder.checking.tolerance import are_rounded, tolerance

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
