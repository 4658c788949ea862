"""The language checks are written in.

A check is a pytest function that asks for `submission` (the student's objects, wherever they
live), `sizes` (distinct sizes for every dimension) and `draw` (seeded inputs), carries `points`
and a `rule`, and states what it wants through `expect…`. See docs/checks.md.

Its names are in `language`, which is imported when one of them is asked for: it imports torch, a second of
work, and whoever only reads what checks found (`autograder results`, say) needs neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking.language import *  # noqa: F403  # the names that are handed on


def __getattr__(name: str) -> Any:
    if name == "__all__" or not name.startswith("_"):
        return getattr(import_module("autograder.checking.language"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
