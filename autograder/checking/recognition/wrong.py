"""Wrong numbers beside the right ones, as each look at them takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from autograder.checking.inputs.sizes import Sizes

Alike = Callable[[torch.Tensor, torch.Tensor], bool]
"""Says whether two tensors of one shape agree to tolerance."""

FEWEST = 4
"""Numbers of which a factor, an amount or a function can be told: fewer fit by chance."""


@dataclass(frozen=True)
class Wrong:
    """Numbers of the right shape and the right ones, both of float64 and finite."""

    seen: torch.Tensor
    right: torch.Tensor
    letters: tuple[str, ...]
    """The dimensions, as `("B", "T", "2H")`."""
    sizes: Sizes
    alike: Alike

    @property
    def are_many(self) -> bool:
        """Return whether there are so many numbers that nothing fits by chance."""
        return self.seen.numel() >= FEWEST

    def called(self, at: int) -> str:
        """Return a dimension in words."""
        letter = self.letters[at]
        is_known = letter[-1] in self.sizes.dimensions
        return self.sizes.spell(letter) if is_known else f"the dimension of size {letter}"
