"""Whatever a student's code returns, a check says what is wrong with it and has no fault of its own.

By default some odd answers are tried, one of each kind; `ODD_ANSWERS=all` tries them all.
"""

from __future__ import annotations

import itertools
import os

import pytest
import torch

from autograder.checking import expect_shapes, parts_of
from autograder.checking.explain.failure import CheckFailed
from tests.exercises.test_exercises import NOTEBOOKS
from tests.support.checking import SIZES, message, submission
from tests.support.odd_answers import ODD, WHEN, faults

EVERY = os.environ.get("ODD_ANSWERS") == "all"
SOME = (
    "nothing",
    "a text",
    "no parts",
    "no dimension",
)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_check_trips_over_an_odd_answer(notebook: str):
    tried = itertools.product(ODD, WHEN) if EVERY else itertools.product(SOME, ["in every call"])
    assert not list(faults(notebook, tried))


def test_an_answer_that_is_no_tensor_says_so_wherever_it_is_taken_for_one():
    x = torch.zeros(2)
    for value, words in (({1}, "a set"), (torch.nn.Linear(1, 1), "an object of type Linear")):
        odd = submission(f=lambda value=value: value).f()
        for use in (
            lambda odd=odd: odd.shape,
            lambda odd=odd: odd.double(),
            lambda odd=odd: torch.equal(x, odd),
            lambda odd=odd: x + odd,
            lambda odd=odd: torch.cat([x, odd]),
            lambda odd=odd: list(odd),
            lambda odd=odd: odd[0],
            lambda odd=odd: len(odd),
        ):
            with pytest.raises(CheckFailed, match=words):
                use()
        assert not hasattr(odd, "shape")
        assert getattr(odd, "dtype", None) is None
        with pytest.raises(AttributeError) as slip:
            odd.nowhere  # noqa: B018  # an author's slip, which no answer is to blame for
        assert not isinstance(slip.value, CheckFailed)


def test_a_slip_with_what_the_author_named_is_no_answers():
    with pytest.raises(AttributeError) as slip:
        submission(f=len).f.shape  # noqa: B018
    assert not isinstance(slip.value, CheckFailed)


def test_answers_are_taken_apart_in_words():
    pair = (torch.zeros(2, 5, 11), (torch.zeros(2, 11), torch.zeros(2, 11)))
    form = ("B T H", ("B H", "B H"))
    names = ("output", "h", "c")
    output, (h, _) = expect_shapes(pair, form, names=names, sizes=SIZES)
    assert output is pair[0]
    assert h is pair[1][0]
    said = message(expect_shapes, None, form, names=names, sizes=SIZES)
    assert said == "Expected `(output, (h, c))`; you returned nothing (`None`). Is a `return` missing?"
    assert "has shape" in message(expect_shapes, (h, (h, h)), form, names=names, sizes=SIZES)
    assert parts_of(pair[1], ("h", "c")) == pair[1]
    assert message(parts_of, h, ("h", "c")).startswith("Expected `(h, c)`; you returned one tensor")
