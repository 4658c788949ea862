"""Expectations of counts and of plain numbers."""

import pytest
import torch

from autograder.checking import CheckFailed, expect_count, expect_whole
from tests.support.checking import message, submission


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (24, "The count is 24, too many."),
        (11, "The count is 11, too few."),
        (
            12.0,
            "Expected an `int`; you returned the float 12. `/` and `math.pow` make floats; `//` and `**` "
            "keep whole numbers whole.",
        ),
        (True, "Expected an `int`; you returned `True`."),
        (None, "Expected an `int`; you returned nothing (`None`). Is a `return` missing?"),
        (torch.tensor(12), "Expected an `int`; you returned one tensor of shape ()."),
        ("12", "Expected an `int`; you returned the text '12'."),
    ],
)
def test_a_count_is_a_whole_number_and_the_right_one(seen, said):
    assert message(expect_count, seen, 12, name="The count") == said


def test_right_ones_pass():
    expect_count(12, 12, name="The count")
    expect_whole(-3)


def test_what_a_worker_cannot_send_is_told():
    answer = submission(f=lambda: {1, 2}).f()
    with pytest.raises(CheckFailed, match="Expected an `int`; you returned a set"):
        expect_whole(answer)
