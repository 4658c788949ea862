"""A module computes with the parameters that it has now: after a step, after a load, and in either mode."""

import pytest
import torch
from torch import nn

from autograder.checking import expect_follows, expect_gradients, make_module
from tests.support.checking import draw, message, submission

FORM = {"names": "y", "dims": "B H"}


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(7, 11))

    def forward(self, x):
        return x @ self.w


class Kept(Right):
    def forward(self, x):
        if not hasattr(self, "kept"):
            self.kept = self.w.detach().clone()
        return x @ self.kept


class OutOfTheGraph(Right):
    def forward(self, x):
        if not hasattr(self, "kept"):
            self.kept = self.w * 1
        return x @ self.kept


class OfTheLoad(Right):
    def load_state_dict(self, *args, **kwargs):
        told = super().load_state_dict(*args, **kwargs)
        self.kept = self.w.detach().clone()
        return told

    def forward(self, x):
        return x @ self.kept


class FrozenByEval(Right):
    def train(self, mode=True):
        super().train(mode)
        self.kept = None if mode else self.w.detach().clone()
        return self

    def forward(self, x):
        return x @ (self.w if self.training else self.kept)


class Replaced(Right):
    def forward(self, x):
        self.w = nn.Parameter(self.w.detach().clone())
        return x @ self.w


class OtherInEval(Right):
    def forward(self, x):
        return x @ self.w if self.training else (x @ self.w) * 2


class ByVersion(Right):
    """Keeps what it made as long as nothing has been written into the parameter."""

    key = None

    def forward(self, x):
        key = (self.w.data_ptr(), self.w._version)
        if torch.is_grad_enabled() or key != self.key:
            self.key, self.kept = key, self.w * 1
        return x @ self.kept


class OfTheNewest(Right):
    def __init__(self):
        super().__init__()
        OfTheNewest.newest = (self,)

    def forward(self, x):
        return x @ self.newest[0].w


def followed(kind):
    here, answers = draw(), submission(M=kind)
    states, x = [{"w": here("D H")} for _ in range(3)], here("B D")
    module = make_module(answers.M, told="`M()`")
    module.to(torch.float64)
    module.load_state_dict(states[0])
    second = make_module(answers.M, told="`M()`")
    second.to(torch.float64)
    expect_follows(
        answers,
        module,
        lambda: module.request(x),
        lambda held: x @ held["w"],
        states,
        **FORM,
        sizes=here.sizes,
        second=second,
    )


@pytest.mark.parametrize("kind", [Right, ByVersion])
def test_one_that_follows_passes(kind):
    followed(kind)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Kept, "After an optimizer step: The results still come from the old parameters"),
        (OutOfTheGraph, "After an optimizer step: The results still come from the old parameters"),
        (OfTheLoad, "After an optimizer step: The results still come from the old parameters"),
        (FrozenByEval, "In eval(), after load_state_dict(): The results still come from the old parameters"),
        (Replaced, "After an optimizer step: The results still come from the old parameters"),
        (OfTheNewest, "At the first call: The parameters used are those of another module"),
        (OtherInEval, "In eval(): `y` has the right shape but not the right values"),
    ],
)
def test_one_that_does_not_is_told_when(kind, said):
    assert said in message(followed, kind)


class NoGradientsInEval(Right):
    def forward(self, x):
        return x @ (self.w if self.training else self.w.detach())


def gradients(kind, **options):
    here, answers = draw(), submission(M=kind)
    w = here("D H").requires_grad_()
    module = make_module(answers.M, told="`M()`")
    module.to(torch.float64)
    module.load_state_dict({"w": w.detach()})
    expect_gradients(
        module, lambda x: x @ w, (here("B D"),), names=("x",), draw=here, parameters={"w": w}, **options
    )


def test_gradients_in_eval():
    gradients(Right, in_eval=True)
    gradients(NoGradientsInEval)
    assert message(gradients, NoGradientsInEval, in_eval=True).startswith(
        "In eval(): No gradient reaches `w`"
    )


class GoesOn(Right):
    """It goes on from what the last call left, as a network does that keeps its state."""

    left = 1.0

    def forward(self, x):
        answer = x @ self.w * self.left
        self.left = float(answer.sum())
        return answer


def test_a_gradient_that_is_wrong_in_the_second_call_alone_is_told_as_that():
    gradients(GoesOn)
    said = message(gradients, GoesOn, in_eval=True)
    assert "In eval(): `x` gets a gradient, but a wrong one. The same call just before" in said
    assert "detach" not in said
