"""`run_lstm_cell(cell, x, state=None)`: nn.LSTMCell over every step of a batch-first sequence."""

import torch

from autograder.checking import (
    carried,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_shapes,
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
from autograder.exercises.lstm_layer.given import expect_states, over_time, reference_cell

RESULTS = {"names": ("output", "h_n", "c_n"), "dims": ("B T H", "B H", "B H")}


def inputs(draw, dtype=torch.float64):
    """A sequence and a state (h, c) that is not zero."""
    return draw("B T D", dtype=dtype), (draw("B H", dtype=dtype), draw("B H", dtype=dtype))


@recorded
def one_call_a_step(cell, numbers, before, x, state):
    """The output that a driven cell gives which is called once a step, after so many calls before."""
    given, outputs = driven_here(cell, numbers, before), []
    for step in x.unbind(1):
        state = given(step, state)
        outputs.append(state[0])
    return torch.stack(outputs, dim=1)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns (output, (h_n, c_n)): (batch, time, hidden), and two final states (batch, hidden)."""
    other = sizes.but(T=13)  # more steps than sequences: a loop over the batch ends early, and is told so
    cell, (x, state) = reference_cell(draw), inputs(draw.at(other))
    answer = submission.run_lstm_cell(hand_over(submission, cell), x, state)
    expect(answer, over_time(cell, x, state), **RESULTS, sizes=other, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_torch(submission, sizes, draw):
    """Every step of the output equals that of an nn.LSTM with the same weights."""
    cell, (x, state) = reference_cell(draw), inputs(draw)
    answer = submission.run_lstm_cell(hand_over(submission, cell), x, state)
    output, _ = expect_shapes(answer, ("B T H", ("B H", "B H")), names=RESULTS["names"], sizes=sizes)
    wanted, _ = over_time(cell, x, state)
    expect_states((output,), (wanted,), names="output", dims="B T H", sizes=sizes)


@points(0.5)
@rule("from-scratch")
@needs(test_matches_torch)
def test_one_call_a_step(submission, sizes, draw):
    """The cell is called exactly once for each time step, with that step of all sequences."""
    cell, numbers = reference_cell(draw), marks(draw)
    rounds = [inputs(draw) for _ in range(2)]
    given = hand_over_driven(submission, cell, numbers)

    def explain(calls):
        if not calls:
            return "The cell was never called. Let the given `cell` make each step: call it."
        if any(shape != sizes.shape("B D") for shape in calls):
            other = next(shape for shape in calls if shape != sizes.shape("B D"))
            return (
                f"One call was given an input of shape {other}. Give the cell one step of all sequences at "
                f"once: (batch, features) = {sizes.shape('B D')}."
            )
        if len(calls) != sizes.T:
            return (
                f"The cell was called {len(calls)} times for {sizes.T} time steps; expected one call a step."
            )
        return elsewhere("cell")

    # The output alone: how it ends is for `test_goes_on`.
    answers = (
        expect_shapes(answer, ("B T H", ("B H", "B H")), names=RESULTS["names"], sizes=sizes)[0]
        for answer in each_driven(submission.run_lstm_cell, given, cell, rounds)
    )
    wanted = [
        [one_call_a_step(cell, numbers, before, *arguments)]
        for before, arguments in zip((0, sizes.T), rounds, strict=True)
    ]
    expect_driven(answers, wanted, given, explain, names="output", dims="B T H", sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_matches_torch)
def test_goes_on(submission, sizes, draw):
    """The final state that it returns goes in again: two halves of a sequence equal the whole."""
    length, cut = (sizes.T + 3, 3) if sizes.L > 2 else (sizes.T, 1)  # the smallest input is as small as told
    cell, (x, state) = reference_cell(draw), inputs(draw.at(sizes.but(T=length)))
    answer = submission.run_lstm_cell(hand_over(submission, cell), x[:, :cut], state)
    with case("the first part of a sequence"):
        expect(answer, over_time(cell, x[:, :cut], state), **RESULTS, sizes=sizes.but(T=cut))
    if cut == length:
        return
    middle = carried(answer[1], over_time(cell, x[:, :cut], state)[1])
    answer = submission.run_lstm_cell(hand_over(submission, cell), x[:, cut:], middle)
    whole, last = over_time(cell, x, state)
    with case("the second part of a sequence, from the state that the first part returned"):
        expect(answer, (whole[:, cut:], last), **RESULTS, sizes=sizes.but(T=length - cut))


@points(0.5)
@rule("values")
@needs(test_goes_on)
def test_default_state(submission, sizes, draw):
    """Without a state it starts from zeros, for h and for c, on every call."""
    cell = reference_cell(draw)
    given = hand_over(submission, cell)
    for context in ("without a state", "without a state, called a second time"):
        x = draw("B T D")
        with case(context):
            expect(submission.run_lstm_cell(given, x), over_time(cell, x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_goes_on, test_default_state)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, any length, equal sizes, and inputs that are not contiguous."""
    for other, context in (
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(B=1, T=1, D=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4), "with every size 4"),
        (sizes.but(T=23), "with a longer sequence (T = 23)"),
    ):
        here = draw.at(other)
        cell, (x, state) = reference_cell(here), inputs(here)
        with case(context):
            answer = submission.run_lstm_cell(hand_over(submission, cell), x, state)
            expect(answer, over_time(cell, x, state), **RESULTS, sizes=other)
            answer = submission.run_lstm_cell(hand_over(submission, cell), x)
            expect(answer, over_time(cell, x), **RESULTS, sizes=other)
    cell, x, state = reference_cell(draw), draw.strided("B T D"), (draw.strided("B H"), draw.strided("B H"))
    with case("with inputs that are not contiguous in memory"):
        answer = submission.run_lstm_cell(hand_over(submission, cell), x, state)
        expect(answer, over_time(cell, x, state), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_goes_on)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through every step to the input, both states and the cell's weights."""
    for here, context in short_and_long(draw):
        cell, (x, state) = reference_cell(here), inputs(here)
        with context:
            expect_gradients(
                submission.run_lstm_cell,
                lambda _, x, state, cell=cell: over_time(cell, x, state),
                (hand_over(submission, cell), x, state),
                names=("x", "h", "c"),
                parameters=dict(cell.named_parameters()),
                draw=here,
                tell="Is a state detached or copied between the steps?",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the cell and its input is the dtype of the results, with and without a state."""
    cell, (x, state) = reference_cell(draw), inputs(draw)
    for rest, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_dtypes(
                submission.run_lstm_cell,
                lambda rest=rest: (hand_over(submission, cell), *rest),
                names=RESULTS["names"],
            )


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the cell and its input on a GPU everything is made and stays there, with and without a state."""
    cell, (x, state) = reference_cell(draw), inputs(draw)
    for rest, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_device_neutral(
                submission.run_lstm_cell,
                lambda rest=rest: (hand_over(submission, cell), *rest),
                names=RESULTS["names"],
            )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The sequence, both states and the cell's weights are the same after the call as before."""
    cell, (x, state) = reference_cell(draw), inputs(draw)
    given = hand_over(submission, cell)
    call = submission.run_lstm_cell.run((given, x, state))
    expect_untouched(call, (None, x, state), ("cell", "x", "state"))
    expect_weights_untouched(given, cell, "cell")
