"""`fit(model, x, y, steps, lr)`: full-batch Adam on the mean squared error."""

from contextlib import suppress

import torch

from autograder.checking import (
    StudentError,
    case,
    expect_device_neutral,
    expect_untouched,
    expect_without_numpy,
    fail,
    hidden,
    in_words,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.many_to_one.given import (
    OUTPUTS,
    Network,
    expect_long_training,
    expect_losses,
    losses_in,
)

STEPS, LR = 6, 0.05
LONG, FAR = 105, 0.1
"""Steps enough for a patience of a hundred, and a step size with which the losses stay above the first."""
AWAY = 100.0
"""How far the right weights of a line are from its first ones: too far for hundreds of steps."""
BEYOND = 1e300
"""A step size with which the second loss is infinite, and those after it are no numbers."""


LINE = """
class Line(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, 1))

    def forward(self, x):
        return x[:, -1] @ self.weight
"""
"""A model so small that hundreds of steps take no time."""


class Line:
    """The same, here and on the student's side."""

    def __init__(self, submission, draw):
        self.weight = torch.zeros(draw.sizes.D, 1, dtype=torch.float64)
        self.given = submission.given("Line", draw.sizes.D, source=LINE)

    def train(self, x, y, steps, lr):
        """The losses of so many updates by torch's Adam, and one more."""
        losses, self.weight = trained_line(self.weight, x, y, steps, lr)
        return losses

    def parameters(self):
        return {"weight": self.weight}


@recorded
def trained_line(weight, x, y, steps, lr):
    weight = weight.clone().requires_grad_()
    optimizer, losses = torch.optim.Adam([weight], lr=lr), []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(x[:, -1] @ weight, y)
        losses.append(loss.item())
        after = weight.detach().clone()
        loss.backward()
        optimizer.step()
    return losses, after


def data(draw, outputs=OUTPUTS, dtype=torch.float64):
    """Inputs (B, T, D) and targets (B, outputs)."""
    return draw("B T D", dtype=dtype), draw(f"B {outputs}", dtype=dtype)


@points(0)
@rule("shape")
def test_one_loss_a_step(submission, sizes, draw):
    """It returns a list with one number for each step."""
    network, (x, y) = Network(submission, draw), data(draw)
    losses_in(submission.fit(network.given, x, y, STEPS, LR), STEPS)


@points(0)
@rule("values")
@needs(test_one_loss_a_step)
def test_losses(submission, sizes, draw):
    """The losses are those of full-batch Adam, each taken before the update it leads to."""
    for scale, context in ((1, "with small targets"), (100, "with large targets, so large gradients")):
        network, (x, y) = Network(submission, draw), data(draw)
        y *= scale
        with case(context):
            answer = submission.fit(network.given, x, y, STEPS, LR)
            expect_losses(answer, network.train(x, y, STEPS, LR), network)


@points(0.5)
@rule("values")
@needs(test_one_loss_a_step)
def test_parameters(submission, sizes, draw):
    """Afterwards the model itself holds the parameters that Adam arrives at, for another lr as well."""
    for scale, lr in ((1, LR), (100, 0.004)):
        network, (x, y) = Network(submission, draw), data(draw)
        y *= scale
        before = network.parameters()
        submission.fit(network.given, x, y, STEPS, lr)
        network.train(x, y, STEPS, lr)
        with case(f"after {STEPS} steps with lr={lr}"):
            network.expect_trained(before)


@points(0.5)
@rule("gradient")
@needs(test_losses)
def test_plain_numbers(submission, sizes, draw):
    """The losses are Python floats: no tensor, and no graph, is kept."""
    network, (x, y) = Network(submission, draw), data(draw)
    losses = submission.fit(network.given, x, y, STEPS, LR)
    if not isinstance(losses, (list, tuple)):
        fail(f"Expected a list of losses; you returned {in_words(losses)}.")
    for loss in losses:
        if isinstance(loss, torch.Tensor):
            fail(
                "The list holds tensors; expected Python floats. A loss that is kept as a tensor keeps its "
                "whole graph in memory, step after step: take the number out of it."
            )
        if type(loss) is not float:
            fail(f"The list holds a value of type {type(loss).__name__}; expected Python floats.")


@points(0.5)
@rule("generality")
@needs(test_losses, test_parameters)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, one time step, one output, and for long where losses rise."""
    for other, outputs, steps, context in (
        (sizes, OUTPUTS, 1, "with one step of training"),
        (sizes.but(D=1), 1, STEPS, "with one feature and one output"),
        (sizes.but(B=1), OUTPUTS, STEPS, "with one sequence (B = 1)"),
        (sizes.but(T=1), OUTPUTS, STEPS, "with one time step (T = 1)"),
        (sizes.but(B=70), OUTPUTS, STEPS, "with many sequences"),
    ):
        here = draw.at(other)
        network, (x, y) = Network(submission, here, outputs), data(here, outputs)
        before = network.parameters()
        with case(context):
            answer = submission.fit(network.given, x, y, steps, LR)
            expect_losses(answer, network.train(x, y, steps, LR), network)
            network.expect_trained(before)
    here = draw.at(sizes.but(T=1))  # steps cost, and this is about the updates
    network, x = Network(submission, here), here("B T D")
    # A model that is all but right: the first update, as long as any of Adam's, takes it far away.
    y = network(x).detach() + 1e-6 * here(f"B {OUTPUTS}")
    answer = submission.fit(network.given, x, y, LONG, FAR)
    expect_long_training(answer, network.train(x, y, LONG, FAR), network)
    line, steps = Line(submission, here), draw.size(250, 300)
    x, y = here("B T D"), AWAY * here("B 1")
    with case("with a loss that goes on falling"):
        answer = submission.fit(line.given, x, y, steps, 2 * FAR)
        expect_long_training(answer, line.train(x, y, steps, 2 * FAR), line)
    x, y = data(here)
    # To say aloud, by an exception, that training has gone wrong is no fault.
    with suppress(StudentError), case("with losses that grow beyond all numbers"):
        losses_in(submission.fit(Network(submission, here).given, x, y, STEPS, BEYOND), STEPS)


@points(0)
@rule("dtype")
@needs(test_one_loss_a_step)
def test_dtype(submission, sizes, draw):
    """The model keeps the dtype it has."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        network, (x, y) = Network(submission, draw, dtype=dtype), data(draw, dtype=dtype)
        with case(f"with the model and the data in {dtype}"):
            call = submission.fit.run((network.given, x, y, STEPS, LR), default_dtype=None, numpy=True)
            expect_without_numpy(call.value)
            losses_in(call.value, STEPS)
            for name, value in network.given.state_dict().items():
                if value.dtype != dtype:
                    fail(f"After the call `{name}` of the model is {value.dtype}, not {dtype} as before.")


@points(0)
@rule("device")
@needs(test_losses, test_dtype)
def test_device(submission, sizes, draw):
    """With the model and the data on a GPU the training stays there."""
    network, (x, y) = Network(submission, draw), data(draw)
    # Each loss is a number that is read; in two steps the optimizer has its own tensors, too.
    expect_device_neutral(
        submission.fit,
        lambda: (network.afresh(), x, y, 2, LR),
        names="losses",
        reads=True,
        gradients=False,
    )


@points(0)
@rule("mutation")
@needs(test_one_loss_a_step)
def test_data_untouched(submission, sizes, draw):
    """x and y are the same after the call as before."""
    here = draw.at(sizes.but(B=23))  # so many that no shuffling leaves them in their order
    network, (x, y) = Network(submission, here), data(here)
    arguments = (network.given, x, y, STEPS, LR)
    expect_untouched(
        submission.fit.run(arguments),
        (None, x, y, STEPS, LR),
        ("model", "x", "y", "steps", "lr"),
        unjudged=("mode", "gradients"),
    )


@points(0.5)
@rule("values")
@hidden("Called again, it goes on from where the model is, with nothing left over from the call before.")
@needs(test_losses, test_parameters)
def test_second_call(submission, sizes, draw):
    """A second call trains on from the parameters as they are, with an Adam of its own."""
    network = Network(submission, draw)
    before = network.parameters()
    for context, lr in (("at the first call", LR), ("at a second call with the same model", 0.01)):
        x, y = data(draw)
        with case(context):
            answer = submission.fit(network.given, x, y, STEPS, lr)
            expect_losses(answer, network.train(x, y, STEPS, lr), network)
            network.expect_trained(before)
