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


def smallest(
    fails: Callable[[Sizes], bool],
    passes: Callable[[Sizes], bool],
    letters: set[str],
    dimensions: Dimensions,
) -> str:
    """Return a sentence about the first sizes at which a check fails, `""` if it does at none.

    Where it takes two of one dimension only, and the check passes with one, a second sentence says so.
    `letters` are the dimensions that the check's inputs have; only those are told.
    """
    rungs = ladder(dimensions)
    least = rungs[0].by_letter()
    for sizes in rungs:
        if fails(sizes):
            told = dimensions.in_words(sizes.by_letter(), letters)
            # That the smallest of all shows it says something where another dimension could have had a part.
            several = [letter for letter in letters & set(dimensions) if dimensions[letter].may_show]
            says_something = sizes != rungs[0] or len(several) > 1
            if not told or not says_something:
                return ""
            more = [letter for letter, size in sizes.by_letter().items() if size > least[letter]]
            fewer = _right_with_fewer(rungs[0], more[0], passes) if len(more) == 1 else ""
            return f"The smallest input that shows it: {told}.{fewer}"
    return ""


def _right_with_fewer(least: Sizes, letter: str, passes: Callable[[Sizes], bool]) -> str:
    """Say that the least of one dimension is right, if it is with the most of all others, too."""
    dimensions = least.dimensions
    others = {each: sizes.small[-1] for each, sizes in dimensions.items() if sizes.small and each != letter}
    if not dimensions[letter].one or not passes(least.but(**others)):
        return ""
    return f" With {dimensions[letter].counted(least.by_letter()[letter])} it is right."
