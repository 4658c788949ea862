"""The smallest input that shows a wrong answer: told in words, it often says where to look.

A fault that shows with one sequence of one step is in the step itself; one that takes two steps is in what
is carried from one to the next; one that takes two layers, between them.
"""

from __future__ import annotations

from collections.abc import Callable

from autograder.checking.inputs.draw import Sizes

LADDER = tuple(
    Sizes(B=batch, T=time, D=2, H=3, L=layers, V=5)
    for layers in (1, 2)
    for batch, time in ((1, 1), (1, 2), (2, 1), (2, 2))
)
"""The sizes to try, the smallest first. D and H differ, so that a transposed matrix shows."""
_WORDS = {1: "one", 2: "two"}


def smallest(fails: Callable[[Sizes], bool], letters: set[str]) -> str:
    """A sentence about the first sizes at which a check fails, `""` if it does at none.

    `letters` are the dimensions that the check's inputs have; only those are told, and layers where it
    takes more than one.
    """
    for sizes in LADDER:
        if fails(sizes):
            smaller_ones_pass = sizes != LADDER[0] or "T" in letters
            return _sizes_in_words(sizes, letters) if smaller_ones_pass else ""
    return ""


def _sizes_in_words(sizes: Sizes, letters: set[str]) -> str:
    parts = []
    if "B" in letters:
        parts.append(_count(sizes.B, "sequence"))
    if "T" in letters:
        parts.append(_count(sizes.T, "time step"))
    said = " of ".join(parts)
    if sizes.L > 1:
        said = f"{said} in {_count(sizes.L, 'layer')}" if said else _count(sizes.L, "layer")
    return f"The smallest input that shows it: {said}." if said else ""


def _count(number: int, noun: str) -> str:
    return f"{_WORDS[number]} {noun}{'' if number == 1 else 's'}"
