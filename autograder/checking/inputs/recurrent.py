"""The dimensions of recurrent networks, which check files have that state none of their own."""

from __future__ import annotations

import random

from autograder.checking.inputs.dimensions import Dimension, Dimensions


class _Recurrent(Dimensions):
    """Dimensions whose sizes suit recurrent networks."""

    def drawn(self, source: random.Random, ordered: int) -> dict[str, int]:
        """Draw distinct primes for all but layers and time steps, which cost the most.

        None is a multiple or a neighbour of another, and no example has them: a number that is hard-coded
        passes for none of them. There are always three layers: two would not tell "the next layer" from "the
        last one". `ordered` is 2, 4 or 5.
        """
        batch, features, hidden = source.sample((11, 13, 17), 3)
        vocabulary = source.choice((19, 23, 29))
        return {"B": batch, "T": ordered, "D": features, "H": hidden, "L": 3, "V": vocabulary}


RECURRENT = _Recurrent(
    B=Dimension("batch", one="sequence", small=(1, 2), independent=True),
    T=Dimension("time", one="time step", small=(1, 2), ordered=True, across=True),
    D=Dimension("features"),
    H=Dimension(
        "hidden",
        multiples=(2, 4),
        halves=("of two directions, the forward one", "of two directions, the backward one"),
    ),
    L=Dimension(
        "layers",
        one="layer",
        small=(1, 2),
        ordered=True,
        incidental=True,
        multiples=(2, 4),
        innermost=True,
        within="in",
    ),
    V=Dimension("vocabulary", incidental=True),
)
"""B batch, T time, D features, H hidden, L layers, V vocabulary."""
