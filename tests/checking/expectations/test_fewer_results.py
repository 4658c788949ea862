"""Answers left out or wrong in one dtype, or on one device, also where other numbers are excused there."""

import random

import pytest
import torch

from autograder.checking import expect_device_neutral, expect_dtypes
from autograder.checking.remote.submission import Submission
from autograder.worker.session.executor import Executor
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


RIGHT = doubled(X)


def test_another_shape_is_not_near_the_right_answer():
    f = submission(f=lambda x: doubled(x) if x.dtype is torch.float64 else (x[None] * 0, x.sum())).f
    for expect in (expect_dtypes, expect_device_neutral):
        said = message(expect, f, (X,), names=("twice", "more"), right=RIGHT)
        assert said.startswith("In this call it returns a tuple of 2 (a tensor of shape (1, 2, 3), ")
        assert "expected a tuple of 2 (a tensor of shape (2, 3), " in said


EXCUSED = {
    "autocast": """
def f(x):
    if x.is_cuda:
        with torch.autocast("cuda"):
            pass
        return 0 * x, 0 * x
    return 2 * x, x + 1
""",
    "noise": """
def f(x):
    if x.is_cuda:
        return 0 * x, 0 * x
    return 2 * x * (1 + 0.01 * random.random()), x + 1
""",
}
"""Code for which numbers on a GPU cannot be compared with those on the CPU."""


def test_whole_numbers_are_not_near_the_right_answer():
    f = submission(
        f=lambda x: tuple(part.to(int) for part in doubled(x)) if x.dtype is torch.float32 else doubled(x)
    ).f
    said = message(expect_dtypes, f, (X,), names=("twice", "more"), right=RIGHT)
    assert said.startswith("In this call a result is int64, which cannot hold fractions.")


@pytest.mark.parametrize("excuse", EXCUSED)
def test_what_excuses_other_numbers_on_a_device_excuses_no_wrong_ones(excuse):
    namespace = {"torch": torch, "random": random}
    exec(compile(EXCUSED[excuse], "<cell f>", "exec"), namespace)
    task = Submission(Executor(namespace).perform).f
    expect_device_neutral(task, (X,), names=("twice", "more"))
    said = message(expect_device_neutral, task, (X,), names=("twice", "more"), right=RIGHT)
    assert said.startswith("With the input on a GPU the answer is not the right one")


def test_a_coarse_answer_under_another_default_dtype_is_one():
    def f(x):
        twice, more = doubled(x)
        return (twice.bfloat16(), more) if torch.get_default_dtype() is torch.float64 else (twice, more)

    said = message(expect_dtypes, submission(f=f).f, (X,), names=("twice", "more"), right=RIGHT)
    assert said.startswith("With inputs of float64, `twice` comes out as bfloat16")


def test_the_right_answer_passes_with_what_it_should_be():
    f = submission(f=doubled).f
    for expect in (expect_dtypes, expect_device_neutral):
        expect(f, (X,), names=("twice", "more"), right=RIGHT)
        expect(submission(f=lambda x: list(doubled(x))).f, (X,), names=("twice", "more"), right=RIGHT)
