"""`run_lstm_cell(cell, x, state=None)`: nn.LSTMCell over every step of a batch-first sequence."""

from torch import nn

from autograder.checking import (
    USUAL,
    FunctionSpec,
    Handed,
    carried,
    case,
    expect,
    expect_shapes,
    leaving_out,
    needs,
    points,
    reference,
    rule,
    sized,
    strided,
)
from autograder.exercises.handed import expect_calls, hand_over
from autograder.exercises.longer import LONG, SINGLE_SIZES
from autograder.exercises.lstm_layer.given import expect_states

whole_sequence = reference("reference_run_lstm_cell:whole_sequence")
one_call_a_step = reference("reference_run_lstm_cell:one_call_a_step")


def drawn(draw):
    """A sequence and a state (h, c) that is not zero."""
    return draw("B T D"), (draw("B H"), draw("B H"))


def output_of(answer, sizes):
    """The output alone: how it ends is for `test_goes_on`."""
    return expect_shapes(answer, ("B T H", ("B H", "B H")), names=task.names, sizes=sizes)[0]


task = FunctionSpec(
    "run_lstm_cell",
    inputs={"cell": Handed(nn.LSTMCell, "D", "H"), "x": "B T D", "state": {"h": "B H", "c": "B H"}},
    outputs={"output": "B T H", "state": {"h_n": "B H", "c_n": "B H"}},
    reference=whole_sequence,
)
WITHOUT = leaving_out("state", words="without a state")
SIZES = (
    *SINGLE_SIZES,
    sized("with every size 4", B=4, T=4, D=4, H=4),
    sized("with a longer sequence (T = 23)", B=6, T=23),
)

test_shape = task.shape(
    sized("", T=19),  # more steps than sequences: a loop over the batch ends early, and is told so
    title="It returns (output, (h_n, c_n)): (batch, time, hidden), and two final states (batch, hidden).",
)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_torch(submission, sizes, draw):
    """Every step of the output equals that of an nn.LSTM with the same weights."""
    call = task.prepare(submission, USUAL, draw)
    output, (wanted, _) = output_of(call.target(*call.arguments), sizes), task.right(call)
    expect_states((output,), (wanted,), names="output", dims="B T H", sizes=sizes)


def expect_one_call_a_step(submission, draw, *, with_state):
    """Expect one call for each step, with that step of all sequences."""
    sizes = draw.sizes
    cell = draw.module(nn.LSTMCell, sizes.D, sizes.H)
    rounds = [drawn(draw)[: 1 + with_state] for _ in range(2)]

    def explain(calls):
        if not calls:
            return "The cell was never called. Call the given `cell` for each step."
        if any(shape != sizes.shape("B D") for shape in calls):
            other = next(shape for shape in calls if shape != sizes.shape("B D"))
            return (
                f"One call was given an input of shape {other}. Give the cell one step of all sequences at "
                f"once: (batch, features) = {sizes.shape('B D')}."
            )
        if len(calls) != sizes.T:
            return (
                f"The cell was called {len(calls)} times for {sizes.T} time steps; expected one call per "
                "step."
            )
        return ""

    expect_calls(
        task,
        submission,
        draw,
        cell,
        rounds,
        one_call_a_step,
        explain,
        calls=sizes.T,
        taken=lambda answer: output_of(answer, sizes),
        names="output",
        dims="B T H",
    )


@points(0.5)
@rule("from-scratch")
@needs(test_matches_torch)
def test_one_call_a_step(submission, sizes, draw):
    """The cell is called exactly once per time step, with that step of all sequences."""
    expect_one_call_a_step(submission, draw, with_state=True)


@points(0.5)
@rule("values")
@needs(test_matches_torch)
def test_goes_on(submission, sizes, draw):
    """The final state it returns can be passed in again: two halves of a sequence equal the whole."""
    length, cut = (sizes.T + 3, 3) if sizes.L > 2 else (sizes.T, 1)  # the smallest input is as small as told
    cell, (x, state) = draw.module(nn.LSTMCell, sizes.D, sizes.H), drawn(draw.at(sizes.but(T=length)))
    answer = submission.run_lstm_cell(hand_over(submission, cell), x[:, :cut], state)
    right = whole_sequence(cell, x[:, :cut], state)
    with case("the first part of a sequence"):
        expect(answer, right, **task.form, sizes=sizes.but(T=cut))
    if cut == length:
        return
    middle = carried(answer[1], right[1])
    answer = submission.run_lstm_cell(hand_over(submission, cell), x[:, cut:], middle)
    whole, last = whole_sequence(cell, x, state)
    with case("the second part of a sequence, from the state that the first part returned"):
        expect(answer, (whole[:, cut:], last), **task.form, sizes=sizes.but(T=length - cut))


test_default_state = task.values(
    WITHOUT,
    WITHOUT.named("without a state, called a second time"),
    same_modules=True,
    title="Without a state, it starts from zeros, for h and for c, on every call.",
    points=0.5,
    needs=[test_goes_on],
)


@points(0)
@rule("from-scratch")
@needs(test_one_call_a_step, test_default_state)
def test_one_call_a_step_from_zeros(submission, sizes, draw):
    """Without a state, too, the cell is called exactly once per time step."""
    with case("without a state"):
        expect_one_call_a_step(submission, draw, with_state=False)


test_any_size = task.any_size(
    *(each for size in SIZES for each in (size, size.leaving_out("state", words=size.words))),
    strided(),
    title="It works for one step, one sequence, any length, equal sizes, and non-contiguous inputs.",
    points=0.5,
    needs=[test_goes_on, test_default_state],
)
test_gradients = task.gradients(
    USUAL,
    LONG,
    tell="Do you detach or copy a state between the steps?",
    title="Gradients flow back through every step to the input, both states and the cell's weights.",
    points=0.5,
    needs=[test_goes_on],
)
test_dtype = task.dtypes(
    WITHOUT,
    USUAL.named("with a state"),
    title="The results have the dtype of the cell and its input, with and without a state.",
    needs=[test_shape],
)
test_device = task.devices(
    WITHOUT,
    USUAL.named("with a state"),
    title="With the cell and its input on a GPU, everything is created and computed there, with and "
    "without a state.",
    points=0.5,
    needs=[test_shape, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the sequence, both states and the cell's weights unchanged.",
    needs=[test_shape],
)
