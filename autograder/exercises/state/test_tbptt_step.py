"""`tbptt_step(model, optimizer, loss_fn, x, y, state)`: one training step on one chunk."""

from contextlib import suppress

import torch

from autograder.checking import (
    StudentError,
    case,
    compare,
    expect_device_neutral,
    expect_dtype,
    expect_untouched,
    fail,
    needs,
    points,
    rule,
)
from autograder.exercises.state.given import STATE, expect_no_past, expect_off_graph, random_state
from autograder.exercises.state.training import Bench, expect_step, loss_and_state, with_loss_as_tensor


def chunk(draw, dtype=torch.float64):
    """x, y and the state that comes in. The vocabulary's size serves as the output size."""
    return draw("B T D", dtype=dtype), draw("B T V", dtype=dtype), random_state(draw, dtype)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns (loss, (h, c)): one number, and the new state (layers, batch, hidden)."""
    bench, given = Bench(submission, draw), chunk(draw)
    expect_step(bench.ask(*given), bench.step(*given), sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_loss_and_state(submission, sizes, draw):
    """The loss is that of this chunk before the update, and the state is the model's new state."""
    sizes = sizes.but(L=2)  # all parameters are on record, here and below
    draw = draw.at(sizes)
    bench, given = Bench(submission, draw), chunk(draw)
    expect_step(bench.ask(*given), bench.step(*given), sizes)
    bench, (x, _, state) = Bench(submission, draw), chunk(draw)
    given = (x, bench.prediction(x, state) + 0.01 * draw("B T V"), state)
    with case("with a loss near zero"):
        expect_step(bench.ask(*given), bench.step(*given), sizes)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_one_update(submission, sizes, draw):
    """The parameters have taken one step of the given optimizer with this chunk's gradients."""
    draw = draw.at(sizes.but(L=1))
    for options in ({"lr": 0.1}, {"lr": 0.03, "weight_decay": 0.2}):
        bench, (x, y, state) = Bench(submission, draw, **options), chunk(draw)
        given = (x, 50 * y, state)  # far targets, for gradients that would not survive any clipping
        before = {name: value.clone() for name, value in bench.parameters().items()}
        bench.ask(*given)
        bench.step(*given)
        bench.expect_same_parameters(before)
    bench, (x, _, state) = Bench(submission, draw, "Adam", lr=0.02), chunk(draw)
    y = bench.prediction(x, state) + 0.01 * draw("B T V")
    before = {name: value.clone() for name, value in bench.parameters().items()}
    bench.ask(x, y, state)
    bench.step(x, y, state)
    with case("with a loss near zero"):
        bench.expect_same_parameters(before)


@points(0.5)
@rule("gradient")
@needs(test_one_update)
def test_gradients_cleared(submission, sizes, draw):
    """Gradients left over from before the call have no influence on the step."""
    bench, given = Bench(submission, draw), chunk(draw)
    bench.leave_gradients()
    before = {name: value.clone() for name, value in bench.parameters().items()}
    bench.ask(*given)
    bench.step(*given)
    with case("with gradients left in the model from an earlier backward pass"):
        bench.expect_same_parameters(before)


@points(0.5)
@rule("gradient")
@needs(test_loss_and_state)
def test_off_the_graph(submission, sizes, draw):
    """What it returns is off the graph: the loss is a Python float, and the state is detached."""
    bench, given = Bench(submission, draw), chunk(draw)
    call = submission.tbptt_step.run(bench.arguments(*given))
    loss, _ = loss_and_state(call.value)
    if isinstance(loss, torch.Tensor):
        fail(
            "The loss is a tensor; expected a Python float. A tensor that is kept for a plot can keep the "
            "whole graph in memory, and is no plain number in any case: take the number out of it."
        )
    if type(loss) is not float:
        fail(f"The loss is of type {type(loss).__name__}; expected a Python float.")
    expect_off_graph(call, STATE["names"], sizes.shape("L B H"))
    expect_no_past(submission, "past_of_step", "tbptt_step", *bench.afresh(*given))
    one = sizes.but(B=1, T=1, L=1)
    bench, (x, y, state) = Bench(submission, draw.at(one)), chunk(draw.at(one))
    arguments = bench.arguments(x, y, tuple(torch.zeros_like(part) for part in state))
    with suppress(StudentError), case("with one sequence of one step, from a state of zeros"):
        expect_off_graph(submission.tbptt_step.run(arguments), STATE["names"], one.shape("L B H"))


@points(0)
@rule("values")
@needs(test_loss_and_state)
def test_in_training_mode(submission, sizes, draw):
    """The model makes its prediction in training mode, in which it was given, not in eval()."""
    sizes = sizes.but(L=1)
    draw = draw.at(sizes)
    bench, given = Bench(submission, draw, in_eval=0.5), chunk(draw)
    answer, right = bench.ask(*given), bench.step(*given)
    expect_step(answer, right, sizes, values=False)
    if compare(answer[0], right[0]):
        fail(
            "The loss is that of a model in `eval()`, where dropout is off and the running averages of batch "
            "normalization stand still. A training step leaves the model in the mode it was given in."
        )


@points(0)
@rule("generality")
@needs(test_loss_and_state, test_one_update)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step and one layer, and for many of each."""
    calls, sizes = [], sizes.but(L=2)
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4, V=4), "with every size 4"),
        (sizes.but(B=2, T=draw.size(31, 40), L=1), "with a long chunk"),
        (sizes.but(B=draw.size(20, 70), T=1, H=2, L=draw.size(4, 9)), "with many sequences and layers"),
    ):
        here = draw.at(other)
        calls.append((Bench(submission, here), chunk(here), other, context))
    requests = [bench.requests(*given) for bench, given, _, _ in calls]
    for (step, after), (bench, given, other, context) in zip(requests, calls, strict=True):
        before = {name: value.clone() for name, value in bench.parameters().items()}
        with case(context):
            expect_step(with_loss_as_tensor(step.ask()), bench.step(*given), other)
            bench.expect_same_parameters(before, after.ask())


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The state has the dtype of the model and the data."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        bench, given = Bench(submission, draw, dtype=dtype), chunk(draw, dtype)
        with case(f"with the model and the data in {dtype}"):
            call = submission.tbptt_step.run(bench.arguments(*given), default_dtype=None, numpy=True)
            _, state = loss_and_state(call.value)
            expect_dtype(state, dtype, names=STATE["names"])


@points(0)
@rule("device")
@needs(test_loss_and_state, test_one_update, test_dtype)
def test_device(submission, sizes, draw):
    """With the model, the data and the state on a GPU, the step is done there."""
    bench, given = Bench(submission, draw), chunk(draw)
    # The loss is a number that is read.
    expect_device_neutral(
        submission.tbptt_step,
        lambda: bench.afresh(*given),
        names=STATE["names"],
        gradients=False,
    )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The call leaves x, y and the given state unchanged."""
    bench, given = Bench(submission, draw), chunk(draw)
    call = submission.tbptt_step.run(bench.arguments(*given))
    names = ("model", "optimizer", "loss_fn", "x", "y", "state")
    expect_untouched(call, (None, None, None, *given), names, unjudged=("mode", "gradients"))
