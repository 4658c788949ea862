"""Recognition of wrong numbers: right ones in other places, scaled, moved by a constant, or unfinished.

Everything that is said here has been computed: done backwards, it gives the right numbers to tolerance.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.factors import multiplied, rounded, scaled
from autograder.checking.recognition.functions import exchanged, unfinished
from autograder.checking.recognition.places import constant, moved, scattered
from autograder.checking.recognition.wrong import Alike, Wrong

_LOOKS: tuple[Callable[[Wrong], str], ...] = (
    constant,
    rounded,
    moved,
    multiplied,
    scaled,
    unfinished,
    exchanged,
    scattered,
)
"""Looks at wrong numbers: the first that knows them says what they are, the others say `""`."""


def recognize(seen: torch.Tensor, right: torch.Tensor, dims: str, sizes: Sizes, alike: Alike) -> str:
    """Return a sentence about what turns wrong numbers into the right ones, `""` if nothing known does.

    `seen` and `right` are of one shape with the dimensions `dims`, as `"B T 2H"`, and of float64.
    """
    letters = tuple(dims.split())
    if len(letters) != seen.dim() or not torch.isfinite(seen).all() or not torch.isfinite(right).all():
        return ""
    wrong = Wrong(seen, right, letters, sizes, alike)
    return next(filter(None, (look(wrong) for look in _LOOKS)), "")
