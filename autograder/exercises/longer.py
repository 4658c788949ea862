"""A sequence much longer than the others, for what shows only after many steps."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from autograder.checking import Case, Draw, Sizes, case, sized

SINGLE_SIZES = (
    sized("with one time step (T = 1)", T=1),
    sized("with one sequence (B = 1)", B=1),
    sized("with every size 1", B=1, T=1, D=1, H=1),
)
LONG = sized("with {T} time steps", B=2, T=(40, 70))


def _fewer_sequences(sizes: Sizes) -> Sizes:
    few, many = sorted((sizes.B, sizes.T))
    return sizes.but(B=few, T=many)


FEWER_SEQUENCES_THAN_STEPS = Case(arranged=_fewer_sequences)
"""The usual case, in which a loop over the batch ends early: its shape tells why."""


def short_and_long(
    draw: Draw, steps: tuple[int, int] = (40, 70)
) -> Iterator[tuple[Draw, AbstractContextManager[None]]]:
    """Yield the draw, and then one of long sequences, each with its `case`.

    `steps` are the fewest and the most of them.
    """
    yield draw, nullcontext()
    length = draw.size(*steps)
    yield draw.at(draw.sizes.but(B=2, T=length)), case(f"with {length} time steps")
