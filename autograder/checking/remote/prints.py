"""The output of a student's code in the call that a check failed on, cleaned and shortened for a card."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from autograder.checking.explain.evidence import Prints
from autograder.protocol.answers import Exchange
from autograder.protocol.messages import Call, Make, OfObjects, ProbeCall, Target
from autograder.protocol.tensors import tensors_in

MAX_LINES = 24
"""Lines of what one call printed that are shown, half of them from its end: an error comes after the last."""
MAX_LINE = 160
"""Characters of a line."""
_MAX_SHAPES = 4
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Escape sequences, by which a terminal sets colours and titles and moves its cursor."""


def prints_of(exchanges: Sequence[Exchange], names: Mapping[int, str]) -> Prints | None:
    """Return the output of the last call of the student's code, and since; `None` if there is none."""
    texts: list[str] = []
    for message, answer in reversed(exchanges):
        texts.append(answer.printed)
        if isinstance(message, (Call, Make, ProbeCall)):  # all others ask what the student's code left
            text = readable("".join(reversed(texts)))
            return Prints(call_in_words(message, names), text) if text else None
    return None


def call_in_words(message: OfObjects, names: Mapping[int, str]) -> str:
    """Return a call in words, as "`attend` with inputs of shape (5, 7, 2) and (5, 11)".

    `names` are those of what was made in the check, by its number.
    """
    target = getattr(message, "target", Target())
    name = target.name or names.get(target.number, "")
    path = [part for part in (*target.path, getattr(message, "method", "")) if part not in ("", "forward")]
    told = f"`{'.'.join([name, *path])}`" if name else "your code"
    if isinstance(message, ProbeCall) and message.device == "pretend":
        told += " on the simulated GPU"
    given = [getattr(message, "args", ()), getattr(message, "kwargs", None)]
    shapes = [str(tuple(tensor.shape)) for tensor in tensors_in(given)]
    more = len(shapes) - _MAX_SHAPES
    if more > 0:
        shapes = [*shapes[:_MAX_SHAPES], f"{more} more"]
    if not shapes:
        return told
    inputs = "an input" if len(shapes) == 1 else "inputs"
    return f"{told} with {inputs} of shape {' and '.join(filter(None, [', '.join(shapes[:-1]), shapes[-1]]))}"


def readable(text: str) -> str:
    """The first and the last lines of a text, each as a terminal would leave it, without what steers one."""
    lines = [_line(line) for line in _STEERING.sub("", text).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    left_out = len(lines) - MAX_LINES
    if left_out > 0:
        half = MAX_LINES // 2
        lines = [*lines[:half], f"… {left_out} more lines …", *lines[-half:]]
    return "\n".join(lines)


def _line(line: str) -> str:
    """A line after its last carriage return, as of a progress bar, and no longer than is read."""
    parts = [part for part in line.split("\r") if part]
    kept = "".join(c for c in (parts[-1] if parts else "").expandtabs(4) if c.isprintable()).rstrip()
    return kept if len(kept) <= MAX_LINE else f"{kept[:MAX_LINE]} …"
