"""A sequence much longer than the others, for what shows only after many steps."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from autograder.checking import Draw, case


def short_and_long(
    draw: Draw, steps: tuple[int, int] = (40, 70)
) -> Iterator[tuple[Draw, AbstractContextManager[None]]]:
    """Yield the draw, and then one of long sequences, each with its `case`.

    `steps` are the fewest and the most of them.
    """
    yield draw, nullcontext()
    length = draw.size(*steps)
    yield draw.at(draw.sizes.but(B=2, T=length)), case(f"with {length} time steps")
