"""Inputs for the tasks on ragged batches: lengths in no order, and any padding."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.checking import Case, Draw, Sizes
from autograder.checking.specs.cases import Size
from autograder.exercises.several import far_apart

HUGE = 1e30
"""Padding of this size drowns every real number as soon as it enters a sum."""


def roomy(sizes: Sizes) -> Sizes:
    """The sizes with more than two steps: there is room for lengths in many orders."""
    return sizes.but(T=7) if sizes.T == 2 else sizes


def ragged_lengths(draw: Draw) -> torch.Tensor:
    """Lengths of which one is T and the first is not; the way into descending order is not the way back."""
    B, T = draw.sizes.B, draw.sizes.T
    if B < 3 or T < 3:
        lengths = draw.ints("B", T) + 1
        lengths[0], lengths[-1] = 1, T
        return lengths
    while True:
        lengths = draw.ints("B", T) + 1
        lengths[B // 2] = T
        order = lengths.argsort(descending=True, stable=True)
        if lengths[0] < T and len(lengths.unique()) >= 3 and not torch.equal(lengths[order[order]], lengths):
            return lengths


def equal(missing: int = 0) -> Callable[[Draw], torch.Tensor]:
    """Return a drawing of lengths that are all the same, so many steps short of the batch's T."""
    return lambda draw: torch.full((draw.sizes.B,), draw.sizes.T - missing)


def real_steps(lengths: torch.Tensor, T: int) -> torch.Tensor:
    """A mask (B, T), true on the steps that belong to a sequence."""
    return torch.tensor([[step < length for step in range(T)] for length in lengths.tolist()])


def padded_with(values: torch.Tensor, lengths: torch.Tensor, padding: float) -> torch.Tensor:
    """The batch with one number in every padded place."""
    return torch.where(real_steps(lengths, values.shape[1])[..., None], values, padding).to(values.dtype)


def padding(*numbers: float | None) -> Callable[..., tuple[Any, ...]]:
    """Return a change that puts a number into the padded places of each input; `None` leaves one alone."""

    def changed(*inputs: Any) -> tuple[Any, ...]:
        *batches, lengths = inputs
        pairs = zip(batches, numbers, strict=True)
        return *(
            each if number is None else padded_with(each, lengths, number) for each, number in pairs
        ), lengths

    return changed


def room(
    words: str = "",
    *,
    changed: Callable[..., tuple[Any, ...]] | None = None,
    is_strided: bool = False,
    **otherwise: Size | Callable[[Draw], Any],
) -> Case:
    """A case of roomy sizes. `otherwise` are other sizes, by letter, and how inputs are drawn, by name."""
    sizes = {name: each for name, each in otherwise.items() if not callable(each)}
    given = {name: each for name, each in otherwise.items() if callable(each)}
    return Case(words, sizes, roomy, is_strided, given=given, changed=changed)


ROOMY = room()
EVERY_PADDING = (
    room("with zeros as padding", changed=padding(0.0)),
    room("with padding that is not zero"),
    room("with huge numbers as padding", changed=padding(HUGE)),
)
"""What the padding of one tensor may hold: mistakes that agree on zeros differ on the rest."""
EVERY_LENGTH = (
    room("with one sequence (B = 1), shorter than its row", B=1, lengths=equal(missing=2)),
    room("with one time step (T = 1)", T=1),
    room("with every sequence as long as the batch", lengths=equal()),
    room(
        "with every sequence one step long", lengths=lambda draw: torch.ones(draw.sizes.B, dtype=torch.int64)
    ),
    room("with no sequence as long as the batch", lengths=equal(missing=1)),
    room("with more of everything", B=(20, 70), T=(40, 130), D=2, H=2),
)
EVERY_GRADIENT = (
    room("with sequences in no particular order", T=(31, 70), D=2, H=2),
    room("with every sequence as long as the batch", lengths=equal()),
    room("with one sequence (B = 1)", B=1, lengths=equal(missing=1)),
)
"""Batches for looking at gradients."""
EVERY_OUTPUT = (
    *EVERY_LENGTH,
    room("with one hidden unit (H = 1)", H=1),
    room("with every size 5", B=5, T=5, H=5),
    room("with an output that is not contiguous in memory", is_strided=True),
    room("with numbers from very small to very large", output=lambda draw: far_apart(draw("B T H"), 0)),
)
"""Batches for what is made of an `output` (B, T, H)."""


def each_place(**sizes: Size) -> tuple[Case, Case]:
    """A batch with its lengths on the CPU, and one with everything on the GPU."""
    return (
        Case("with the lengths on the CPU", sizes, roomy, on_cpu=("lengths",)),
        Case("with the lengths on the GPU, too", sizes, roomy),
    )
