"""What student and check get of each other: copies of tensors, and objects by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from autograder.protocol.answers import AnyAnswer, Called, Done, Gradients, Raised, Registered
from autograder.protocol.messages import AnyMessage, Backward, Begin, Call, ListRegistered, Target
from autograder.worker.session.executor import Executor

F = Target("f")


def answer_to(executor: Executor, message: AnyMessage) -> AnyAnswer:
    (answer,) = executor.perform([message])
    return answer


def value_of(executor: Executor, message: Call) -> Any:
    """The value of a call that has come to its end."""
    answer = answer_to(executor, message)
    assert isinstance(answer, Called)
    return answer.value


def called(function: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """What a function returns that is called as a check calls it."""
    return value_of(Executor({"f": function}), Call(target=F, args=args, **more))


# What the student gets


PLACES = {
    "itself": lambda x: x,
    "in a list": lambda x: [x],
    "in a tuple in a dict": lambda x: {"a": (1, x)},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_the_student_writes_into_is_a_copy(place: Callable[[Any], Any]):
    x = torch.zeros(2)

    def write(given: Any) -> None:
        while not isinstance(given, torch.Tensor):
            given = given["a"][1] if isinstance(given, dict) else given[0]
        given.fill_(5)

    called(write, place(x))
    called(write, kwargs={"given": place(x)})
    assert not x.any()


def test_the_student_gets_no_graph_of_the_check_s():
    x = torch.ones(2, requires_grad=True)
    assert called(lambda *given: [t.requires_grad for t in given], x, x * 2) == [False, False]


def test_where_gradients_are_wanted_the_student_may_write_into_what_is_given():
    call = Call(target=F, args=(torch.ones(2),), number=-1, grad=True)
    _, told = Executor({"f": lambda x: x.mul_(3)}).perform([call, Backward(call=-1, weights=[torch.ones(2)])])
    assert isinstance(told, Gradients)
    assert told.inputs[0].tolist() == [3, 3]


# What the check gets


def test_an_answer_has_memory_of_its_own():
    kept = torch.zeros(4, 2)
    told = called(lambda: (kept, kept[1], kept.T))
    kept.fill_(5)
    assert not any(answer.any() for answer in told)


def test_an_answer_is_a_tensor_like_any_other():
    weight = torch.ones(2, requires_grad=True)
    turned = torch.ones(2, dtype=torch.complex64).conj()
    for answer in called(lambda: (weight * 2, weight, turned, turned.imag)):
        odd = (answer.requires_grad, answer.is_inference(), answer.is_conj(), answer.is_neg())
        assert not any(odd)
        answer.add_(1)
    assert weight.tolist() == [1, 1]


def test_an_answer_is_so_where_a_cell_left_the_inference_mode_on():
    with torch.inference_mode():
        answer = called(lambda: torch.ones(2) * 2)
    assert not answer.is_inference()


# What stays there


class Same:
    """Says of itself that it is everything else."""

    def __call__(self) -> None: ...

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


def test_an_object_is_known_again_and_no_other_is_taken_for_it():
    one, other = Same(), Same()
    executor = Executor({"f": lambda: (one, other, one)})
    first, second, third = value_of(executor, Call(target=F))
    assert first == third == value_of(executor, Call(target=F))[0]
    assert first.id != second.id
    assert executor.objects.target(Target(number=first.id)) is one
    assert executor.objects.target(Target(number=second.id)) is other


def test_what_was_handed_out_comes_back_as_itself():
    module = nn.Linear(2, 1)
    executor = Executor({"made": lambda: module, "is_it": lambda given: given is module})
    ref = value_of(executor, Call(target=Target("made")))
    assert value_of(executor, Call(target=Target("is_it"), args=(ref,))) is True


def test_a_check_begins_with_nothing_that_was_handed_out_before():
    executor = Executor({"f": lambda: (nn.Linear(2, 1), torch.ones(1, requires_grad=True))})
    ref, _ = value_of(executor, Call(target=F, number=-1))
    earlier = ListRegistered(target=Target(number=ref.id)), Backward(call=-1, weights=[torch.ones(1)])
    assert [type(answer_to(executor, message)) for message in earlier] == [Registered, Gradients]
    assert answer_to(executor, Begin(name="f", seed=1)) == Done()
    told = [answer_to(executor, message) for message in earlier]
    assert [answer.type for answer in told if isinstance(answer, Raised)] == ["KeyError"] * 2
