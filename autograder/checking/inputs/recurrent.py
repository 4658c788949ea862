"""The dimensions of recurrent networks, which check files have that state none of their own."""

from __future__ import annotations

import random

from autograder.checking.inputs.dimensions import Dimension, Dimensions


class _Recurrent(Dimensions):
    """Dimensions whose sizes have been drawn in this way since before others could be stated."""

    def drawn(self, source: random.Random, ordered: int) -> dict[str, int]:
        """Draw distinct primes: none is a multiple of another, so no two dimensions can be mistaken.

        Three layers always: two would not tell "the next layer" from "the last one". Five sequences or more:
        two are in the right order by chance. `ordered` is 2, 4 or 5.
        """
        others = [size for size in (2, 5, 7, 11) if size != ordered]
        batch = source.choice([size for size in others if size > 2])
        features, hidden = source.sample([size for size in others if size != batch], 2)
        vocabulary = source.choice((13, 17, 19))
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
