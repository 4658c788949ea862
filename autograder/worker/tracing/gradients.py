"""Gradients of a number, whatever way of going back the student's code allows, as dense tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def gradients_of(total: torch.Tensor, wanted: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradients of a number for leaves, `None` for those that it does not depend on.

    The graph and what the leaves' `grad` holds stay as they are.
    """
    found: Sequence[torch.Tensor | None]
    try:
        found = torch.autograd.grad(total, wanted, allow_unused=True, retain_graph=True)
    except RuntimeError as error:
        if "torch.utils.checkpoint" not in str(error):
            raise
        found = _by_backward(total, wanted)
    return [None if each is None else _dense(each) for each in found]


def _by_backward(total: torch.Tensor, wanted: Sequence[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
    """Take gradients by `backward`, which adds up in place: older checkpoints know no other way."""
    before = [leaf.grad for leaf in wanted]
    for leaf in wanted:
        leaf.grad = None
    try:
        total.backward(retain_graph=True)
        return tuple(leaf.grad for leaf in wanted)
    finally:
        for leaf, grad in zip(wanted, before, strict=True):
            leaf.grad = grad


def _dense(gradient: torch.Tensor) -> torch.Tensor:
    """Return a gradient as a dense tensor: `nn.Embedding(sparse=True)` gives a sparse one."""
    return gradient if gradient.layout is torch.strided else gradient.to_dense()
