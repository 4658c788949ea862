"""Checks that a notebook holds itself, as compressed text in a cell: so it goes out as one file.

The cell's text is exact, so that grading tells it from a student's: one call with one text of letters and
digits.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import tempfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

VERSION = 1
_NAME = re.compile(r"(?:checks/)?[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_MOST = 64 << 20
"""The most bytes that the checks of a notebook may have."""
_WIDTH = 100
_BEFORE = """\
#@title The checks of this notebook: run this cell, and leave it as it is
from autograder import checks_inside

"""
_CELL = re.compile(re.escape(_BEFORE.strip()) + r'\s*checks_inside\("""[A-Za-z0-9+/=\s]*"""\)')


class Damaged(ValueError):
    """An error: the packed checks cannot be read. A notebook shows the message and no traceback."""

    def __init__(self) -> None:
        super().__init__(
            "The checks that this notebook holds cannot be read: fetch the notebook again, and copy your "
            "answers into it."
        )

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [str(self)]


def cell_holding(files: Mapping[str, str], notebook: str, tasks: Mapping[str, float | None]) -> str:
    """The text of a cell that hands these files over: checks by `checks/` and their name, hints by theirs.

    `notebook` is the notebook's name; `tasks` are those that it checks, in its order, with their points.
    """
    cells = [
        {"source": [f'check("{task}")'], "metadata": {"nbgrader": {"points": points}}}
        for task, points in tasks.items()
    ]
    whole = {**files, f"{notebook}.ipynb": json.dumps({"cells": cells})}
    data = json.dumps({"version": VERSION, "files": whole}, sort_keys=True)
    packed = base64.b64encode(zlib.compress(data.encode(), 9)).decode()
    lines = [packed[start : start + _WIDTH] for start in range(0, len(packed), _WIDTH)]
    return "\n".join([f'{_BEFORE}checks_inside("""', *lines, '""")'])


def is_holding(source: str) -> bool:
    """Return whether a cell only holds checks, so that leaving it out leaves out no other code."""
    return _CELL.fullmatch(source.strip().replace("\r\n", "\n")) is not None


def unpacked(text: str) -> Path:
    """A folder with the files, which lasts as long as the process. Raises `Damaged`."""
    packed = "".join(text.split()) if isinstance(text, str) else ""
    kept = _folder(hashlib.sha256(packed.encode()).hexdigest())
    folder = Path(kept.name)
    try:
        for name, content in _files(packed).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, zlib.error) as error:
        raise Damaged from error
    return folder


def _files(packed: str) -> dict[str, str]:
    inflating = zlib.decompressobj()
    data = json.loads(inflating.decompress(base64.b64decode(packed, validate=True), _MOST))
    if data["version"] != VERSION:
        raise ValueError("written by another version")
    files = dict(data["files"])
    for name in files:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a file")
    return files


@lru_cache(None)
def _folder(digest: str) -> tempfile.TemporaryDirectory[str]:
    """The folder of a digest, the same each time that the cell is run: checks are remembered by folder."""
    return tempfile.TemporaryDirectory(prefix=f"checks-{digest[:8]}-", ignore_cleanup_errors=True)
