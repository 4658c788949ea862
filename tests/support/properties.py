"""Settings of tests of properties, and data that is changed part by part.

Every example comes from the test's own name, so that a run can be repeated; what Hypothesis keeps of a run
lies in `build/`.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parents[2] / "build" / "hypothesis"))

QUICK = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    # Numbers and texts of the modules imported so far are tried, too, and under pytest-xdist those are not
    # always the same: the example itself is printed, to be put above a test that fails.
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
"""Texts with any character, halves of surrogate pairs included."""

PARTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), 2**70]),
    st.floats(),
    TEXTS,
)
"""JSON data without parts of its own, and `NaN`, which Python reads and writes, too."""


def trees(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str] = TEXTS) -> st.SearchStrategy[Any]:
    """JSON data of these leaves, in lists and dicts with these keys."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=10,
    )


@st.composite
def changed(draw: st.DrawFn, data: Any, others: st.SearchStrategy[Any], most: int = 4) -> Any:
    """A copy of JSON data with up to `most` of its parts changed; `others` are put in their places.

    A part is dropped, replaced, doubled, wrapped, given another key or put where another part is.
    """
    whole = [copy.deepcopy(data)]
    for _ in range(draw(st.integers(1, most))):
        holder, key = _place(draw, whole)
        match draw(st.sampled_from(["drop", "replace", "double", "wrap", "swap", "key"])):
            case "drop" if holder is not whole:
                del holder[key]
            case "double" if isinstance(holder, list) and holder is not whole:
                holder[key:key] = [copy.deepcopy(holder[key])] * draw(st.integers(1, 3))
            case "wrap":
                holder[key] = [holder[key]] if draw(st.booleans()) else {"x": holder[key]}
            case "swap":
                other, place = _place(draw, whole)
                # Copies: a part that is put into itself could not be written down.
                one, two = copy.deepcopy(holder[key]), copy.deepcopy(other[place])
                holder[key] = two
                if holder is not other and place in _keys(other):
                    other[place] = one
            case "key" if isinstance(holder, dict):
                name = draw(st.sampled_from(sorted(holder)) | TEXTS)
                holder[name] = holder.pop(key)
            case _:
                holder[key] = draw(others)
    return whole[0]


def _place(draw: st.DrawFn, whole: list[Any]) -> tuple[Any, Any]:
    """A container of the data, and the key or position of one of its parts: near the top as often as deep.

    Of the ways down, the one with the most parts, such as a notebook's cells, is as likely as all others.
    """
    holder: Any = whole
    key: Any = 0
    for _ in range(draw(st.integers(0, 6))):
        if not isinstance(holder[key], (list, dict)) or not holder[key]:
            break
        holder = holder[key]
        keys = _keys(holder)
        largest = max(
            keys, key=lambda each: len(holder[each]) if isinstance(holder[each], (list, dict)) else 0
        )
        key = largest if isinstance(holder, dict) and draw(st.booleans()) else draw(st.sampled_from(keys))
    return holder, key


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


@st.composite
def damaged(draw: st.DrawFn, raw: bytes, most: int = 4) -> bytes:
    """A copy of bytes with up to `most` places changed: a bit flipped, a part cut, doubled or put in."""
    data = bytearray(raw)
    for _ in range(draw(st.integers(1, most))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        size = draw(st.integers(1, 12) | st.integers(1, max(1, len(data))))
        match draw(st.sampled_from(["flip", "cut", "double", "put"])):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at : at + size]
            case "double":
                data[at:at] = data[at : at + size]
            case _:
                data[at:at] = draw(st.sampled_from(_ODD_BYTES) | st.binary(min_size=1, max_size=6))
    return bytes(data)


_ODD_BYTES = [b"[", b"{", b"]", b'"', b",", b"-", b"1e999", b"9" * 30, b"NaN", b"\\ud800", b"\0", b"\xff"]
"""Bytes that JSON may not have everywhere."""
