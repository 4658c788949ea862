"""`fit(model, x, y, steps, lr)`: full-batch Adam on the mean squared error."""

from contextlib import suppress

import torch

from autograder.checking import (
    USUAL,
    Case,
    FunctionSpec,
    StudentError,
    asked,
    case,
    expect_untouched,
    fail,
    in_words,
    needs,
    points,
    rule,
    sized,
    teaching_only,
    with_inputs,
)
from autograder.exercises.many_to_one.given import (
    OUTPUTS,
    defined_by,
    expect_long_training,
    expect_losses,
    expect_trained,
    losses_in,
    network,
    trained,
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
        self.evaluating = []

    def forward(self, x):
        if not self.training:
            self.evaluating.append(torch.is_grad_enabled())
        return x[:, -1] @ self.weight
"""
"""A model so small that hundreds of steps take no time. It notes its calls in evaluation mode: for each,
whether gradients were asked for."""

task = FunctionSpec(
    "fit",
    inputs={
        "model": network("D", "H", OUTPUTS),
        "x": "B T D",
        "y": f"B {OUTPUTS}",
        "steps": lambda draw: STEPS,
        "lr": lambda draw: LR,
    },
    outputs={"losses": "T"},  # not a tensor but a list, for `losses_in` to judge
    reference=trained,
)


def large(draw):
    """Targets with which gradients are large."""
    return 100 * draw(f"B {OUTPUTS}")


def all_but_right(model, x, y, steps, lr):
    """The inputs with targets of a model that is all but right."""
    return model, x, model.module(x).detach() + 1e-6 * y, steps, lr


def trainings(submission, draw, *cases):
    """Yield each case's prepared call with its answer and the parameters after it, asked in one exchange."""
    calls = [task.prepare(submission, each, each.draw(draw)) for each in cases]
    rows = [(call.target.request(*call.arguments), call.arguments[0].state_request(), call) for call in calls]
    yield from asked(rows)


@points(0)
@rule("shape")
def test_one_loss_a_step(submission, sizes, draw):
    """It returns a list with one number for each step."""
    call = task.prepare(submission, USUAL, draw)
    losses_in(call.target(*call.arguments), STEPS)


@points(0)
@rule("values")
@needs(test_one_loss_a_step)
def test_losses(submission, sizes, draw):
    """The losses are those of full-batch Adam, each taken before the update it leads to."""
    cases = USUAL.named("with small targets"), with_inputs("with large targets, so large gradients", y=large)
    for answer, _, call in trainings(submission, draw, *cases):
        with call.case():
            expect_losses(answer(), task.right(call)[0])


@points(0.5)
@rule("values")
@needs(test_one_loss_a_step)
def test_parameters(submission, sizes, draw):
    """Afterwards the model itself holds the parameters that Adam arrives at, for any lr."""
    cases = USUAL, with_inputs("", y=large, lr=lambda draw: 0.004)
    for answer, after, call in trainings(submission, draw, *cases):
        answer()
        with case(f"after {STEPS} steps with lr={call.arguments[-1]}"):
            expect_trained(after.ask(), task.right(call)[1])


@points(0.5)
@rule("gradient")
@needs(test_losses)
def test_plain_numbers(submission, sizes, draw):
    """The losses are Python floats: no tensor and no graph is kept."""
    call = task.prepare(submission, USUAL, draw)
    losses = call.target(*call.arguments)
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


SIZES = (
    with_inputs("with one step of training", steps=lambda draw: 1),
    Case(
        "with one feature and one output",
        sizes={"D": 1},
        given={"model": network("D", "H", 1), "y": "B 1"},
    ),
    sized("with one sequence (B = 1)", B=1),
    sized("with one time step (T = 1)", T=1),
    sized("with many sequences", B=(300, 600), T=1),
)
# One time step in each of these: steps cost, and they are about the updates.
LONG_TRAININGS = (
    # The first update, as long as any of Adam's, takes the model far away.
    Case(
        sizes={"T": 1},
        given={"steps": lambda draw: LONG, "lr": lambda draw: FAR},
        changed=all_but_right,
    ),
    Case(
        "with a loss that goes on falling",
        sizes={"T": 1},
        given={
            "model": defined_by(LINE, "Line", "D"),
            "y": lambda draw: AWAY * draw("B 1"),
            "steps": lambda draw: draw.size(250, 300),
            "lr": lambda draw: 2 * FAR,
        },
    ),
)
DIVERGING = Case("with losses that grow without limit", sizes={"T": 1}, given={"lr": lambda draw: BEYOND})


@points(0.5)
@rule("generality")
@needs(test_losses, test_parameters)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, one time step, one output, and for long, where losses rise."""
    *others, diverging = trainings(submission, draw, *SIZES, *LONG_TRAININGS, DIVERGING)
    for answer, after, call in others[: len(SIZES)]:
        with call.case():
            losses, right = task.right(call)
            expect_losses(answer(), losses)
            expect_trained(after.ask(), right)
    for answer, after, call in others[len(SIZES) :]:
        with call.case():
            expect_long_training(answer(), *task.right(call), after)
            if hasattr(call.drawn.here[0], "evaluating"):
                expect_training_mode(call.arguments[0])
    answer, _, call = diverging
    # To say aloud, by an exception, that training has gone wrong is no fault.
    with suppress(StudentError), call.case():
        losses_in(answer(), STEPS)


def expect_training_mode(model):
    """Expect that no step trained a `Line` in evaluation mode, in which dropout would do nothing."""
    noted = model.attribute("evaluating")
    if isinstance(noted, list) and any(noted):
        fail(
            "Your training runs the model in evaluation mode, in which dropout and the like do nothing. The "
            "model came in training mode: is there an `eval()` too many?"
        )


@points(0)
@rule("dtype")
@teaching_only
@needs(test_one_loss_a_step)
def test_dtype(submission, sizes, draw):
    """The model keeps its dtype."""
    rows = []
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model, x, y, *rest = task.prepare(submission, USUAL, draw).arguments
        model.to(dtype)
        arguments = (model, x.to(dtype), y.to(dtype), *rest)
        request = submission.fit.run_request(arguments, default_dtype=None, numpy=True)
        rows.append((request, model.state_request(), dtype))
    for answer, after, dtype in asked(rows):
        with case(f"with the model and the data in {dtype}"):
            losses = answer().value
            losses_in(losses, STEPS)
            for name, value in after.ask().items():
                if value.dtype != dtype:
                    fail(f"After the call `{name}` of the model is {value.dtype}, not {dtype} as before.")


test_device = task.devices(
    with_inputs("", steps=lambda draw: 2),  # in two steps the optimizer has its own tensors, too
    gradients=False,
    title="With the model and the data on a GPU, the training stays there.",
    needs=[test_losses, test_dtype],
)


@points(0)
@rule("mutation")
@needs(test_one_loss_a_step)
def test_data_untouched(submission, sizes, draw):
    """The call leaves x and y unchanged."""
    here = draw.at(sizes.but(B=23))  # so many that no shuffling leaves them in their order
    call = task.prepare(submission, USUAL, here)
    expect_untouched(
        call.target.run(call.arguments),
        (None, *call.arguments[1:]),
        tuple(task.inputs),
        unjudged=("mode", "gradients"),
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
