"""`class LSTMLayer(nn.Module)`: from scratch, both states at every step of a batch-first sequence."""

from autograder.checking import USUAL, ModuleSpec, leaving_out, needs, points, rule, sized, strided
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.longer import LONG, SINGLE_SIZES
from autograder.exercises.lstm_layer.given import expect_states
from autograder.exercises.per_gate import DIMS, expect_starting_weights

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
RESULTS = task.form
WITHOUT = leaving_out("state", words="without a state")
ANY_BATCH = WITHOUT.named("when the same layer gets batches of different sizes without a state")
SIZES = (*SINGLE_SIZES, sized("with every size 4", B=4, T=4, D=4, H=4))

test_from_scratch = task.from_scratch(
    title="The layer computes its steps itself and holds none of torch's recurrent modules."
)
test_parameters = task.registered(
    title="It registers the twelve per-gate parameters W_xi … b_o, with the right shapes, and nothing else.",
    points=0.5,
    needs=[test_from_scratch],
)
test_shape = task.shape(
    title="It returns (hidden, cells), both states at every step, each (batch, time, hidden).",
    needs=[test_from_scratch],
)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """The weights start Xavier-uniform, each gate separately; the biases start at zero."""
    expect_starting_weights(submission.LSTMLayer, draw, task.told)


@points(1)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """With the same weights, both states equal torch's own at every step, from a state that is not zero."""
    call = task.prepare(submission, USUAL, draw)
    expect_states(call.target(*call.arguments), task.right(call), **RESULTS, sizes=sizes)


test_default_state = task.values(
    WITHOUT,
    WITHOUT.named("without a state, called a second time").again(),
    WITHOUT.named("in eval() without a state").again().in_eval(),
    WITHOUT.named("in eval() without a state, called a second time").again().in_eval(),
    title="Without a state, it starts from zeros, for h and for c, on every call.",
    points=0.5,
    needs=[test_shape, test_parameters, test_from_scratch],
)
test_any_size = task.any_size(
    *(
        each
        for size in SIZES
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
    points=0.5,
    needs=[test_matches_torch, test_default_state],
)
test_follows_its_parameters = task.follows(
    sized("", T=2),
    title="After its parameters have changed, by training or loading, it computes with the new ones.",
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    USUAL,
    LONG,
    tell="Do you detach or copy a state between the steps?",
    title="In train() and eval(), gradients flow through every step to the input, both states and all "
    "parameters.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    USUAL.named("with a state"),
    briefly=[WITHOUT],
    title="A layer and input of one dtype give states of that dtype, with and without a state.",
    needs=[test_shape, test_from_scratch],
)
test_device = task.devices(
    WITHOUT,
    USUAL.named("with a state"),
    title="With the input on a GPU, everything is created and computed there, with and without a state.",
    points=0.5,
    needs=[test_shape, test_from_scratch, test_parameters, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the sequence and both states unchanged.",
    points=0.5,
    needs=[test_matches_torch],
)
