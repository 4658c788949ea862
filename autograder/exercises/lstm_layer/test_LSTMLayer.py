"""`class LSTMLayer(nn.Module)`: from scratch, both states at every step of a batch-first sequence."""

import itertools

import torch

from autograder.checking import (
    USUAL,
    ModuleSpec,
    carried,
    case,
    computed_once,
    expect,
    hidden,
    leaving_out,
    needs,
    points,
    recorded,
    rule,
    sized,
    strided,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.longer import LONG, SINGLE_SIZES
from autograder.exercises.lstm_layer.given import expect_states, zeros
from autograder.exercises.per_gate import DIMS, cell_step, expect_starting_weights


@recorded
@computed_once
def reference(parameters, x, state=None):
    """Both states at every step, by torch's own step with per-gate parameters: (hidden, cells)."""
    state = state if state is not None else zeros(x, parameters["b_i"].shape[0])
    states = list(
        itertools.accumulate(x.unbind(1), lambda s, now: cell_step(parameters, now, *s), initial=state)
    )
    h, c = zip(*states[1:], strict=True)
    return torch.stack(h, dim=1), torch.stack(c, dim=1)


task = ModuleSpec(
    "LSTMLayer",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters=DIMS,
    inputs={"x": "B T D", "state": {"h": "B H", "c": "B H"}},
    outputs={"hidden": "B T H", "cells": "B T H"},
    made_from={"hidden": ["cells"]},
    reference=reference,
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


@points(0.5)
@rule("generality")
@hidden(
    "Stopped at some step and restarted from its own states, the layer continues as if it had never stopped."
)
@needs(test_matches_torch)
def test_goes_on_anywhere(submission, sizes, draw):
    """Stopped after any step and restarted from both states of that step, it continues in the same way."""
    here = draw.at(sizes.but(T=sizes.T + 3))
    layer = task.prepare(submission, USUAL, here)
    x, (h, c) = layer.arguments
    state = (h, 20 * c)  # as a long sequence may have counted up
    whole, wanted = layer.target(x, state), reference(layer.parameters, x, state)
    expect(whole, wanted, **RESULTS, sizes=here.sizes)
    for step in (0, 2):
        rest = here.sizes.but(T=here.sizes.T - step - 1)
        state = carried([part[:, step] for part in whole], [part[:, step] for part in wanted])
        with case(f"stopped after step {step} and started again from its states there"):
            answer = layer.target(x[:, step + 1 :], state)
            expect(answer, tuple(part[:, step + 1 :] for part in wanted), **RESULTS, sizes=rest)
