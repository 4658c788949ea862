"""The data that the course ships: no path, no network, the same in every folder.

In a notebook: `from autograder import data`. The files are read, compressed as they are, when this module is
imported: a worker that grades was forked after that, and cannot open the package's files.
"""

from __future__ import annotations

import bz2
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """The origin of a file, and what allows the course to ship it."""

    what: str
    origin: str
    licence: str


SOURCES = {
    "pride_and_prejudice": Source(
        "Jane Austen, Pride and Prejudice (1813), one paragraph a line, 682,303 characters",
        "Debian's package r-cran-janeaustenr 1.0.0-1; its text is Project Gutenberg's, without the header",
        "the text is in the public domain; the package, by Julia Silge, is under the MIT licence",
    ),
}
"""Origin and licence of everything that is shipped, by name."""
_TEXTS = {path.name.split(".")[0]: path.read_bytes() for path in Path(__file__).parent.glob("*.txt.bz2")}


@cache
def text(name: str) -> str:
    """Return a shipped text: `text("pride_and_prejudice")`. Raises `ValueError` for a name of none."""
    if name not in _TEXTS:
        raise ValueError(f"There is no text named {name!r}. There is: {', '.join(sorted(_TEXTS))}.")
    return bz2.decompress(_TEXTS[name]).decode("utf-8")


def sources() -> None:
    """Print origin and licence of everything that is shipped."""
    for name, source in SOURCES.items():
        print(f"{name}: {source.what}\n    from: {source.origin}\n    licence: {source.licence}")
