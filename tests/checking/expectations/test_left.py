"""What a call may not leave otherwise than it was: torch's settings, and modules that it was given."""

import pytest
import torch
from torch import nn

from autograder.checking import (
    Submission,
    expect_module_untouched,
    expect_not_shared,
    expect_settings_untouched,
    expect_untouched,
)
from autograder.protocol.answers import Called, Reply
from autograder.protocol.frames import SIZES, WireError, decode_frame, encode_frame
from autograder.protocol.messages import Begin, Call, Target
from autograder.worker.session.executor import Executor
from tests.support.checking import draw, message, submission


def touched(function):
    """What is said of a call with a module and a tensor."""
    answers, x = submission(f=function), draw()("B D")
    call = answers.f.run((answers.given("Linear", 7, 3), x))
    return message(expect_untouched, call, (None, x), ("layer", "x"))


def untouched(function):
    answers, x = submission(f=function), draw()("B D")
    call = answers.f.run((answers.given("Linear", 7, 3), x))
    expect_untouched(call, (None, x), ("layer", "x"))


def switched_off(layer, x):
    torch.set_grad_enabled(False)


def an_own_dtype(layer, x):
    torch.set_default_dtype(x.dtype)


def an_own_device(layer, x):
    torch.set_default_device("meta")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (switched_off, "switches gradients off"),
        (an_own_dtype, "default dtype"),
        (an_own_device, "default device"),
    ],
)
def test_settings_that_are_left_are_named_and_put_back(function, said):
    before = torch.get_default_dtype()
    assert said in touched(function)
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == before
    assert torch.empty(1).device.type == "cpu"


def test_what_making_a_module_leaves_is_told_by_the_next_call():
    def made():
        torch.set_grad_enabled(False)
        return nn.Linear(7, 3)

    answers = submission(f=made)
    call = answers.f.made((), {}, lambda made: None).run((draw()("B D"),))
    assert "switches gradients off" in message(expect_settings_untouched, call)


def test_what_one_check_has_left_is_not_told_in_the_next():
    executor = Executor({"f": switched_off, "g": lambda: 1})
    f, g = (Call(target=Target(name), args=args, arguments=True) for name, args in (("f", (1, 2)), ("g", ())))
    _, told = executor.perform([f, g])
    assert told.left == ("gradients",)
    _, told = executor.perform([Begin(name="g", seed=1), g])
    assert told == Called(value=1, attached=())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda layer, x: layer.eval(), "changes the mode of `layer`"),
        (lambda layer, x: layer.requires_grad_(False), "parameters of `layer` require gradients"),
        (lambda layer, x: layer.zero_grad(), "gradients that the parameters of `layer` hold"),
        (
            lambda layer, x: layer.zero_grad(set_to_none=False),
            "gradients that the parameters of `layer` hold",
        ),
        (lambda layer, x: layer(x).sum().backward(), "gradients that the parameters of `layer` hold"),
    ],
)
def test_a_module_left_otherwise_is_named(function, said):
    assert said in touched(function)


def test_kinds_that_are_not_judged():
    answers, x = submission(f=lambda layer, x: layer.eval()), draw()("B D")
    call = answers.f.run((answers.given("Linear", 7, 3), x))
    expect_untouched(call, (None, x), ("layer", "x"), unjudged=("mode",))
    expect_module_untouched(call, 0, "layer", unjudged=("mode",))
    assert "changes the mode" in message(expect_module_untouched, call, 0, "layer")


def in_eval_for_a_moment(layer, x):
    layer.eval()
    y = layer(x)
    layer.train()
    return y


def with_settings_put_back(layer, x):
    default, before = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(x.dtype)
    torch.set_grad_enabled(False)
    y = layer(x)
    torch.set_default_dtype(default)
    torch.set_grad_enabled(before)
    return y


def with_gradients_of_its_own(layer, x):
    with torch.no_grad():
        layer(x)
    return torch.autograd.grad(layer(x).sum(), list(layer.parameters()))


@pytest.mark.parametrize(
    "function", [in_eval_for_a_moment, with_settings_put_back, with_gradients_of_its_own]
)
def test_what_is_put_back_is_no_fault(function):
    untouched(function)


def with_nan(function):
    """Return the message about a call with numbers that hold nan."""
    answers, x = submission(f=function), torch.tensor([1.0, torch.nan])
    expect_untouched(answers.f.run((x,)), (x,), ("x",))


def test_an_argument_that_holds_nan_is_compared_as_one_without():
    with_nan(lambda x: x + 1)
    for change in (lambda x: x.add_(1), lambda x: x.fill_(torch.nan), lambda x: x.nan_to_num_()):
        assert "changed its argument `x`" in message(with_nan, change)


def test_a_copy_that_holds_nan_shares_no_memory():
    held = torch.tensor([1.0, torch.nan])
    expect_not_shared(held, held.clone(), "W")
    assert "`W` changed" in message(expect_not_shared, held, torch.zeros(2), "W")


def test_a_call_that_stops_under_another_default_is_no_fault():
    def stops(layer, x):
        return x @ torch.zeros(7, 3)  # of the default dtype: that is another check's rule

    untouched(stops)


def test_lent_gradients_are_taken_back():
    answers = submission(f=lambda layer: 1, held=lambda layer: [p.grad is None for p in layer.parameters()])
    layer = answers.given("Linear", 7, 3)
    answers.f.run((layer,))
    assert answers.held(layer) == [True, True]


@pytest.mark.parametrize("left", [3, [3], [("x", "mode")], [(0, "mode", 1)], [[]], [(0,)], [True], None, {}])
def test_an_answer_in_another_form_is_no_answer(left):
    frame = encode_frame(Reply(1, Called(value=1, attached=(), left=left)))
    header, body = frame[SIZES.size :], bytearray()
    with pytest.raises(WireError, match="not a Reply"):
        decode_frame(header, body, Reply)


def test_what_a_hostile_process_says_of_places_that_are_none_is_nothing():
    left = ("nowhere", (99, "mode"), (-1, "gradients"), (0, "nowhere"))
    told = Called(value=1, attached=(), arguments=(1,), left=left)
    expect_untouched(Submission(lambda messages: [told]).f.run((1,)), (1,), ("x",))


def test_a_default_device_that_is_put_back_is_left_as_it_was():
    def put_back(layer, x):
        before = torch.get_default_device()
        torch.set_default_device("meta")
        torch.set_default_device(before)

    untouched(put_back)
    assert torch._GLOBAL_DEVICE_CONTEXT.device_context is None
