"""Several calls in one request: told one by one, as if each had been made by itself."""

from functools import partial

import pytest
import torch
from checking_helpers import message
from test_checking_later import ONES, counted
from torch import nn

from autograder.checking import Submission, case, expect_dtypes, expect_gradients, expect_module
from autograder.checking.draw import Draw, Sizes
from autograder.checking.errors import StudentError

SIZES = Sizes(B=5, T=2, D=7, H=11, L=3, V=13)


def test_several_calls_are_one_request():
    answers, sent = counted(add=lambda x, y=0: x + y)
    first, second = answers.add.each((ONES,), (2 * ONES,), y=1)
    assert [request["op"] for request in sent] == ["each"]
    assert torch.equal(second(), 3 * ONES)
    assert torch.equal(first(), 2 * ONES)


def test_what_waits_comes_before_them():
    answers, sent = counted(Linear=nn.Linear)
    linear = expect_module(answers.Linear(2, 1, bias=False), "`Linear`")
    linear.load_state_dict({"weight": 3 * ONES})
    linear.later(ONES)
    assert [answer().item() for answer in linear.each((ONES,), (2 * ONES,))] == [6, 12]
    assert [request["op"] for request in sent] == ["call", "each"]


def test_the_one_that_stops_is_told_where_it_is_asked_for():
    calls = []

    def invert(x):
        calls.append(x)
        return 1 / x

    answers, _ = counted(invert=invert)
    one, zero, never = answers.invert.each((1,), (0,), (2,))
    assert one() == 1

    def second():
        with case("with nothing"):
            zero()

    with pytest.raises(StudentError, match="division by zero") as stopped:
        second()
    assert stopped.value.case == "With nothing"
    assert calls == [1, 0]  # as where each is asked by itself: the check ends there
    with pytest.raises(IndexError):
        never()


def test_a_check_is_seen_to_have_asked_what_it_looked_at():
    answers, _ = counted(double=lambda x: 2 * x)
    answers.begin("double", 1)
    first, _ = answers.double.each((1,), (2,))
    assert not answers.exchanges
    first()
    ((request, answer),) = answers.exchanges
    assert (request["op"], request["args"], answer["value"]) == ("call", (1,), 2)


def test_the_name_is_asked_for_with_the_first():
    answers, _ = counted()
    answers.begin("f", 1)
    with pytest.raises(Exception, match="f"):
        answers.f.each((1,), (2,))


@pytest.mark.parametrize("told", [5, None, [], [5], [{}], [{"each": []}], {"value": 1}, "text"])
def test_whatever_is_answered_ends_the_check_or_is_judged(told):
    answers = Submission(lambda request: {"each": told})
    with pytest.raises((IndexError, KeyError, TypeError)):
        [answer() for answer in answers.f.each((1,), (2,))]


def test_gradients_take_one_request():
    answers, sent = counted(square=lambda x: x * x)
    draw = Draw(1, "square", SIZES)
    expect_gradients(answers.square, lambda x: x * x, (draw("B D"),), names=("x",), draw=draw)
    assert [request["op"] for request in sent] == ["each"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x * x.detach(), "not the one that the right computation gives"),
        (lambda x: (x * x).sum(), "until the results have the right shapes"),
        (lambda x: (x * x, x), "until the results have the right shapes"),
        (lambda x: (x * x).detach(), "cut off from the graph"),
        (lambda x: x.mul_(x), "the call wrote into its argument `x`"),
    ],
)
def test_gradients_are_told_as_before(answer, said):
    answers, _ = counted(square=answer)
    draw = Draw(1, "square", SIZES)
    check = partial(
        expect_gradients, answers.square, lambda x: x * x, (draw("B D"),), names=("x",), draw=draw
    )
    assert said in message(check)


def test_dtypes_take_one_request_and_one_more_for_the_line_at_fault():
    answers, sent = counted(Cast=nn.Identity, Wrong=lambda: Wrong())
    expect_dtypes(answers.Cast, (ONES,), names="y", made_with=())
    assert [request["op"] for request in sent] == ["each"]
    sent.clear()
    assert "comes out as float32" in message(
        partial(expect_dtypes, answers.Wrong, (ONES,), names="y", made_with=())
    )
    assert [request["op"] for request in sent] == ["each", "each"]


class Wrong(nn.Module):
    def forward(self, x):
        return x.float()


def test_arguments_that_are_used_up_are_made_for_each():
    made = []

    def arguments():
        made.append(1)
        return (ONES.clone(),)

    answers, sent = counted(same=lambda x: x)
    expect_dtypes(answers.same, arguments, names="y")
    assert len(made) == len(sent) + 1  # and once to look at what they are
