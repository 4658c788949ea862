"""`run_stepwise(rnn, x, h_0=None)`: torch's nn.RNN of any depth, driven one time step a call."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.handed import (
    driven_here,
    each_driven,
    elsewhere,
    expect_driven,
    expect_weights_untouched,
    hand_over,
    hand_over_driven,
    marks,
)
from autograder.exercises.longer import short_and_long
from autograder.exercises.rnn_cell.given import reference_rnn

RESULTS = {"names": ("output", "h_n"), "dims": ("B T H", "L B H")}


@recorded
def one_step_a_call(rnn, numbers, before, x, state):
    """What a driven RNN gives that is called once for each step, after so many calls before."""
    given, outputs = driven_here(rnn, numbers, before), []
    for step in x.split(1, dim=1):
        output, state = given(step, state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns the top layer's steps (batch, time, hidden) and all last states (layers, batch, hidden)."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    answer = submission.run_stepwise(hand_over(submission, rnn), x, h_0)
    expect(answer, rnn(x, h_0), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_one_call(submission, sizes, draw):
    """Step by step gives what one call over the whole sequence gives, in every layer."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    answer = submission.run_stepwise(hand_over(submission, rnn), x, h_0)
    expect(answer, rnn(x, h_0), **RESULTS, sizes=sizes)


@points(0.5)
@rule("from-scratch")
@needs(test_matches_one_call)
def test_one_step_a_call(submission, sizes, draw):
    """The RNN is called once for each time step, with that one step."""
    sizes = sizes.but(T=5)  # of two steps, a call with two would be one with all
    draw = draw.at(sizes)
    rnn, numbers = reference_rnn(draw), marks(draw)
    sequences = [(draw("B T D"), draw("L B H")) for _ in range(2)]
    given = hand_over_driven(submission, rnn, numbers)

    def explain(calls):
        steps = [shape[-2] for shape in calls if len(shape) > 1]
        if any(length != 1 for length in steps):
            return (
                f"One call was given {max(steps)} time steps. Give it one at a time, keeping "
                "the time dimension: (batch, 1, features)."
            )
        if len(calls) != sizes.T:
            times = f"called {len(calls)} times" if calls else "never called"
            return f"The RNN was {times} for {sizes.T} time steps; expected one call a step."
        return elsewhere("rnn")

    answers = each_driven(submission.run_stepwise, given, rnn, sequences)
    wanted = [
        [one_step_a_call(rnn, numbers, before, *sequence)]
        for before, sequence in zip((0, sizes.T), sequences, strict=True)
    ]
    expect_driven(answers, wanted, given, explain, **RESULTS, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_matches_one_call)
def test_default_state(submission, sizes, draw):
    """Without h_0 it starts from zeros, as nn.RNN does, on every call."""
    rnn, x = reference_rnn(draw), draw("B T D")
    given = hand_over(submission, rnn)
    for context in ("without h_0", "without h_0, called a second time"):
        with case(context):
            expect(submission.run_stepwise(given, x), rnn(x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_one_call)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, one layer, equal sizes, and non-contiguous inputs."""
    for other, context in (
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), "with every size 4"),
    ):
        here = draw.at(other)
        rnn, x, h_0 = reference_rnn(here), here("B T D"), here("L B H")
        with case(context):
            expect(
                submission.run_stepwise(hand_over(submission, rnn), x, h_0),
                rnn(x, h_0),
                **RESULTS,
                sizes=other,
            )
    rnn, x, h_0 = reference_rnn(draw), draw.strided("B T D"), draw.strided("L B H")
    with case("with inputs that are not contiguous in memory"):
        expect(
            submission.run_stepwise(hand_over(submission, rnn), x, h_0), rnn(x, h_0), **RESULTS, sizes=sizes
        )


@points(0.5)
@rule("gradient")
@needs(test_matches_one_call)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through every step to the input, the initial state and the RNN's weights."""
    for here, context in short_and_long(draw):
        rnn = reference_rnn(here)
        with context:
            expect_gradients(
                submission.run_stepwise,
                lambda _, x, h_0, rnn=rnn: rnn(x, h_0),
                (hand_over(submission, rnn), here("B T D"), here("L B H")),
                names=("x", "h_0"),
                parameters=dict(rnn.named_parameters()),
                draw=here,
                tell="Is the state detached or copied between the steps?",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the RNN and its input is the dtype of the results, with and without h_0."""
    rnn, x = reference_rnn(draw), draw("B T D")
    for rest, context in (((x,), "without h_0"), ((x, draw("L B H")), "with h_0")):
        with case(context):
            expect_dtypes(
                submission.run_stepwise,
                lambda rest=rest: (hand_over(submission, rnn), *rest),
                names=RESULTS["names"],
            )


@points(0)
@rule("device")
@needs(test_shape, test_matches_one_call, test_dtype)
def test_device(submission, sizes, draw):
    """With the RNN and its input on a GPU everything is made and stays there, with and without h_0."""
    rnn, x = reference_rnn(draw), draw("B T D")
    for rest, context in (((x,), "without h_0"), ((x, draw("L B H")), "with h_0")):
        with case(context):
            expect_device_neutral(
                submission.run_stepwise,
                lambda rest=rest: (hand_over(submission, rnn), *rest),
                names=RESULTS["names"],
            )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The sequence, the initial state and the RNN's weights are the same after the call as before."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    given = hand_over(submission, rnn)
    expect_untouched(submission.run_stepwise.run((given, x, h_0)), (None, x, h_0), ("rnn", "x", "h_0"))
    expect_weights_untouched(given, rnn, "rnn")
