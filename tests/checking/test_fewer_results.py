"""Answers that are left out in one dtype, or on one device: nothing returned agrees with everything."""

import pytest
import torch

from autograder.checking import expect_device_neutral, expect_dtypes
from tests.support.checking import message, submission

X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)


def doubled(x):
    return 2 * x, x + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [None, (), 1.0])
def test_nothing_in_another_dtype_is_not_its_answer(dtype, value):
    task = submission(f=lambda x: value if x.dtype is dtype else doubled(x)).f
    said = message(expect_dtypes, task, (X,), names=("twice", "more"))
    assert said.startswith(f"With inputs of {str(dtype).removeprefix('torch.')} it returns ")
    assert said.endswith(
        "a tuple of 2 (a tensor of shape (2, 3), a tensor of shape (2, 3)). Does the code look at the dtype?"
    )


def test_half_of_it_in_another_dtype_is_not_its_answer():
    task = submission(f=lambda x: doubled(x) if x.dtype is torch.float64 else 2 * x).f
    assert "With inputs of float32 it returns one tensor of shape (2, 3)" in message(
        expect_dtypes, task, (X,), names=("twice", "more")
    )


def test_nothing_on_another_device_is_not_its_answer():
    task = submission(f=lambda x: None if x.device.type == "cuda" else doubled(x)).f
    said = message(expect_device_neutral, task, (X,), names=("twice", "more"))
    assert said.startswith("With the input on a GPU it returns `None`, on the CPU a tuple of 2")


def test_the_same_everywhere_passes():
    task = submission(f=doubled).f
    expect_dtypes(task, (X,), names=("twice", "more"))
    expect_device_neutral(task, (X,), names=("twice", "more"))
    expect_dtypes(submission(f=lambda x: (2 * x, 3)).f, (X,), names=("twice",))
