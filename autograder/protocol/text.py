"""Texts that another process sent, as a person may read them: cut, and without what steers a terminal."""

from __future__ import annotations


def plain_text(text: str, length: int) -> str:
    """Return at most `length` characters of a text, with its line breaks and tabs."""
    kept = text[:length]
    if not kept.isprintable():
        kept = "".join(c for c in kept if c.isprintable() or c in "\n\t")
    return kept if len(text) <= length else f"{kept} …"


def one_line(text: str, length: int) -> str:
    """Return at most `length` characters of a text, without its line breaks."""
    kept = text[:length]
    return kept if kept.isprintable() else "".join(c for c in kept if c.isprintable())
