"""Lines of a TOML file, which `tomllib` does not tell: where a table or a value is written."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)$")
"""The end of what `tomllib` says of a file; from Python 3.14 on, the error has the number itself."""


@functools.lru_cache(maxsize=4)
def lines_of(text: str) -> Mapping[tuple[str, ...], int]:
    """Return the lines of a readable file's tables and values, by the keys that lead to them.

    The file is read statement by statement: one ends at the first line with which it can be read alone. That
    takes a tenth of a second for a hundred tables, and whoever asks for one line mostly asks for more.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    first, statement = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        statement += f"{line}\n"
        try:
            read = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        keys = _keys(read)
        if statement.lstrip().startswith("["):
            table = keys
        else:
            keys = (*table, *keys) if keys else ()
        for length in range(1, len(keys) + 1):
            found.setdefault(keys[:length], first)
        first, statement = number + 1, ""
    return found


def line_unread(text: str, error: tomllib.TOMLDecodeError) -> int:
    """Return the line at which a file cannot be read; its last one where it ends too early."""
    told = _AT_LINE.search(str(error))
    return int(told[1]) if told else len(text.splitlines()) or 1


def _keys(read: Any) -> tuple[str, ...]:
    """Return the keys that lead to the only thing that was read."""
    if isinstance(read, dict) and len(read) == 1:
        ((key, inner),) = read.items()
        return (key, *_keys(inner))
    return ()
