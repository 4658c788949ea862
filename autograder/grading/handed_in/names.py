"""Names that strangers chose, as people may read them: in a terminal, in Markdown, on a page."""

from __future__ import annotations

from collections.abc import Sequence

MAX_NAME = 80
MOST_NAMED = 4


def shown(name: str) -> str:
    """A file's name in backticks, without what steers a terminal or ends the backticks, and not too long."""
    kept = "".join(c if c.isprintable() and c != "`" else "�" for c in name[: MAX_NAME + 1])
    if len(kept) > MAX_NAME:
        kept = f"{kept[:MAX_NAME]}…"
    return f"`{kept}`"


def listed(words: Sequence[str], more: int = 0, of: str = "file") -> str:
    """Words in a row, the first few of them; `more` are not among them."""
    named, more = list(words[:MOST_NAMED]), more + max(0, len(words) - MOST_NAMED)
    if more:
        named.append(f"{more}{' more' if named else ''} {of}{'s' if more > 1 else ''}")
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
