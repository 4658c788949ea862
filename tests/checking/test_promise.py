"""Several calls in one request: told one by one, as if each had been made by itself."""

import socket
import sys
from functools import partial
from threading import Thread
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Submission, case, expect_dtypes, expect_gradients, make_module
from autograder.checking.inputs.draw import Draw, Sizes
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError
from autograder.protocol.stream import Stream
from autograder.protocol.tensors import MAX_TENSORS
from autograder.protocol.values import tensors_in
from autograder.worker.session.shell import Shell, serve
from tests.checking.test_later import ONES, counted
from tests.support.checking import message

SIZES = Sizes(B=5, T=2, D=7, H=11, L=3, V=13)


def test_several_calls_are_one_request():
    answers, sent = counted(add=lambda x, y=0: x + y)
    first, second = answers.add.promise(ONES, y=1), answers.add.promise(2 * ONES, y=1)
    assert not sent
    assert torch.equal(second(), 3 * ONES)
    assert torch.equal(first(), 2 * ONES)
    assert [request["op"] for request in sent] == ["each"]


def test_they_are_made_in_their_order_with_what_waits_before_each():
    answers, sent = counted(Linear=nn.Linear)
    promised = []
    for number in (1, 2, 3):
        linear = make_module(answers.Linear, 2, 1, bias=False, told="`Linear`")
        linear.load_state_dict({"weight": number * ONES})
        promised.append(linear.promise(ONES))
    assert linear(2 * ONES).item() == 12  # one that is asked for at once goes with them, as the last
    assert [answer().item() for answer in promised] == [2, 4, 6]
    assert [request["op"] for request in sent] == ["each"]


def test_they_are_made_with_what_the_arguments_were_then():
    answers, _ = counted(double=lambda x: 2 * x)
    x = ONES.clone()
    answer = answers.double.promise(x)
    x.zero_()
    assert torch.equal(answer(), 2 * ONES)


def test_the_one_that_stops_is_told_where_it_is_asked_for_and_ends_the_rest():
    calls = []

    def invert(x):
        calls.append(x)
        return 1 / x

    answers, _ = counted(invert=invert)
    one, zero, never = (answers.invert.promise(number) for number in (1, 0, 2))
    assert one() == 1

    def second():
        with case("with nothing"):
            zero()

    with pytest.raises(StudentError, match="division by zero") as stopped:
        second()
    assert stopped.value.case == "With nothing"
    assert calls == [1, 0]  # as where each is asked by itself: the check ends there
    with pytest.raises(StudentError, match="division by zero"):
        never()


def test_what_is_no_module_stops_the_rest():
    answers, _ = counted(M=lambda: None, f=lambda x: x)
    module = make_module(answers.M, told="`M()`")
    first, second = module.promise(ONES), answers.f.promise(ONES)
    for answer in (second, first):
        with pytest.raises(CheckFailed, match="must make an"):
            answer()


def test_a_check_is_seen_to_have_asked_what_it_looked_at():
    answers, _ = counted(double=lambda x: 2 * x)
    answers.begin("double", 1)
    first, _ = answers.double.promise(1), answers.double.promise(2)
    assert not answers.exchanges
    first()
    ((request, answer),) = answers.exchanges
    assert (request["op"], request["args"], answer["value"]) == ("call", (1,), 2)


def test_the_name_is_asked_for_with_the_first():
    answers, _ = counted()
    answers.begin("f", 1)
    first, second = answers.f.promise(1), answers.f.promise(2)
    for answer in (second, first):
        with pytest.raises(NotDefined):
            answer()


def test_what_nobody_asks_for_is_made_at_the_end_and_stops_the_check():
    answers, sent = counted(invert=lambda x: 1 / x)
    answers.begin("invert", 1)
    answers.invert.promise(1)
    answers.finish()
    assert len(sent) == 1
    answers.begin("invert", 1)
    answers.invert.promise(0)
    with pytest.raises(StudentError, match="division by zero"):
        answers.finish()
    answers.begin("invert", 1)
    answers.invert.promise(0)
    answers.begin("invert", 1)  # another check: what the one before it left is not made
    answers.finish()


def test_a_frame_is_never_asked_to_hold_more_than_it_may():
    answers, sent = counted(total=lambda *every: torch.as_tensor(sum(every)).sum())
    promised = [answers.total.promise(*[number * ONES] * 100) for number in range(7)]
    promised += [answers.total.promise(number) for number in range(40)]
    seen = [answer() for answer in promised]
    assert [float(total) for total in seen[:7]] == [200 * number for number in range(7)]
    assert [int(total) for total in seen[7:]] == list(range(40))
    for request in sent:
        assert len(tensors_in(request)) <= MAX_TENSORS / 2
        assert len(request.get("requests", ())) <= 16


@pytest.mark.parametrize("told", [5, None, [], [5], [{}], [{"each": []}], {"value": 1}, "text"])
def test_whatever_is_answered_ends_the_check_or_is_judged(told):
    answers = Submission(lambda request: {"each": told})
    promised = [answers.f.promise(1), answers.f.promise(2)]
    with pytest.raises(NoAnswer):
        [answer() for answer in promised]


def test_answers_that_are_too_large_together_are_told_as_such():
    """The worker says so in the place of all of them."""
    answers = Submission(lambda request: {"raised": {"type": "AnswerTooLarge", "message": "", "lines": []}})
    for answer in [answers.f.promise(1), answers.f.promise(2)]:
        with pytest.raises(StudentError) as stopped:
            answer()
        assert stopped.value.type == "AnswerTooLarge"


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
    assert [request["op"] for request in sent] == ["each", "place"]


class Wrong(nn.Module):
    def forward(self, x):
        return x.float()


def test_arguments_that_are_used_up_are_made_for_each():
    made: list[int] = []

    def arguments():
        made.append(1)
        return (ONES.clone(),)

    answers, sent = counted(same=lambda x: x)
    expect_dtypes(answers.same, arguments, names="y")
    assert len(made) == len(sent[0]["requests"]) + 1  # and once to look at what they are


def served(**objects) -> Submission:
    """A submission whose objects are behind a stream, where a frame has its limits."""
    here, there = socket.socketpair()
    shell = cast(Shell, SimpleNamespace(user_ns=objects, streams=(sys.stdout, sys.stderr)))
    Thread(target=serve, args=(Stream(there), shell), daemon=True).start()
    stream = Stream(here)

    def perform(request):
        stream.send({**request, "number": 1}, 20)
        answer = stream.receive(20)
        return {key: told for key, told in answer.items() if key != "number"}

    return Submission(perform)


def test_what_is_too_large_together_is_told_one_by_one():
    """A list of as many tensors as this is a wrong answer, and said to be one where it is asked for alone."""
    answers = served(many=lambda count: [torch.ones(1)] * count, large=lambda: torch.ones(3_000_000).double())
    first, second = [answers.many.promise(400) for _ in range(2)]
    assert len(first()) == 400
    with pytest.raises(StudentError) as stopped:
        second()
    assert stopped.value.type == "AnswerTooLarge"
    alone, after = answers.many.promise(600), answers.many.promise(1)
    for answer in (alone, after):
        with pytest.raises(StudentError, match="more tensors than a frame may"):
            answer()
    assert [answer().shape for answer in [answers.large.promise() for _ in range(2)]] == [(3_000_000,)] * 2


@pytest.mark.parametrize("depth", range(1, 16))
def test_an_answer_is_nested_as_deeply_with_others_as_by_itself(depth):
    def nest():
        value = 1
        for _ in range(depth):
            value = (value,)
        return value

    answers = served(nest=nest)
    alone, (one, two) = answers.nest(), [answers.nest.promise() for _ in range(2)]
    assert alone == one() == two()
