"""`class LSTMLayer(nn.Module)`: from scratch, both states at every step of a batch-first sequence."""

from autograder.checking import (
    USUAL,
    ModuleSpec,
    leaving_out,
    needs,
    points,
    rule,
    sized,
    standard,
    strided,
    worth,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.longer import LONG, SINGLE_SIZES
from autograder.exercises.lstm_layer.given import expect_states
from autograder.exercises.per_gate import DIMS, expect_start

task = ModuleSpec(
    "LSTMLayer",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters=DIMS,
    inputs={"x": "B T D", "state": {"h": "B H", "c": "B H"}},
    outputs={"hidden": "B T H", "cells": "B T H"},
    made_from={"hidden": ["cells"]},
    reference="reference_LSTMLayer:all_states",
    forbidden=RECURRENT_MODULES,
)
WITHOUT = leaving_out("state", words="without a state")
ANY_BATCH = WITHOUT.named("when the same layer gets batches of different sizes without a state")

standard(
    task,
    from_scratch=worth(
        title="The layer computes its steps itself and holds none of torch's recurrent modules."
    ),
    registered=worth(
        0.5,
        title="It registers the twelve per-gate parameters W_xi … b_o, with the right shapes, and nothing "
        "else.",
    ),
    shape=worth(title="It returns (hidden, cells), both states at every step, each (batch, time, hidden)."),
    values=worth(
        1,
        name="matches_torch",
        title="With the same weights, both states equal torch's own at every step, from a state that is not "
        "zero.",
        explain=lambda answer, call: expect_states(answer, task.right(call), **task.form, sizes=call.sizes),
    ),
    any_size=worth(
        0.5,
        *(
            each
            for size in (*SINGLE_SIZES, sized("with every size 4", B=4, T=4, D=4, H=4))
            for each in (
                size,
                size.leaving_out("state", words=size.words).again(same_inputs=True),
                size.named(f"in eval(), {size.words}").again(same_inputs=True).in_eval(),
            )
        ),
        strided(),
        sized("when the same layer gets a batch of another size and length", B=3, T=23).again(),
        ANY_BATCH.again(),
        ANY_BATCH.sized(ANY_BATCH.words, B=3, T=23).again(),
        title="It works for one step, one sequence, equal and changing sizes, and non-contiguous inputs.",
        needs=["matches_torch", "default_state"],
    ),
    follows=worth(
        0,
        sized("", T=2),
        title="After its parameters have changed, by training or loading, it computes with the new ones.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        LONG,
        title="In train() and eval(), gradients flow through every step to the input, both states and all "
        "parameters.",
        tell="Do you detach or copy a state between the steps?",
    ),
    dtypes=worth(
        0,
        USUAL.named("with a state"),
        title="A layer and input of one dtype give states of that dtype, with and without a state.",
        briefly=[WITHOUT],
        needs=["shape", "from_scratch"],  # it tells plain tensors from parameters of other names
    ),
    devices=worth(
        0.5,
        WITHOUT,
        USUAL.named("with a state"),
        title="With the input on a GPU, everything is created and computed there, with and without a state.",
        needs=["shape", "from_scratch", "parameters", "dtype"],
    ),
    leaves_arguments=worth(0.5, title="The call leaves the sequence and both states unchanged."),
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
