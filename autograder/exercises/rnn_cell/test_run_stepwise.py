"""`run_stepwise(rnn, x, h_0=None)`: torch's nn.RNN of any depth, driven one time step per call."""

from torch import nn

from autograder.checking import (
    USUAL,
    FunctionSpec,
    Handed,
    case,
    leaving_out,
    needs,
    points,
    reference,
    rule,
    sized,
    standard,
    strided,
    worth,
)
from autograder.exercises.handed import expect_calls
from autograder.exercises.longer import LONG

task = FunctionSpec(
    "run_stepwise",
    inputs={"rnn": Handed(nn.RNN, "D", "H", "L", batch_first=True), "x": "B T D", "h_0": "L B H"},
    outputs={"output": "B T H", "h_n": "L B H"},
    reference=lambda rnn, x, h_0=None: rnn(x, h_0),
)
WITHOUT = leaving_out("h_0", words="without h_0")
BOTH_WAYS = (WITHOUT, USUAL.named("with h_0"))

standard(
    task,
    shape=worth(
        title="It returns the top layer's steps (batch, time, hidden) and all final states (layers, batch, "
        "hidden)."
    ),
    values=worth(
        0.5,
        name="matches_one_call",
        title="Step by step, it gives the same as one call on the whole sequence, in every layer.",
    ),
    any_size=worth(
        0.5,
        sized("with one time step (T = 1)", T=1),
        sized("with one sequence (B = 1)", B=1),
        sized("with one layer (L = 1)", L=1),
        sized("with every size 4", B=4, T=4, D=4, H=4, L=4),
        strided(),
        title="It works for one step, one sequence, one layer, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        LONG,
        title="Gradients flow back through every step to the input, the initial state and the RNN's weights.",
        further=[WITHOUT],
        tell="Do you detach or copy the state between the steps?",
    ),
    dtypes=worth(
        0,
        *BOTH_WAYS,
        title="The results have the dtype of the RNN and its input, with and without h_0.",
    ),
    devices=worth(
        0,
        *BOTH_WAYS,
        title="With the RNN and its input on a GPU, everything is created and computed there, with and "
        "without h_0.",
    ),
    leaves_arguments=worth(
        title="The call leaves the sequence, the initial state and the RNN's weights unchanged."
    ),
)

test_default_state = task.values(
    WITHOUT,
    WITHOUT.named("without h_0, called a second time"),
    title="Without h_0, it starts from zeros on every call, as nn.RNN does.",
    same_modules=True,
    points=0.5,
    needs=["matches_one_call"],
)

one_step_a_call = reference("reference_run_stepwise:one_step_a_call")


def expect_one_step_a_call(submission, draw, *, with_state):
    """Expect one call for each of five steps: of two steps, a call with two would be one with all."""
    draw = draw.at(draw.sizes.but(T=5))
    sizes = draw.sizes
    rnn = draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True)
    rounds = [(draw("B T D"), draw("L B H"))[: 1 + with_state] for _ in range(2)]

    def explain(calls):
        steps = [shape[-2] for shape in calls if len(shape) > 1]
        if any(length != 1 for length in steps):
            return (
                f"One call was given {max(steps)} time steps. Give it one at a time, keeping "
                "the time dimension: (batch, 1, features)."
            )
        if len(calls) != sizes.T:
            times = f"called {len(calls)} times" if calls else "never called"
            return f"The RNN was {times} for {sizes.T} time steps; expected one call per step."
        return ""

    expect_calls(task, submission, draw, rnn, rounds, one_step_a_call, explain, calls=sizes.T)


@points(0.5)
@rule("from-scratch")
@needs("matches_one_call")
def test_one_step_a_call(submission, sizes, draw):
    """The RNN is called once for each time step, with that one step."""
    expect_one_step_a_call(submission, draw, with_state=True)


@points(0)
@rule("from-scratch")
@needs(test_one_step_a_call, test_default_state)
def test_one_step_a_call_from_zeros(submission, sizes, draw):
    """Without h_0, too, the RNN is called once for each time step, with that one step."""
    with case("without h_0"):
        expect_one_step_a_call(submission, draw, with_state=False)
