"""The language checks are written in.

A check is a pytest function that asks for `submission` (the student's objects, wherever they
live), `sizes` (distinct sizes for every dimension) and `draw` (seeded inputs), carries `points`
and a `rule`, and states what it wants through `expect…`. See docs/checks.md.

Its names are in `language`, which is imported when one of them is asked for: it imports torch, a second of
work, and whoever only reads what checks found (`autograder results`, say) needs neither.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking.language import *  # noqa: F403  # the names that are handed on


class _Package(ModuleType):
    """This package. A module of it is called `expect`, too: here the name is the function's."""

    @property
    def expect(self) -> Any:
        return _language().expect

    @expect.setter
    def expect(self, module: ModuleType) -> None:
        """Called by the import system with the module: it stays in `sys.modules`, where imports find it."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__" or not name.startswith("_"):
            return getattr(_language(), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _language() -> ModuleType:
    return import_module("autograder.checking.language")


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Package
