"""Words for values, names and structures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from autograder.checking.remote.handle import Handle
from autograder.protocol.values import Opaque


def in_words(value: Any, depth: int = 0) -> str:
    """Say in words what an answer is: "one tensor of shape (2, 3)", "a tuple of 2 (…)", "the number 0.5".

    `value` may be anything that a call returns; `depth` is how deep it lies in another one. Raises nothing.

        if not isinstance(losses, list):
            fail(f"Expected a list of losses; you returned {in_words(losses)}.")
    """
    if isinstance(value, torch.Tensor):
        return (
            f"one tensor of shape {tuple(value.shape)}"
            if not depth
            else f"a tensor of shape {tuple(value.shape)}"
        )
    if isinstance(value, Opaque):
        return value.what
    if isinstance(value, Handle):
        return f"an object of type {value.type}"
    if isinstance(value, (list, tuple)):
        kind = f"a {type(value).__name__} of {len(value)}"
        if not value or depth > 1 or all(isinstance(item, (int, float)) for item in value):
            return kind
        parts = ", ".join(in_words(item, depth + 1) for item in value[:4])
        return f"{kind} ({parts}{', …' if len(value) > 4 else ''})"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(repr(key)[:30] for key in list(value)[:6])}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {value:.4g}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return f"`{value}`"


def structure(reference: Any, names: list[str]) -> str:
    """The expected nesting with the results' names, as `(output, (h_n, c_n))`."""
    if isinstance(reference, torch.Tensor):
        return names.pop(0)
    return f"`({', '.join(structure(part, names).strip('`') for part in reference)})`"


def listed(names: Sequence[str]) -> str:
    """Return names in code type, as "`i`, `f` and `o`"."""
    return in_a_row([f"`{name}`" for name in names])


def in_a_row(words: Sequence[str]) -> str:
    """Return words in a row, as "x, y and z"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def capital(sentence: str) -> str:
    """Return the sentence with a capital letter at its beginning."""
    return sentence[:1].upper() + sentence[1:]
