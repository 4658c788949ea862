"""Dimensions: the letters that checks write, what messages call them, and the sizes drawn for them.

A check file states its own; one that states none has those of `autograder.checking.inputs.recurrent`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

_SIZES = (11, 13, 17, 19, 23, 29, 31, 37, 41)
"""Primes that examples and hard-coded numbers rarely have, no two of them neighbours."""
_MOST_RUNGS = 8
"""Sizes that are tried to find the smallest that show a mistake."""


@dataclass(frozen=True)
class Dimension:
    """One dimension of tensors: its name in messages, its sizes, and what may be said of its indices.

    It stands in a file's `Dimensions`, by its letter. Raises nothing.

        W = Dimension("width", one="column", sizes=(13, 17), ordered=True)
    """

    name: str
    """Its name in messages: `width`."""
    one: str = ""
    """One index of it: `column`. Without it a message says `width index`."""
    sizes: tuple[int, ...] = ()
    """The sizes to draw from; one of its own where there is only one. By default primes from 11 on."""
    small: tuple[int, ...] = ()
    """The sizes that are tried to find the smallest input that shows a mistake. By default one that no other
    dimension has."""
    ordered: bool = False
    """True if the indices follow one another, so that a message may say "from column 2 on"."""
    independent: bool = False
    """True if each index is computed by itself, as the sequences of a batch are. A message may then say that
    some are mixed."""
    across: bool = False
    """True if a picture has it from left to right."""
    multiples: tuple[int, ...] = ()
    """The multiples of it that a wrong shape may show, as 4 for the four gates of `4H`."""
    incidental: bool = False
    """True if its size says little, because anything may be as small: it is named where it is asked for."""
    halves: tuple[str, str] | None = None
    """The words for the two halves of twice its size: `("the left eye", "the right eye")`."""
    innermost: bool = False
    """True if `2L` counts two for each index, and not all indices twice."""
    within: str = "of"
    """The word between what is told before and this: "one sequence of two time steps"."""

    @property
    def may_show(self) -> bool:
        """Return whether more than one size is tried, and what was drawn tells that the check has it."""
        return len(self.small) > 1 and not self.incidental

    def index(self, number: int) -> str:
        """Return one index in words: `column 2`."""
        return f"{self.one or f'{self.name} index'} {number}"

    def counted(self, number: int) -> str:
        """Return a number of indices in words: `two columns`."""
        words = {1: "one", 2: "two", 3: "three"}
        noun = self.one or f"{self.name} index"
        return f"{words.get(number, number)} {noun if number == 1 else plural(noun)}"


class Dimensions(Mapping[str, Dimension]):
    """Dimensions by their letters; a text stands for a dimension of that name.

    A check file states those of all its checks under the name `DIMENSIONS`. Raises `ValueError` for more than
    one letter, and for two dimensions of one name.

        DIMENSIONS = Dimensions(N=Dimension("batch", one="image", independent=True), C="channels", W="width")
    """

    def __init__(self, **dimensions: Dimension | str) -> None:
        self._dimensions = {
            letter: Dimension(each) if isinstance(each, str) else each for letter, each in dimensions.items()
        }
        for letter in self._dimensions:
            if len(letter) != 1:
                raise ValueError(f"a dimension has one letter, not {letter!r}")
        names = [each.name for each in self._dimensions.values()]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two dimensions are called {name!r}")

    def __getitem__(self, letter: str) -> Dimension:
        return self._dimensions[letter]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dimensions)

    def __len__(self) -> int:
        return len(self._dimensions)

    def __hash__(self) -> int:
        return hash(tuple(self._dimensions.items()))

    def drawn(self, source: random.Random, ordered: int) -> dict[str, int]:
        """Draw a size for each dimension, all different where there are enough to choose from.

        `ordered` is the size of ordered dimensions that state none: what is carried from index to index is
        looked at with more of them.
        """
        choices = {
            letter: list(each.sizes or ([ordered] if each.ordered else _SIZES[:5]))
            for letter, each in self._dimensions.items()
        }
        found: dict[str, int] = {}
        for letter in sorted(choices, key=lambda letter: len(choices[letter])):  # who can choose comes last
            free = [size for size in choices[letter] if size not in found.values()]
            others = [size for size in _SIZES if size not in found.values()]
            may_differ = not self._dimensions[letter].sizes
            found[letter] = source.choice(free or (others if may_differ and others else choices[letter]))
        return {letter: found[letter] for letter in self._dimensions}

    def ladder(self) -> tuple[dict[str, int], ...]:
        """Return the sizes to try for the smallest input that shows a mistake, the smallest first."""
        free = iter(_SIZES)
        chosen = {letter: each.small or (next(free),) for letter, each in self._dimensions.items()}
        rungs = [dict(zip(chosen, sizes, strict=True)) for sizes in product(*chosen.values())]
        rungs.sort(key=lambda sizes: [sizes[letter] for letter in self._by_weight()])
        return tuple(rungs[:_MOST_RUNGS])

    def _by_weight(self) -> list[str]:
        """Return the letters, those first whose size should stay small longest."""
        return sorted(self._dimensions, key=lambda letter: not self._dimensions[letter].innermost)

    def in_words(self, sizes: Mapping[str, int], letters: set[str]) -> str:
        """Return sizes in words, as "one sequence of two time steps"; `letters` are the dimensions to tell.

        Told are those that have a word for one index, an incidental one only where it is more than one.
        """
        said = ""
        for letter, each in self._dimensions.items():
            if not each.one or not each.small or (letter not in letters and not each.incidental):
                continue
            if each.incidental and sizes[letter] < 2:
                continue
            told = each.counted(sizes[letter])
            said = f"{said} {each.within} {told}" if said else told
        return said


def plural(noun: str) -> str:
    """Return the plural of an English noun: `queries`, `boxes`, `time steps`, `width indices`."""
    if noun.endswith("index"):
        return f"{noun[:-2]}ices"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def spelled(dim: str, dimensions: Mapping[str, Dimension]) -> str:
    """Return a dimension in words: `4H` as `4·hidden`, a plain number as it stands."""
    if dim.isdigit():
        return dim
    name = dimensions[dim[-1]].name
    return f"{dim[:-1]}·{name}" if dim[:-1] else name
