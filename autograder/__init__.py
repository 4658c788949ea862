"""Teach and grade recurrent networks in PyTorch: an nbgrader course and the autograder behind it.

In a notebook: `from autograder import after, check, data, figures, reveal`. What is imported here is imported
late, so that a notebook pays for a check only when it runs one.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["after", "check", "data", "failing", "figures", "reveal"]

_HOMES = dict.fromkeys(("after", "check", "checks_inside", "failing"), "autograder.notebook")
_HOMES |= {"reveal": "autograder.guesses"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("data", "figures"):
        return import_module(f"autograder.{name}")
    raise AttributeError(f"module 'autograder' has no attribute '{name}'")
