"""Looks for a function that is missing, one too many, or another one."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.checking.recognition.wrong import Wrong

_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "square": torch.square,
}
_OTHERS = ("sigmoid", "tanh", "relu")
"""Functions that may be taken for the right one."""
_BACKWARDS = {"tanh": torch.atanh, "sigmoid": torch.logit}
"""What went into a function, from what came out of it."""


_ALONG: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
}
"""Functions of the numbers along one dimension."""


def unfinished(wrong: Wrong) -> str:
    """Recognize numbers that only a function is missing from, or that went through one too many."""
    seen, right, alike = wrong.seen, wrong.right, wrong.alike
    if not wrong.are_many:
        return ""
    for name, function in _FUNCTIONS.items():
        if alike(function(seen), right):
            return f"Applying `{name}` to them would give the right numbers."
        if name != "square" and alike(function(right), seen):
            return f"They are the right numbers after one `{name}` too many."
    for at, size in enumerate(seen.shape):
        for name, along in _ALONG.items() if size > 1 else ():
            if alike(along(seen, at), right):
                return f"Applying `{name}` along {wrong.called(at)} to them would give the right numbers."
            if alike(along(right, at), seen):
                return f"They are the right numbers after one `{name}` along {wrong.called(at)} too many."
    return ""


def exchanged(wrong: Wrong) -> str:
    """Recognize numbers that went through another function than the right ones."""
    if not wrong.are_many:
        return ""
    for wanted, backwards in _BACKWARDS.items():
        before = backwards(wrong.right)
        for name in _OTHERS if torch.isfinite(before).all() else ():
            if name != wanted and wrong.alike(_FUNCTIONS[name](before), wrong.seen):
                return f"They went through `{name}` where `{wanted}` would give the right ones."
    return ""
