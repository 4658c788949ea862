"""Requests to a student's objects: put off, or made together in one exchange, and told as if one by one."""

import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Submission,
    asked,
    case,
    expect_dtypes,
    expect_gradients,
    expect_module,
    make_module,
)
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import _MOST_MESSAGES, _MOST_TENSORS, ask_all
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost
from autograder.checking.runner.collection import collect
from autograder.grading.workers.client import Worker
from autograder.protocol import answers as kinds
from autograder.protocol.messages import (
    Backward,
    Begin,
    Call,
    Construct,
    ListRegistered,
    Load,
    Make,
    Message,
    OfObjects,
    ProbeCall,
)
from autograder.protocol.stream import Stream
from autograder.protocol.tensors import MAX_TENSORS
from autograder.protocol.values import Opaque, tree_leaves
from autograder.worker.session.executor import Executor
from autograder.worker.session.shell import Shell, serve
from tests.support.checking import message, submission

ONES = torch.ones(1, 2, dtype=torch.float64)
SIZES = Sizes(B=5, T=2, D=7, H=11, L=3, V=13)

Batch = Sequence[OfObjects]


def counted(**objects: Any) -> tuple[Submission, list[Batch]]:
    """A submission, and the batches of messages that were sent to it."""
    home, sent = Executor(objects), []

    def perform(messages: Batch) -> list[kinds.AnyAnswer]:
        sent.append(messages)
        return home.perform(messages)

    return Submission(perform), sent


def told(*every: kinds.AnyAnswer) -> Submission:
    """A submission that answers the same to whatever it is asked."""
    return Submission(lambda messages: list(every))


def types(batch: Batch) -> list[type[Message]]:
    return [type(each) for each in batch]


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"weight": torch.full((1, 2), value).double(), "bias": torch.zeros(1).double()}


# What is put off: it goes with the next request, and is told as if it had not


def test_a_module_is_made_filled_and_called_in_one_exchange():
    answers, sent = counted(Linear=nn.Linear)
    linear = make_module(answers.Linear, 2, 1, told="`Linear(2, 1)`", bias=True)
    linear.load_state_dict(weights(2))
    assert not sent
    assert linear(ONES).item() == 4
    assert [types(batch) for batch in sent] == [[Make, Load, Call]]
    assert linear.registered().shapes == {"weight": (1, 2), "bias": (1,)}


def test_each_module_is_its_own():
    answers, _ = counted(Linear=nn.Linear, same=lambda one, other: one is other)
    one, other = (make_module(answers.Linear, 2, 1, told="`Linear`") for _ in range(2))
    one.load_state_dict(weights(1))
    other.load_state_dict(weights(3))
    assert (one(ONES).item(), other(ONES).item()) == (2, 6)
    assert not answers.same(one, other)
    given = answers.given("Linear", 2, 1, state=weights(5))
    assert answers.same(given, given)
    assert given(ONES).item() == 10


def test_what_was_made_before_it_is_an_argument():
    answers, sent = counted(call=lambda module, x: module(x))
    source = "def doubled(module):\n    return lambda x: 2 * module(x)"
    given = answers.given("Linear", 2, 1, state=weights(1))
    twice = answers.given("doubled", given, source=source, dtype=None)
    assert answers.call(twice, ONES).item() == 4
    assert [types(batch) for batch in sent] == [[Construct, Construct, Call]]


def test_a_source_asks_contents_for_what_students_may_have_replaced():
    class Hidden(nn.Linear):
        def named_parameters(self, *args, **kwargs):
            return iter(())

    answers, _ = counted(Hidden=Hidden)
    source = "def names(module):\n    return lambda: [*contents.parameters_of(module)]"
    module = make_module(answers.Hidden, 2, 1, told="`Hidden`")
    assert answers.given("names", module, source=source, dtype=None)() == ["weight", "bias"]


@pytest.mark.parametrize("made", [None, 3, ONES, len, "text", [nn.Linear(1, 1)], object()])
def test_what_is_no_module_is_told_as_if_it_had_been_made_at_once(made):
    at_once = message(expect_module, submission(f=lambda: made).f(), "`M()`")
    for ask in (lambda m: m.registered(), lambda m: m(ONES), lambda m: m.to(torch.float64)):
        answers, _ = counted(f=lambda: made)

        def check(answers=answers, ask=ask):
            ask(make_module(answers.f, told="`M()`"))
            answers.connection.finish()

        assert message(check) == at_once


def test_a_constructor_that_stops_is_told_with_the_next_request():
    answers, _ = counted(f=lambda: 1 / 0)
    module = make_module(answers.f, told="`M()`")
    with pytest.raises(StudentError) as caught:
        module.registered()
    assert caught.value.type == "ZeroDivisionError"
    answers.connection.finish()  # it is put off no more


def test_the_first_that_is_no_module_is_the_one_that_is_told():
    answers, _ = counted(right=nn.Linear, none=lambda: None, text=lambda: "text")
    make_module(answers.right, 2, 1, told="`Right`")
    make_module(answers.none, told="`None`")
    make_module(answers.text, told="`Text`")
    with pytest.raises(CheckFailed, match="`None` must be"):
        answers.connection.finish()


def test_what_it_raises_is_raised_by_the_request_that_took_it_along():
    answers, sent = counted(invert=lambda x: 1 / x, none=lambda: None)
    before = answers.invert.request(2)
    answers.invert.defer(0)
    behind = answers.invert.request(4)
    assert before.ask() == 0.5
    with pytest.raises(StudentError, match="division by zero"):
        behind.ask()
    first = answers.invert.request(1)
    module = make_module(answers.none, told="`M()`")
    second = module.request(ONES)
    assert first.ask() == 1
    with pytest.raises(CheckFailed, match="must be an"):
        second.ask()
    assert len(sent) == 2


def test_nobody_wants_to_know_what_a_call_that_is_put_off_returns():
    answers = served(many=lambda: [torch.ones(1)] * (MAX_TENSORS + 1), f=lambda: 1)
    answers.many.defer()
    assert answers.f() == 1


def test_what_waits_is_done_with_what_it_was_then():
    answers, _ = counted(Kept=lambda x: nn.ParameterList([x]))
    x, state = ONES.clone(), weights(1)
    kept = make_module(answers.Kept, x, told="`Kept`")
    given = answers.given("Linear", 2, 1, state=state)
    filled = answers.given("Linear", 2, 1)
    filled.load_state_dict(state)
    x.zero_()
    state["weight"].zero_()
    assert torch.equal(kept.parameters()["0"], ONES)
    assert given(ONES).item() == filled(ONES).item() == 2


def test_more_than_goes_together_goes_in_parts():
    answers, sent = counted(Linear=nn.Linear)
    made = [make_module(answers.Linear, 2, 1, told="`Linear`") for _ in range(_MOST_MESSAGES)]
    for number, module in enumerate(made):
        module.load_state_dict(weights(number))
    assert not sent
    assert made[7](ONES).item() == 14
    assert [len(batch) for batch in sent] == [_MOST_MESSAGES, _MOST_MESSAGES, 1]
    assert [module(ONES).item() for module in made] == [2 * number for number in range(_MOST_MESSAGES)]


def test_a_new_check_begins_with_none_of_it():
    answers, sent = counted(Linear=nn.Linear)
    answers.connection.begin("Linear", 1)
    make_module(answers.Linear, 2, 1, told="`Linear`").registered()
    make_module(answers.Linear, 2, 1, told="`Linear`")
    answers.connection.begin("Linear", 1)
    answers.connection.finish()
    assert [types(batch) for batch in sent] == [[Begin, Make, ListRegistered], [Begin]]
    assert not answers.connection.exchanges


# Several requests in one exchange


def test_several_calls_are_one_exchange():
    answers, sent = counted(add=lambda x, y=0: x + y)
    first, second = answers.add.request(ONES, y=1), answers.add.request(2 * ONES, y=1)
    assert not sent
    assert torch.equal(second.ask(), 3 * ONES)
    assert torch.equal(first.ask(), 2 * ONES)
    assert torch.equal(first.ask(), 2 * ONES)  # it is not made again
    assert [types(batch) for batch in sent] == [[Call, Call]]


def test_what_is_made_already_takes_nothing_along():
    answers, sent = counted(double=lambda x: 2 * x)
    first, second = answers.double.request(1), answers.double.request(2)
    assert first.ask() == 2
    third = answers.double.request(3)
    assert second.ask() == 4
    assert [len(batch) for batch in sent] == [2]
    assert third.ask() == 6


def test_the_rows_of_a_table_are_one_exchange():
    answers, sent = counted(double=lambda x: 2 * x)
    table = [(answers.double.request(x), x, f"with {x}") for x in range(5)]
    assert [(answer(), x, words) for answer, x, words in asked(table)] == [
        (2 * x, x, f"with {x}") for x in range(5)
    ]
    assert [answer() for answer in ask_all(answers.double.request(x) for x in (5, 6))] == [10, 12]
    assert [len(batch) for batch in sent] == [5, 2]
    assert asked([]) == ask_all([]) == []


def test_they_are_made_in_their_order_with_what_waits_before_each():
    answers, sent = counted(Linear=nn.Linear)
    requests = []
    for number in (1, 2, 3):
        linear = make_module(answers.Linear, 2, 1, bias=False, told="`Linear`")
        linear.load_state_dict({"weight": number * ONES})
        requests.append(linear.request(ONES))
    assert linear(2 * ONES).item() == 12  # one that is asked for at once goes with them, as the last
    assert [request.ask().item() for request in requests] == [2, 4, 6]
    assert [types(batch) for batch in sent] == [[Make, Load, Call] * 3 + [Call]]


def test_what_one_leaves_behind_another_finds():
    kept: list[int] = []
    answers, _ = counted(keep=lambda x: kept.append(x) or list(kept))
    first, second, third = (answers.keep.request(x) for x in (1, 2, 3))
    (answer,) = ask_all([third])
    assert (answer(), first.ask(), second.ask()) == ([1, 2, 3], [1], [1, 2])


def test_they_are_made_with_what_the_arguments_were_then():
    answers, _ = counted(double=lambda x: 2 * x, Linear=nn.Linear)
    x, state, weight = ONES.clone(), weights(1), ONES.clone()
    double, named = answers.double.request(x), answers.double.request(x=x)
    placed = answers.Linear.probe_request((x,), device="cpu", made_with=(2, 1), state=state)
    _, slopes = answers.double.gradient_requests((x,), [weight])
    for tensor in (x, state["weight"], weight):
        tensor.zero_()
    assert torch.equal(double.ask(), 2 * ONES)
    assert torch.equal(named.ask(), 2 * ONES)
    assert placed.ask().value.item() == 2
    assert torch.equal(slopes.ask().inputs[0], 2 * ONES)


@pytest.mark.parametrize(
    "stops", [0, 1, _MOST_MESSAGES - 2, _MOST_MESSAGES - 1, _MOST_MESSAGES, _MOST_MESSAGES + 9]
)
def test_the_one_that_stops_is_told_where_it_is_asked_for_and_ends_the_rest(stops):
    calls = []

    def invert(x):
        calls.append(x)
        return 1 / x

    answers, _ = counted(invert=invert)
    requests = [answers.invert.request(0 if number == stops else 1) for number in range(_MOST_MESSAGES + 20)]

    def asked_in_a_case():
        with case("with nothing"):
            requests[stops].ask()

    assert [request.ask() for request in requests[:stops]] == [1] * stops
    with pytest.raises(StudentError, match="division by zero") as stopped:
        asked_in_a_case()
    assert stopped.value.case == "With nothing"
    assert calls == [1] * stops + [0]  # as where each is asked by itself: the check ends there
    for never in requests[stops + 1 :]:
        with pytest.raises(StudentError, match="division by zero"):
            never.ask()
    assert len(calls) == stops + 1


@pytest.mark.parametrize("before", [0, 1, _MOST_MESSAGES - 2, _MOST_MESSAGES - 1, _MOST_MESSAGES])
def test_what_is_no_module_stops_the_rest(before):
    calls = []
    answers, _ = counted(M=lambda: None, f=calls.append)
    for number in range(before):
        answers.f.defer(number)
    module = make_module(answers.M, told="`M()`")
    first, second = module.request(ONES), answers.f.request(ONES)
    for request in (second, first):
        with pytest.raises(CheckFailed, match="must be an"):
            request.ask()
    assert calls == list(range(before))


def test_a_check_is_seen_to_have_asked_what_it_looked_at():
    answers, _ = counted(double=lambda x: 2 * x, M=nn.Identity)
    answers.connection.begin("double", 1)
    first, second = answers.double.request(1), answers.double.request(2)
    assert not answers.connection.exchanges
    second.ask()
    ((asked_for, answer),) = answers.connection.exchanges
    assert isinstance(asked_for, Call)
    assert (asked_for.args, answer.value) == ((2,), 4)
    make_module(answers.M, told="`M()`").registered()
    assert types([asked_for for asked_for, _ in answers.connection.exchanges[1:-1]]) == [Make]
    first.ask()
    first_and_last = answers.connection.exchanges[0], answers.connection.exchanges[-1]
    assert [answer.value for _, answer in first_and_last] == [4, 2]


def test_the_stop_is_seen_by_who_asks_for_what_was_not_done():
    answers, _ = counted(invert=lambda x: 1 / x)
    _, _, never = (answers.invert.request(number) for number in (1, 0, 2))
    with pytest.raises(StudentError):
        never.ask()
    ((asked_for, answer),) = answers.connection.exchanges
    assert isinstance(asked_for, Call)
    assert (asked_for.args, answer.type) == ((0,), "ZeroDivisionError")


def test_the_name_is_asked_for_with_the_first():
    answers, sent = counted()
    answers.connection.begin("f", 1)
    first, second = answers.f.request(1), answers.f.request(2)
    for request in (second, first):
        with pytest.raises(NotDefined):
            request.ask()
    assert [types(batch) for batch in sent] == [[Begin, Call, Call]]


def test_what_nobody_asks_for_is_made_at_the_end_and_stops_the_check():
    answers, sent = counted(invert=lambda x: 1 / x)
    answers.connection.begin("invert", 1)
    answers.invert.request(1)
    answers.connection.finish()
    assert [types(batch) for batch in sent] == [[Begin, Call]]
    answers.connection.finish()
    assert len(sent) == 1
    answers.connection.begin("invert", 1)
    answers.invert.request(0)
    answers.connection.begin("invert", 1)  # another check: what the one before it left is not made
    answers.connection.finish()


@pytest.mark.parametrize("stops", [0, 1, _MOST_MESSAGES - 1, _MOST_MESSAGES])
def test_what_nobody_asks_for_stops_the_check_wherever_it_stops(stops):
    answers, sent = counted(invert=lambda x: 1 / x)
    for number in range(stops + 2):
        answers.invert.request(stops - number)
    with pytest.raises(StudentError, match="division by zero"):
        answers.connection.finish()
    assert len(sent) == 1 + stops // _MOST_MESSAGES


def test_a_batch_is_never_made_to_hold_more_than_it_may():
    answers, sent = counted(total=lambda *every, **more: torch.as_tensor(sum(every)).sum())
    requests = [answers.total.request(*[number * ONES] * 100) for number in range(7)]
    requests += [answers.total.request(number) for number in range(_MOST_MESSAGES + 8)]
    seen = [request.ask() for request in requests]
    assert [float(total) for total in seen[:7]] == [200 * number for number in range(7)]
    assert [int(total) for total in seen[7:]] == list(range(_MOST_MESSAGES + 8))
    assert 200 <= _MOST_TENSORS < 300
    assert [len(batch) for batch in sent] == [2, 2, 2, _MOST_MESSAGES, 9]
    sent.clear()
    alone = [
        answers.total.request(1),
        answers.total.request(*[ONES] * (_MOST_TENSORS + 1)),
        answers.total.request(2, more=[{"more": ONES}] * _MOST_TENSORS),
        answers.total.request(3, more=ONES),
    ]
    assert [float(request.ask()) for request in alone] == [1, 2 * (_MOST_TENSORS + 1), 2, 3]
    assert [len(batch) for batch in sent] == [1, 1, 1, 1]


MANY, STATE = [ONES] * (_MOST_TENSORS - 50), {str(number): ONES for number in range(_MOST_TENSORS - 50)}


@pytest.mark.parametrize(
    "describe",
    [
        lambda answers: answers.f.request(MANY),
        lambda answers: answers.f.request(some=MANY),
        lambda answers: answers.f.defer(MANY),
        lambda answers: answers.f.probe_request((MANY,), device="cpu"),
        lambda answers: answers.f.probe_request((), device="cpu", made_with=(MANY,)),
        lambda answers: answers.f.probe_request((), device="cpu", made_with=(), state=STATE),
        lambda answers: answers.f.gradient_requests((), MANY),
        lambda answers: answers.given("Identity", MANY),
        lambda answers: answers.given("Identity", state=STATE),
        lambda answers: answers.f.load_state_dict(STATE),
        lambda answers: make_module(answers.f, MANY, told="`M()`"),
    ],
)
def test_tensors_of_every_kind_of_request_are_counted(describe):
    sent: list[Batch] = []

    def perform(messages: Batch) -> list[kinds.AnyAnswer]:
        sent.append(messages)
        return [kinds.Done()] * len(messages)

    answers = Submission(perform)
    answers.connection.begin("f", 1)
    for _ in range(3):
        describe(answers)
    with suppress(NoAnswer):  # nobody has done anything
        answers.connection.finish()
    assert sum(map(count_of, sent)) == 3 * len(MANY)
    assert max(map(count_of, sent)) <= _MOST_TENSORS


def count_of(batch: Batch) -> int:
    """The tensors of a batch, wherever they are."""
    found = 0
    waiting: list[Any] = list(batch)
    while waiting:
        each = waiting.pop()
        if hasattr(each, "__struct_fields__"):
            each = [getattr(each, name) for name in each.__struct_fields__]
        leaves = tree_leaves(dict(each) if isinstance(each, dict) else each)
        found += sum(isinstance(leaf, torch.Tensor) for leaf in leaves)
        waiting += [leaf for leaf in leaves if hasattr(leaf, "__struct_fields__")]
    return found


# Answers that are none


ANSWERS: list[kinds.AnyAnswer] = [
    kinds.Done(),
    kinds.Missing(),
    kinds.NoModule(value=None),
    kinds.Value(value=1),
    kinds.Called(value=1, attached=()),
    kinds.Gradients(inputs=(), parameters={}, attached=True),
    kinds.Registered(is_module=True, type="M"),
    kinds.ParameterValues(parameters={}),
    kinds.Probed(device="cpu"),
    kinds.CellRan(outputs=[]),
    kinds.Refused(message="the machine failed"),
]
ASKED: dict[str, tuple[type[kinds.Answer], Callable[[Submission], object]]] = {
    "a call": (kinds.Called, lambda answers: answers.f(1)),
    "a call with all": (kinds.Called, lambda answers: answers.f.run(())),
    "gradients": (kinds.Gradients, lambda answers: answers.f.run(()).backward([])),
    "a call on a device": (kinds.Probed, lambda answers: answers.f.probed((1,), device="cpu")),
    "what it registers": (kinds.Registered, lambda answers: answers.f.registered()),
    "parameters": (kinds.ParameterValues, lambda answers: answers.f.parameters()),
    "an attribute": (kinds.Value, lambda answers: answers.f.attribute("a")),
    "a state": (kinds.Called, lambda answers: answers.f.state_dict()),
}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
@pytest.mark.parametrize("name", ASKED)
def test_an_answer_of_another_kind_is_none(name, answer):
    """A hostile process may answer anything: nothing is taken for what was not asked."""
    right, ask = ASKED[name]

    def perform(messages: Batch) -> list[kinds.AnyAnswer]:
        asked_before = isinstance(messages[-1], Call) and name == "gradients"
        return [kinds.Called(value=1, attached=()) if asked_before else answer]

    if isinstance(answer, right) and name != "a state":
        ask(Submission(perform))
        return
    with pytest.raises(CheckFailed if isinstance(answer, right) else NoAnswer):
        ask(Submission(perform))


@pytest.mark.parametrize("value", [1, "text", (ONES,), {}, 0.0, True])
def test_what_is_no_tensor_is_no_answer_where_one_must_be(value):
    gradients = partial(kinds.Gradients, attached=True)
    for answer, ask in (
        (gradients(inputs=(value,), parameters={}), lambda s: s.f.gradient_requests((), [])[1].ask()),
        (gradients(inputs=(), parameters={"w": value}), lambda s: s.f.gradient_requests((), [])[1].ask()),
        (kinds.Probed(device="cpu", inputs=(value,)), lambda s: s.f.probed((), device="cpu")),
        (kinds.Probed(device="cpu", parameters={"w": value}), lambda s: s.f.probed((), device="cpu")),
        (kinds.ParameterValues(parameters={"w": value}), lambda s: s.f.parameters()),
    ):
        with pytest.raises(NoAnswer):
            ask(Submission(lambda messages, answer=answer: [answer] * len(messages)))
    odd = told(kinds.ParameterValues(parameters={"w": Opaque("a sparse tensor")})).f.parameters()["w"]
    assert odd.what == "a sparse tensor"


@pytest.mark.parametrize(
    "every",
    [
        [],
        [kinds.Done()],
        [kinds.Missing()],
        [kinds.NoModule(value=1)],
        [kinds.Value(value=1), kinds.Value(value=1)],
        [kinds.Called(value=1, attached=())],
    ],
)
def test_an_answer_that_is_not_there_ends_the_check(every):
    answers = told(*every)
    requests = [answers.f.request(1), answers.f.request(2)]
    with pytest.raises(NoAnswer):
        [request.ask() for request in requests]
    module = make_module(answers.f, told="`M()`")
    module.train()
    with pytest.raises((NoAnswer, CheckFailed)):
        module.registered()


def test_what_is_lost_is_told_to_who_asks():
    home, made = Executor({"f": print}), []

    def perform(messages: Batch) -> list[kinds.AnyAnswer]:
        made.append(messages)
        if len(made) == 2:
            raise WorkerLost("crashed", "gone")
        return home.perform(messages)

    answers = Submission(perform)
    answers.connection.begin("f", 1)
    answers.f(1)
    prints = answers.connection.prints()
    assert prints is not None
    assert prints.text == "1"
    with pytest.raises(WorkerLost, match="gone"):
        answers.f(2)
    assert answers.connection.prints() is None  # what the last call printed is not known
    answers.connection.finish()  # nothing is left to be done
    assert len(made) == 2


def test_a_call_that_was_stopped_is_told_in_words():
    late = kinds.Late(seconds=2.5, line="line 7: while True:")
    answers = Submission(lambda messages: [kinds.Done()] * (len(messages) - 1) + [late])
    answers.connection.begin("f", 1)
    with pytest.raises(WorkerLost) as lost:
        answers.f(ONES)
    assert (lost.value.reason, str(lost.value)) == (
        "timeout",
        "`f` with an input of shape (1, 2) had not returned after 2.5 seconds: look for a loop that never "
        "ends. When it was stopped it was at line 7: while True:",
    )


CHECK = '''
from autograder.checking import make_module, points, rule

@points(1)
@rule("registration")
def test_is_made(submission, sizes, draw):
    """It makes a module."""
    make_module(submission.M, told="`M()`")
'''


def made_alone(folder, answers: Submission) -> tuple[str, str]:
    """Return how a check ends that makes a module and asks nothing of it."""
    (folder / "test_M.py").write_text(CHECK)
    (result,) = collect(folder).run("M", answers, seed=1, include_hidden=True)
    return result.outcome, result.message


def test_a_check_may_end_with_what_waits(tmp_path):
    assert made_alone(tmp_path, submission(M=nn.Identity))[0] == "passed"
    none = "`M()` must be an `nn.Module`; calling it gave `None`."
    assert made_alone(tmp_path, submission(M=lambda: None)) == ("failed", none)
    assert made_alone(tmp_path, submission(M=lambda: 1 / 0))[0] == "error"
    assert made_alone(tmp_path, submission())[0] == "error"


@pytest.mark.parametrize(
    "every",
    [
        [],
        [kinds.Done()],
        [kinds.Missing()],
        [kinds.NoModule(value=1)],
        [kinds.Raised(type="T", message="m")],
        [kinds.Value(value=1)],
    ],
)
def test_an_answer_that_is_none_to_what_waits_ends_the_check_alone(every, tmp_path):
    assert made_alone(tmp_path, told(*every))[0] == "error"


# What checks make of it


def test_gradients_take_one_exchange():
    answers, sent = counted(square=lambda x: x * x, M=nn.Identity)
    draw = Draw(1, "square", SIZES)
    expect_gradients(answers.square, lambda x: x * x, (draw("B D"),), names=("x",), draw=draw)
    assert [types(batch) for batch in sent] == [[Call, Backward]]
    sent.clear()
    module = make_module(answers.M, told="`M()`")
    expect_gradients(module, lambda x: x, (draw("B D"),), names=("x",), draw=draw, in_eval=True)
    assert [types(batch) for batch in sent] == [[Make, Call, Backward, Call, Call, Backward]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x * x.detach(), "gets a gradient, but a wrong one"),
        (lambda x: (x * x).sum(), "until the results have the right shapes"),
        (lambda x: (x * x, x), "until the results have the right shapes"),
        (lambda x: (x * x).detach(), "cut off from the graph"),
        (lambda x: x.mul_(x), "The call wrote into `x`, which it was given"),
    ],
)
def test_gradients_are_told_as_one_by_one(answer, said):
    answers, _ = counted(square=answer)
    draw = Draw(1, "square", SIZES)
    check = partial(
        expect_gradients, answers.square, lambda x: x * x, (draw("B D"),), names=("x",), draw=draw
    )
    assert said in message(check)


class Wrong(nn.Module):
    def forward(self, x):
        return x.float()


def test_dtypes_take_one_exchange_and_one_more_for_the_line_at_fault():
    answers, sent = counted(Cast=nn.Identity, Wrong=Wrong)
    expect_dtypes(answers.Cast, (ONES,), names="y", made_with=())
    assert len(sent) == 1
    sent.clear()
    assert "comes out as float32" in message(
        partial(expect_dtypes, answers.Wrong, (ONES,), names="y", made_with=())
    )
    assert len(sent) == 2
    assert len(sent[0]) > 1
    assert types(sent[1]) == [ProbeCall]


def test_arguments_that_are_used_up_are_made_for_each():
    made: list[int] = []

    def arguments():
        made.append(1)
        return (ONES.clone(),)

    answers, sent = counted(same=lambda x: x)
    expect_dtypes(answers.same, arguments, names="y")
    assert len(made) == len(sent[0]) + 1  # and once to look at what they are


# Across the wall, where a frame has its limits


def served(**objects: Any) -> Submission:
    """A submission whose objects are served to the trusted side's own client."""
    (here, there), (control, _) = socket.socketpair(), socket.socketpair()
    shell = cast(Shell, SimpleNamespace(user_ns=objects, streams=(sys.stdout, sys.stderr)))
    Thread(target=serve, args=(Stream(there), shell, Executor), daemon=True).start()
    worker = Worker(here, control)
    return Submission(lambda messages: worker.perform(messages, 20))


def test_what_fits_into_a_frame_by_itself_fits_with_others():
    """A list of more tensors is a wrong answer, and said to be one where it is asked for alone."""
    answers = served(many=lambda count: [torch.ones(1)] * count)
    assert [len(request.ask()) for request in [answers.many.request(MAX_TENSORS) for _ in range(3)]] == [
        MAX_TENSORS
    ] * 3
    before, alone, after = (answers.many.request(count) for count in (1, MAX_TENSORS + 1, 1))
    assert len(before.ask()) == 1
    for request in (alone, after):
        with pytest.raises(StudentError, match="more tensors than a frame may") as stopped:
            request.ask()
        assert stopped.value.type == "AnswerTooLarge"


def test_what_is_too_large_together_stops_there():
    answers = served(large=lambda: torch.ones(3_000_000).double())
    first, second, third, fourth = [answers.large.request() for _ in range(4)]
    assert [request.ask().shape for request in (first, second)] == [(3_000_000,)] * 2
    assert third.ask().shape == (3_000_000,)
    with pytest.raises(StudentError, match="together are larger") as stopped:
        fourth.ask()
    assert stopped.value.type == "AnswerTooLarge"
    assert answers.large().shape == (3_000_000,)


@pytest.mark.parametrize("depth", range(1, 16))
def test_an_answer_is_nested_as_deeply_with_others_as_by_itself(depth):
    def nest():
        value = 1
        for _ in range(depth):
            value = (value,)
        return value

    answers = served(nest=nest)
    alone, (one, two) = answers.nest(), [answers.nest.request() for _ in range(2)]
    assert alone == one.ask() == two.ask()
    assert (alone == nest()) == (depth < 10)


def test_a_name_is_no_object_to_hand_over():
    answers, _ = counted(f=lambda x: x, g=lambda x: x)
    with pytest.raises(ValueError, match=r"hand over `submission\.g\.attribute\(\)`"):
        answers.f(answers.g)
    assert answers.f(answers.g.attribute()).type == "function"


def test_a_request_of_an_exchange_that_was_lost_has_no_answer():
    def perform(messages: Batch) -> list[kinds.AnyAnswer]:
        raise WorkerLost("crashed", "gone")

    answers = Submission(perform)
    first, second = answers.f.request(1), answers.f.request(2)
    with pytest.raises(WorkerLost):
        first.ask()
    with pytest.raises(NoAnswer):
        second.ask()


def test_what_is_put_off_is_answered_by_nothing_but_that_it_is_done():
    answers = told(kinds.Done(), kinds.Value(value=1))
    answers.connection.begin("M", 1)
    make_module(answers.M, told="`M()`")
    with pytest.raises(NoAnswer):
        answers.connection.finish()


@pytest.mark.parametrize("count", [0, 2])
def test_other_arguments_than_the_call_s_are_no_answer(count):
    answers = told(kinds.Called(value=1, attached=(), arguments=(1,) * count))
    with pytest.raises(NoAnswer):
        answers.f.run((1,))
    assert answers.f.run((1,), arguments=False).value == 1
