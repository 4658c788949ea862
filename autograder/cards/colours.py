"""The colours of cards, and the chips that carry them; those of dimensions are in `autograder.palette`.

A card does not know its page: it may be white, black, or a sanitizer may have taken its styles away.
So colour never says anything alone, text stands on a ground of its own or in the page's colour, and
every ground has the one lightness that white text and both kinds of pages stand out from
(WCAG AA: 4.5 for the text on it, 3 for its edge on the page). Styles are in line, the only ones that
JupyterLab keeps in a notebook it does not trust.
"""

from __future__ import annotations

import html
import re

from autograder.palette import DIMENSIONS

INK = "#ffffff"
"""The text on every ground."""
PASSED, WRONG, TO_DO, WAITING = "#207f30", "#d42831", "#2667e7", "#697076"
LEVELS = ("", "#b6510a", "#c3402d", "#d42831")
"""The ground of a part of a picture by how far it is off; a right one has none."""
_CHIP = "padding:.05em .45em;border-radius:.6em;white-space:nowrap;font-size:92%"


def chip(text: str, ground: str = "") -> str:
    """A short text on a ground, or in a frame where it has none."""
    style = (
        f"color:{INK};background-color:{ground};border:1px solid {ground}" if ground else "border:1px solid"
    )
    return f'<span style="{style};{_CHIP}">{html.escape(text, quote=False)}</span>'


def dimension(name: str, size: int) -> str:
    """A dimension's chip, as "batch 5": multiples and parts of a dimension have its colour."""
    ground = DIMENSIONS.get(name.rpartition("·")[2], "")
    return chip(f"{name} {size}" if name else str(size), ground)


def marked(text: str) -> str:
    """Text escaped for a page, with its `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
