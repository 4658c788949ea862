"""What is expected of a module: what it is, and what it registers."""

from types import MappingProxyType

import pytest
import torch
from torch import nn

from autograder.checking import expect_module, expect_registered
from tests.support.checking import message, submission


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2, 3))


def registered(change=lambda module: None, expected=MappingProxyType({"w": ("(2, 3)", (2, 3))})):
    module = Right()
    change(module)
    made = expect_module(submission(f=lambda: module).f(), "`M()`")
    expect_registered(made, expected, "`M`")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: delattr(m, "w"), "no parameters at all"),
        (lambda m: setattr(m, "w", nn.Parameter(torch.zeros(3, 2))), "shape (3, 2)"),
        (lambda m: setattr(m, "v", nn.Parameter(torch.zeros(1))), "has `v` in addition to"),
        (lambda m: m.register_buffer("v", torch.zeros(1)), "has `v` in addition to"),
        (lambda m: m.requires_grad_(False), "does not require gradients"),
    ],
)
def test_what_a_module_registers(change, said):
    registered()
    registered(lambda m: m.register_buffer("v", torch.zeros(1), persistent=False))
    assert said in message(registered, change)


def test_what_is_saved_and_no_parameter_of_its_own_is_told_apart():
    """The message said of buffers and of second names that `state_dict()` does not see them."""

    def as_buffer(module):
        values = module.w.detach()
        del module.w
        module.register_buffer("w", values)

    def twice(module):
        module.v = module.w

    expected = {"v": ("(2, 3)", (2, 3)), "w": ("(2, 3)", (2, 3))}
    assert "although its `state_dict()` lists it" in message(registered, as_buffer)
    assert "no separate parameter named `v`, although" in message(registered, twice, expected)


def test_parameters_in_one_memory_are_named():
    class Tied(nn.Module):
        def __init__(self, *tensors):
            super().__init__()
            self.v, self.w = map(nn.Parameter, tensors)

    expected = {"v": ("(3,)", (3,)), "w": ("(3,)", (3,))}

    def made(*tensors):
        module = expect_module(submission(f=lambda: Tied(*tensors)).f(), "`M()`")
        expect_registered(module, expected, "`M`")

    made(torch.zeros(3), torch.zeros(3))
    made(*torch.zeros(2, 3).unbind())
    assert "`v` and `w` share memory" in message(made, *[torch.zeros(3)] * 2)


def test_of_many_missing_names_the_first_are_told():
    made = expect_module(submission(f=Right).f(), "`M()`")
    names = {f"layers.{k}.w": ("(1,)", (1,)) for k in range(20)}
    said = message(expect_registered, made, names, "`M`")
    assert "`layers.5.w` and 14 more" in said
    assert "`layers.6.w`" not in said


@pytest.mark.parametrize("made", [None, 3, torch.zeros(1), len, "text"])
def test_what_is_no_module(made):
    assert "must be an `nn.Module`" in message(expect_module, submission(f=lambda: made).f(), "`M()`")


def test_an_object_of_the_class_itself_is_asked_for_its_base():
    answers = submission(Cell=type("Cell", (), {"__module__": "__main__"}), other=lambda: 3)
    assert "gave a Cell. Is `nn.Module` its base class?" in message(
        expect_module, answers.Cell(), "`Cell(D, H)`"
    )
    assert message(expect_module, answers.other(), "`other(D)`").endswith("gave the number 3.")
