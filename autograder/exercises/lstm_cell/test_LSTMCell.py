"""`class LSTMCell(nn.Module)`: one step as a module with twelve per-gate parameters."""

from functools import partial

from autograder.checking import (
    USUAL,
    ModuleSpec,
    as_leaves,
    case,
    expect_gradients,
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
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.lstm_cell.given import SIZES
from autograder.exercises.per_gate import DIMS, expect_start

next_state = reference("reference_LSTMCell:next_state")

task = ModuleSpec(
    "LSTMCell",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters=DIMS,
    inputs={"x": "B D", "state": {"h": "B H", "c": "B H"}},
    outputs={"h_next": "B H", "c_next": "B H"},
    made_from={"h_next": ["c_next"]},
    reference=next_state,
    forbidden=RECURRENT_MODULES,
)
WITHOUT = leaving_out("state", words="without a state")
ANY_BATCH = WITHOUT.named("when the same cell gets batches of different sizes without a state")

standard(
    task,
    from_scratch=worth(
        title="The module computes the step itself and holds none of torch's recurrent modules."
    ),
    registered=worth(
        0.5,
        title="It registers the twelve per-gate parameters W_xi … b_o, with the right shapes, and nothing "
        "else.",
    ),
    shape=worth(title="One step returns (h_next, c_next), each (batch, hidden)."),
    values=worth(
        0.5,
        name="matches_torch",
        title="With the same weights, one step gives the same h and c as nn.LSTMCell.",
    ),
    any_size=worth(
        0.5,
        *SIZES,
        strided(),
        sized("when the same cell gets a batch of another size", B=3).again(),
        ANY_BATCH.again(),
        ANY_BATCH.sized(ANY_BATCH.words, B=3).again(),
        title="It works for one sequence, equal sizes, non-contiguous inputs, and batches of changing size.",
        needs=["matches_torch", "default_state"],
    ),
    follows=worth(
        title="After its parameters have changed, by training or loading, it computes with the new ones."
    ),
    gradients="test_gradients below looks at calls without a state and at a chain of steps, too",
    dtypes=worth(
        0,
        USUAL.named("with a state"),
        title="A cell and input of one dtype give states of that dtype, with and without a state.",
        briefly=[WITHOUT],
        needs=["shape", "from_scratch"],  # it tells plain tensors from parameters of other names
    ),
    devices=worth(
        0.5,
        WITHOUT,
        USUAL.named("with a state"),
        title="With the input on a GPU, everything is created and computed there, with and without a state.",
    ),
    leaves_arguments=worth(title="The call leaves the input and both states unchanged."),
)


@points(0.5)
@rule("values")
@needs("parameters")
def test_starting_weights(submission, sizes, draw):
    """The weights start Xavier-uniform, each gate separately; the biases start at zero."""
    expect_start(task, submission, draw)


test_default_state = task.values(
    WITHOUT,
    WITHOUT.named("without a state, called a second time").again(),
    WITHOUT.named("in eval() without a state").again().in_eval(),
    WITHOUT.named("in eval() without a state, called a second time").again().in_eval(),
    title="Without a state, it starts from zeros, for h and for c, on every call.",
    points=0.5,
    needs=["shape", "parameters", "from_scratch"],
)

CHAIN = """
def chain():
    def over_time(cell, x, state):
        for step in x.unbind(1):
            state = tuple(part.to(x.dtype) for part in cell(step, state))
        return state

    return over_time
"""
"""The student's cell fed its own state, step after step, as a layer does it. The dtype is another check's."""


def over_time(parameters, _, x, state):
    for step in x.unbind(1):
        state = next_state(parameters, step, state)
    return state


@points(0.5)
@rule("gradient")
@needs("matches_torch")
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, both states and all twelve parameters, in training and in eval()."""
    cell = task.prepare(submission, USUAL, draw)
    leaves = as_leaves(cell.parameters)
    form = {"names": ("x", "h", "c"), "parameters": leaves}
    expect_gradients(
        cell.target,
        partial(next_state, leaves),
        cell.arguments,
        **form,
        draw=draw,
        in_eval=True,
    )
    alone = task.prepare(submission, WITHOUT, draw)
    own = as_leaves(alone.parameters)
    with alone.case(), task.if_right(alone):
        right = partial(next_state, own)
        expect_gradients(alone.target, right, alone.arguments, names=("x",), parameters=own, draw=draw)
    steps = draw.size(15, 25)
    here = draw.at(sizes.but(B=2, T=steps))
    with case(f"over {steps} steps, each from the previous state"):
        expect_gradients(
            submission.given("chain", source=CHAIN, dtype=None),
            partial(over_time, leaves),
            (cell.target, here("B T D"), (here("B H"), here("B H"))),
            **form,
            draw=here,
            tell="Does `forward` detach or copy a state?",
        )
