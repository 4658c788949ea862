"""Wrong answers that are known before: each is told by the words that explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from autograder.checking.expectations.comparing import compare
from autograder.checking.expectations.values import fail


def expect_no_slip(answer: Any, right: Any, slips: Mapping[str, Any], *, name: str = "") -> None:
    """Expect an answer not to be the one that a well-known slip gives.

    `right` is the right answer, and `slips` has wrong ones, each under the words that explain it: tensors, or
    tuples and lists of these, nested or not. An answer that is right, or none of them, passes, and so does
    one of another structure: `expect` comes after this. `name` is the result's, for a message that begins
    with it. Raises `CheckFailed` with the words.

        right = torch.cat((forward, backward), dim=1)
        swapped = torch.cat((backward, forward), dim=1)
        expect_no_slip(answer, right, {"The two halves are swapped: forward comes first.": swapped})
        expect(answer, right, names="vector", dims="B 2H", sizes=sizes)
    """
    if _alike(answer, right):
        return
    begin = f"`{name}` has the right shape but not the right values. " if name else ""
    for words, wrong in slips.items():
        if _alike(answer, wrong) and not _alike(wrong, right):
            fail(f"{begin}{words}")


def _alike(answer: Any, other: Any) -> bool:
    if isinstance(other, torch.Tensor):
        is_comparable = isinstance(answer, torch.Tensor) and answer.shape == other.shape
        return is_comparable and not compare(answer, other)
    if not isinstance(answer, (list, tuple)) or len(answer) != len(other):
        return False
    return all(_alike(one, another) for one, another in zip(answer, other, strict=True))
