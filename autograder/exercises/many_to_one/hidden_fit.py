"""Checks of `fit` for grading only."""

from copy import deepcopy

import torch

from autograder.checking import USUAL, asked, case, fail, hidden, needs, points, rule
from autograder.exercises.many_to_one.given import (
    OUTPUTS,
    expect_losses,
    expect_trained,
    losses_in,
    near,
    trained,
)
from autograder.exercises.many_to_one.test_fit import LR, STEPS, task

CHANGEABLE = """
class Changeable(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, 1))
        self.calls, self.led_back = 0, []

    def forward(self, x):
        self.calls += 1
        prediction = x[:, -1] @ self.weight + self.calls
        if prediction.requires_grad:
            prediction.register_hook(lambda gradient, call=self.calls: self.led_back.append(call))
        return prediction
"""
"""A model that answers otherwise in each call, as one with dropout does, and notes in which calls it did so
that a backward pass came back to it."""


@points(0.5)
@rule("values")
@hidden("A second call continues from where the model is, with nothing left over from the first.")
@needs("test_losses", "test_parameters")
def test_second_call(submission, sizes, draw):
    """A second call continues from the current parameters, with a new Adam."""
    call = task.prepare(submission, USUAL, draw)
    model, before = call.arguments[0], deepcopy(call.drawn.here[0])
    rows = []
    for context, lr in (("at the first call", LR), ("at a second call with the same model", 0.01)):
        data = draw("B T D"), draw(f"B {OUTPUTS}"), STEPS, lr
        rows.append((submission.fit.request(model, *data), model.state_request(), data, context))
    for answer, after, data, context in asked(rows):
        losses, right = trained(before, *data)
        with case(context):
            expect_losses(answer(), losses)
            expect_trained(after.ask(), right)
        before.load_state_dict(right)


@points(0)
@rule("values")
@hidden("Each loss is the one that the step's gradients come from, also with a model whose answers change.")
@needs("test_losses", "test_parameters")
def test_loss_of_the_step(submission, sizes, draw):
    """Each loss is the one that the step's gradients come from, also with a model whose answers change."""
    x, y = draw("B T D"), draw("B 1")
    model = submission.given("Changeable", sizes.D, source=CHANGEABLE)
    losses = losses_in(submission.fit(model, x, y, STEPS, LR), STEPS)
    calls = model.attribute("led_back")
    if not isinstance(calls, list) or len(calls) != STEPS:
        return  # some other way to train, which the other checks have judged
    for step, (loss, right) in enumerate(zip(losses, losses_of_calls(calls, x, y), strict=True)):
        if not near(loss, right):
            fail(
                "With a model that answers otherwise in each call, as one with dropout does, the loss of "
                f"step {step} is not the one that the step's gradients come from. Do you call the model once "
                "more for the number that you note down?"
            )


def losses_of_calls(calls, x, y):
    """The losses of a training by Adam in which these calls of the model led to the updates."""
    weight = torch.zeros(x.shape[2], 1, dtype=x.dtype, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=LR)
    for call in calls:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(x[:, -1] @ weight + call, y)
        yield loss.item()
        loss.backward()
        optimizer.step()
