"""Verdicts as they lie on disk, read so that what is equal in a class is held once.

Most of a class's verdicts consist of the same tasks: everybody who passed, and everybody who made the same
mistake, has the same checks with the same messages. So a hundred thousand verdicts take the memory of the few
tasks that differ.
"""

from __future__ import annotations

import json
from functools import lru_cache
from sys import intern
from typing import Any

import msgspec
from msgspec.structs import replace

from autograder.verdict import Verdict

MOST_TASKS = 1 << 13
"""The number of different tasks that are remembered, some five kilobytes each."""


class Kept(msgspec.Struct):
    """A verdict on record, with what it was formed from: see `Key`."""

    conditions: str
    file: str
    content: str
    """The digest of what counts in the submitted file; `""` if it could not be read."""
    verdict: Verdict


def read_kept(raw: bytes) -> Kept:
    """Read a file of a verdict. Raises `ValueError` if it is none."""
    try:
        kept = msgspec.json.decode(raw, type=Kept)
    except msgspec.MsgspecError:  # Python's JSON has more: infinite numbers, halves of surrogate pairs
        kept = msgspec.convert(json.loads(raw), Kept)
    found = kept.verdict
    kept.conditions = intern(kept.conditions)
    kept.verdict = replace(
        found,
        assignment=intern(found.assignment),
        notebook=intern(found.notebook),
        status=intern(found.status),
        tasks=tuple(map(_shared, found.tasks)),
        findings=tuple(map(_shared, found.findings)),
        by_hand=tuple(map(_shared, found.by_hand)),
    )
    return kept


@lru_cache(MOST_TASKS)
def _shared(part: Any) -> Any:
    """Return the first that came of those that are equal."""
    return part
