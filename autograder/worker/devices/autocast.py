"""Autocast as a GPU has it, for calls on the CPU: the CPU's own knows fewer functions.

What it does not know gets the dtypes as they come, and stops where a GPU would have widened them. The lists
are those of "Automatic Mixed Precision package" in torch's documentation, for CUDA.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from autograder.protocol.values import map_tree, tree_leaves

# In place and with `out=` (their names differ) they are not cast on a GPU, either.
_TO_LOWER = frozenset(("mv", "addmv", "addr", "chain_matmul", "linalg_multi_dot"))
_TO_FLOAT32 = frozenset((
    "__pow__", "__rdiv__", "__rpow__", "__rtruediv__", "acos", "asin",
    "binary_cross_entropy_with_logits", "cosh", "cosine_embedding_loss", "cdist", "cosine_similarity",
    "cross_entropy", "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1", "group_norm",
    "hinge_embedding_loss", "kl_div", "l1_loss", "layer_norm", "log", "log10", "log_softmax", "log1p",
    "log2", "margin_ranking_loss", "mse_loss", "multilabel_margin_loss", "multi_margin_loss",
    "nll_loss", "norm", "normalize", "pdist", "poisson_nll_loss", "pow", "prod", "reciprocal", "rsqrt",
    "sinh", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "sum", "renorm",
    "tan", "triplet_margin_loss",
))  # fmt: skip
_TO_WIDEST = frozenset((
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "inner", "grid_sample",
    "grid_sampler", "index_put", "tensordot", "scatter_add",
))  # fmt: skip


class GpuAutocast(TorchFunctionMode):
    """Casts what the CPU's autocast leaves; to be used inside `torch.autocast("cpu")`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.is_autocast_enabled("cpu"):
            wanted = _wanted(getattr(func, "__name__", ""), (args, kwargs))
            if wanted is not None:
                args, kwargs = (map_tree(given, lambda leaf: _cast(leaf, wanted)) for given in (args, kwargs))
        return func(*args, **kwargs)


def _wanted(name: str, given: Any) -> torch.dtype | None:
    if name in _TO_LOWER:
        return torch.get_autocast_dtype("cpu")
    if name in _TO_FLOAT32:
        return torch.float32
    if name not in _TO_WIDEST:
        return None
    found = {leaf.dtype for leaf in tree_leaves(given) if _is_cast(leaf)}
    return torch.float32 if torch.float32 in found else None


def _is_cast(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and leaf.dtype is not torch.float64


def _cast(leaf: Any, dtype: torch.dtype) -> Any:
    return leaf.to(dtype) if _is_cast(leaf) else leaf
