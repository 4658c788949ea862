"""The file beside checks that were handed out, as text. Python alone is needed: wheels are built with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FILE = "handed_out.json"
VERSION = 1


def text_of(kept_back: Mapping[str, list[dict[str, Any]]], recorded: Mapping[str, Any]) -> str:
    """The text of the file: by task, the points of what is kept back, and what references give."""
    data = {"version": VERSION, "kept_back": kept_back, "recorded": recorded}
    return json.dumps(data, indent=0, sort_keys=True) + "\n"
