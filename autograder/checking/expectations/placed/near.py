"""Answers in some dtype or on some device, compared with others as nearly as rounding lets them be."""

from __future__ import annotations

import math
from typing import Any

import torch

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words
from autograder.checking.remote.observations import Placed
from autograder.protocol.values import tensors_in

_FAR = 0.05
"""The largest distance between results of float32 and of float64, as a part of their size."""


def near(seen: Any, right: Any) -> bool:
    """Return whether two answers hold the same numbers, as far as float32 can tell after many steps."""
    for one, other in zip(tensors_in(seen), tensors_in(right), strict=False):
        if one.shape != other.shape or not (one.is_floating_point() and other.is_floating_point()):
            continue
        if not torch.isfinite(other).all():
            continue
        apart, size = (one.double() - other.double()).norm(), other.double().norm()
        if not apart <= _FAR * (size + 0.01 * math.sqrt(other.numel())):
            return False
    return True


def is_as_right(seen: Any, right: Any) -> bool:
    """Return whether an answer has the tensors of the right one, of the same shapes, and is near to it."""
    found, wanted = tensors_in(seen), tensors_in(right)
    return (
        len(found) >= len(wanted)
        and all(
            one.shape == other.shape and one.is_floating_point() >= other.is_floating_point()
            for one, other in zip(found, wanted, strict=False)
        )
        and near(seen, right)
    )


def expect_near(seen: Placed, right: Any) -> None:
    """Expect the right answer to a call, whose task has given right ones in the checks of values."""
    if is_as_right(seen.value, right):
        return
    pairs = zip(tensors_in(seen.value), tensors_in(right), strict=False)
    for one, other in pairs:
        if one.shape == other.shape and one.is_floating_point() < other.is_floating_point():
            dtype = str(one.dtype).removeprefix("torch.")
            fail(
                f"In this call a result is {dtype}, which cannot hold fractions. Where does its dtype come "
                "from? A tensor's `new_…` methods and the `…_like` functions take that tensor's."
            )
    if near(seen.value, right):
        fail(
            f"In this call it returns {in_words(seen.value)}, expected {in_words(right)}, as in the checks "
            "of values. Does the code look at the dtype of the input, or at torch's default?"
        )
    fail(
        "The numbers are wrong in this call, though they are right in the checks of values. Results must "
        "depend on the inputs alone: does the code look at torch's default dtype, or at whether gradients "
        "are asked for? Does it draw random numbers, or keep something from call to call?"
    )
