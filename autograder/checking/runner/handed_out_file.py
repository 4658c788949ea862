"""Files as the border of what students get. Python alone is needed: wheels are built with it."""

from __future__ import annotations

from fnmatch import fnmatch

KEPT_FOR_GRADING = ("hidden_*.py", "reference_*.py")
"""The check files that are never handed out: checks for grading only, and references."""
FILE = "handed_out.json"
"""The file beside checks that were handed out: what is known of those that were not."""


def goes_out(name: str) -> bool:
    """Return whether a check file of this name is handed out."""
    return not any(fnmatch(name, pattern) for pattern in KEPT_FOR_GRADING)
