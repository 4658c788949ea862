"""Looks for a function that is missing, one too many, another one, or one that was given other numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import elu, gelu, hardsigmoid, hardtanh, layer_norm, silu, softplus, softsign

from autograder.checking.recognition.factors import as_size, factor_of
from autograder.checking.recognition.wrong import FEWEST, Wrong

_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "square": torch.square,
}
_OTHERS = {
    **{name: _FUNCTIONS[name] for name in ("sigmoid", "tanh", "relu")},
    "hardsigmoid": hardsigmoid,
    "hardtanh": hardtanh,
    "softsign": softsign,
    "gelu": gelu,
    "silu": silu,
    "elu": elu,
    "softplus": softplus,
}
"""Functions that may be taken for the right one."""
_BACKWARDS = {"tanh": torch.atanh, "sigmoid": torch.logit}
"""What went into a function, from what came out of it."""


def _normalized(values: torch.Tensor, at: int) -> torch.Tensor:
    """Return what `layer_norm` makes of the numbers along a dimension."""
    last = values.movedim(at, -1)
    return layer_norm(last, last.shape[-1:]).movedim(-1, at)


_ALONG: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "cumsum": torch.cumsum,
    "layer_norm": _normalized,
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
            # Of two numbers `layer_norm` makes 1 and -1, whichever they are.
            if (size >= FEWEST or name != "layer_norm") and alike(along(right, at), seen):
                return f"They are the right numbers after one `{name}` along {wrong.called(at)} too many."
    return ""


def exchanged(wrong: Wrong) -> str:
    """Recognize numbers that went through another function than the right ones."""
    for wanted, before in _before(wrong, wrong.right):
        for name, function in _OTHERS.items():
            if name == wanted:
                continue
            through = function(before)
            if wrong.alike(through, wrong.seen):
                return f"They went through `{name}` where `{wanted}` would give the right ones."
            if wrong.alike(_FUNCTIONS[wanted](through), wrong.seen):
                return (
                    f"They went through `{name}` and then through `{wanted}`, where `{wanted}` alone would "
                    "give the right ones."
                )
        for at, size in enumerate(before.shape):
            if size > 1 and wrong.alike(torch.softmax(before, at), wrong.seen):
                along = f"`softmax` along {wrong.called(at)}"
                return f"They went through {along} where `{wanted}` would give the right ones."
    return ""


def before_the_function(wrong: Wrong) -> str:
    """Recognize numbers of the right function, given others: times a factor, or moved by an amount."""
    for name, right in _before(wrong, wrong.right):
        for _, seen in (each for each in _before(wrong, wrong.seen) if each[0] == name):
            function = _FUNCTIONS[name]
            factor = factor_of(seen, right)
            if factor and wrong.alike(function(right * factor), wrong.seen):
                told = f"is {factor:.3g} times what it should be{as_size(factor, wrong.sizes)}"
                if abs(factor + 1) < 1e-6:
                    told = "has the opposite sign"
                return f"What goes into `{name}` {told}."
            apart = float((seen - right).mean())
            if wrong.alike(function(right + apart), wrong.seen):
                how = "large" if apart > 0 else "small"
                return f"What goes into `{name}` is too {how} by the same {abs(apart):.3g} everywhere."
    return ""


def _before(wrong: Wrong, values: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Return each function that numbers can have come from, with what went into it."""
    if not wrong.are_many:
        return []
    found = [(name, backwards(values)) for name, backwards in _BACKWARDS.items()]
    return [(name, before) for name, before in found if bool(torch.isfinite(before).all())]
