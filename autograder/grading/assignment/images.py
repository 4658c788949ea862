"""Images that are pasted into Markdown cells: nbformat's `attachments`."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from nbformat import NotebookNode

_BEGINNINGS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8"}
"""The beginnings of images. They are shown on pages which graders open: no kind can carry a script."""
_NOTHING = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
"""An image of one transparent pixel."""
_NAMED = re.compile(r"""attachment:([^\s)>"'\]]+)""")


def is_image(mime: Any, text: Any) -> bool:
    """Return whether this is an image in base64, of a kind that is shown."""
    if mime not in _BEGINNINGS or not isinstance(text, str):
        return False
    try:
        return base64.b64decode("".join(text.split()), validate=True).startswith(_BEGINNINGS[mime])
    except ValueError:
        return False


def images_of(cell: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the images of a cell whose JSON may have any shape, by name."""
    told = cell.get("attachments")
    found = {
        name: {mime: text for mime, text in kinds.items() if is_image(mime, text)}
        for name, kinds in (told.items() if isinstance(told, dict) else ())
        if isinstance(kinds, dict)
    }
    return {name: kinds for name, kinds in found.items() if kinds}


def without_unused(cell: NotebookNode) -> None:
    """Take the images away that a cell's text does not show: of a cleared answer they are the solution's."""
    named = _named(cell)
    used = {name: kinds for name, kinds in cell.pop("attachments", {}).items() if name in named}
    if used:
        cell["attachments"] = NotebookNode(used)


def with_placeholders(cell: NotebookNode, images: Mapping[str, Any]) -> None:
    """Give a cell its images, and an empty one for each that its text names and that is not there.

    nbconvert makes no page of a notebook in which one is missing: neither feedback nor formgrader's.
    """
    missing = {name: {"image/png": _NOTHING} for name in _named(cell)}
    if shown := {**missing, **images}:
        cell["attachments"] = NotebookNode(shown)


def _named(cell: NotebookNode) -> set[str]:
    """The names of the images in a cell's text, as they stand there and decoded."""
    return {spelled for name in _NAMED.findall(cell["source"]) for spelled in (name, unquote(name))}
