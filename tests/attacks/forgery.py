"""One forged answer: what tries to get a task's points without doing the task."""

from __future__ import annotations

import textwrap
from typing import NamedTuple


class Forgery(NamedTuple):
    """The source of a task's cell, which stands in an otherwise solved notebook."""

    assignment: str
    task: str
    aim: str
    source: str
    earns: float = 0.0
    """The most that an honest wrong answer of the same shape gets."""
    borrows: bool = False
    """True if it is right where nothing is lacking. Else it sets `over` to true when it has come to its end."""


def function(signature: str, body: str, before: str = "") -> str:
    """A function that says when it has come to its end: `answer` is what it returns."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    head = textwrap.dedent(before).strip("\n")
    return (
        f"over = False\n{head}\n\ndef {signature}:\n    global over\n{lines}\n"
        "    over = True\n    return answer\n"
    )
