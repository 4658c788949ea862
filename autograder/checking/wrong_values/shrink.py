"""The smallest input that shows a wrong answer: told in words, it often says where to look.

A fault that shows with one sequence of one step is in the step itself; one that takes two steps is in what
is carried from one to the next; one that takes two layers, between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.sizes import Sizes


@lru_cache
def ladder(dimensions: Dimensions) -> tuple[Sizes, ...]:
    """Return the sizes to try, the smallest first."""
    return tuple(Sizes(dimensions, **sizes) for sizes in dimensions.ladder())


def smallest(fails: Callable[[Sizes], bool], letters: set[str], dimensions: Dimensions) -> str:
    """Return a sentence about the first sizes at which a check fails, `""` if it does at none.

    `letters` are the dimensions that the check's inputs have; only those are told.
    """
    rungs = ladder(dimensions)
    for sizes in rungs:
        if fails(sizes):
            told = dimensions.in_words(sizes.by_letter(), letters)
            # That the smallest of all shows it says something where another dimension could have had a part.
            several = [letter for letter in letters & set(dimensions) if dimensions[letter].may_show]
            says_something = sizes != rungs[0] or len(several) > 1
            return f"The smallest input that shows it: {told}." if told and says_something else ""
    return ""
