"""`class LSTMLayer(nn.Module)`: from scratch, both states at every step of a batch-first sequence."""

import torch

from autograder.checking import (
    EXTREMES,
    as_leaves,
    asked,
    carried,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_follows,
    expect_gradients,
    expect_registered,
    expect_untouched,
    hidden,
    make_module,
    needs,
    points,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES, expect_from_scratch
from autograder.exercises.longer import short_and_long
from autograder.exercises.lstm_layer.given import every_state, expect_states
from autograder.exercises.per_gate import cell_parameters, cell_shapes, expect_starting_weights

RESULTS = {"names": ("hidden", "cells"), "dims": "B T H"}
TOLD = "`LSTMLayer(input_size, hidden_size)`"


def new_layer(submission, sizes, dtype=torch.float64):
    """The student's layer as a user would make it for that dtype."""
    layer = make_module(submission.LSTMLayer, sizes.D, sizes.H, told=TOLD)
    layer.to(dtype)
    return layer


def filled_layer(submission, draw, parameters):
    """The student's layer holding the given parameters."""
    layer = new_layer(submission, draw.sizes)
    layer.load_state_dict(parameters)
    return layer


def inputs(draw, dtype=torch.float64):
    """A sequence and a state (h, c) that is not zero."""
    return draw("B T D", dtype=dtype), (draw("B H", dtype=dtype), draw("B H", dtype=dtype))


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The layer computes its steps itself and holds none of torch's recurrent modules."""
    layer = new_layer(submission, sizes)
    expect_from_scratch(submission, "LSTMLayer", layer, inputs(draw))


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """It registers the twelve per-gate parameters W_xi … b_o, with their shapes, and nothing else."""
    expect_registered(new_layer(submission, sizes), cell_shapes(sizes), "`LSTMLayer`")


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns (hidden, cells), both states at every step, each (batch, time, hidden)."""
    x, state = inputs(draw)
    wanted = every_state(cell_parameters(draw), x, state)
    expect(new_layer(submission, sizes)(x, state), wanted, **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """The weights start Xavier-uniform, each gate by itself; the biases start at zero."""
    expect_starting_weights(submission.LSTMLayer, draw, TOLD)


@points(1)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """With the same weights, both states equal torch's own at every step, from a state that is not zero."""
    parameters, (x, state) = cell_parameters(draw), inputs(draw)
    answer = filled_layer(submission, draw, parameters)(x, state)
    expect_states(answer, every_state(parameters, x, state), **RESULTS, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_default_state(submission, sizes, draw):
    """Without a state it starts from zeros, for h and for c, on every call."""
    parameters = cell_parameters(draw)
    layer = filled_layer(submission, draw, parameters)
    calls = []
    for context in ("without a state", "without a state, called a second time"):
        x = draw("B T D")
        calls.append((layer.request(x), x, context))
    layer.eval()
    for context in ("in eval() without a state", "in eval() without a state, called a second time"):
        x = draw("B T D")
        calls.append((layer.request(x), x, context))
    for answer, x, context in asked(calls):
        with case(context):
            expect(answer(), every_state(parameters, x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch, test_default_state)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, equal and changing sizes, and non-contiguous inputs."""
    calls = []
    for other, context in (
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(B=1, T=1, D=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4), "with every size 4"),
    ):
        here = draw.at(other)
        parameters, (x, state) = cell_parameters(here), inputs(here)
        layer = filled_layer(submission, here, parameters)
        calls.append((layer.request(x, state), parameters, x, state, other, context))
        calls.append((layer.request(x), parameters, x, None, other, context))
        layer.eval()
        calls.append((layer.request(x, state), parameters, x, state, other, f"in eval(), {context}"))
    parameters = cell_parameters(draw)
    layer = filled_layer(submission, draw, parameters)
    x, state = draw.strided("B T D"), (draw.strided("B H"), draw.strided("B H"))
    context = "with inputs that are not contiguous in memory"
    calls.append((layer.request(x, state), parameters, x, state, sizes, context))
    other = sizes.but(B=3, T=23)
    x, state = inputs(draw.at(other))
    context = "when the same layer gets a batch of another size and length"
    calls.append((layer.request(x, state), parameters, x, state, other, context))
    for here in (draw, draw.at(other)):
        x = here("B T D")
        context = "when the same layer gets batches of different sizes without a state"
        calls.append((layer.request(x), parameters, x, None, here.sizes, context))
    for answer, held, x, state, other, context in asked(calls):
        with case(context):
            expect(answer(), every_state(held, x, state), **RESULTS, sizes=other)


@points(0)
@rule("values")
@needs(test_matches_torch)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    here = draw.at(sizes.but(T=2))
    states = [cell_parameters(here) for _ in range(3)]
    x, state = inputs(here)
    layer = filled_layer(submission, here, states[0])
    expect_follows(
        submission,
        layer,
        lambda: layer.request(x, state),
        lambda held: every_state(held, x, state),
        states,
        **RESULTS,
        sizes=here.sizes,
    )


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """In either mode, gradients flow back through every step to the input, both states, all parameters."""
    parameters = cell_parameters(draw)
    leaves = as_leaves(parameters)
    for here, context in short_and_long(draw):
        with context:
            expect_gradients(
                filled_layer(submission, draw, parameters),
                lambda x, state: every_state(leaves, x, state),
                inputs(here),
                names=("x", "h", "c"),
                parameters=leaves,
                draw=here,
                tell="Is a state detached or copied between the steps?",
                in_eval=here is draw,
            )


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """A layer and input of one dtype give states of that dtype, also when the state is left out."""
    x, state = inputs(draw)
    form = {"made_with": (sizes.D, sizes.H), "names": RESULTS["names"]}
    with case("without a state"):
        expect_dtypes(submission.LSTMLayer, (x,), **form, dtypes=EXTREMES, autocast=False)
    with case("with a state"):
        expect_dtypes(submission.LSTMLayer, (x, state), **form)


@points(0.5)
@rule("device")
@needs(test_shape, test_from_scratch, test_parameters, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU everything is made and stays there, also when the state is left out."""
    x, state = inputs(draw)
    for arguments, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_device_neutral(
                submission.LSTMLayer,
                arguments,
                made_with=(sizes.D, sizes.H),
                names=RESULTS["names"],
                gradients=len(arguments) > 1,  # once is enough, and they are most of what this costs
            )


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The sequence and both states are the same after the call as before."""
    arguments = inputs(draw)
    expect_untouched(new_layer(submission, sizes).run(arguments), arguments, ("x", "state"))


@points(0.5)
@rule("generality")
@hidden(
    "Stopped somewhere and started again from its own states, the layer goes on as if it had not stopped."
)
@needs(test_matches_torch)
def test_goes_on_anywhere(submission, sizes, draw):
    """Stopped after any step and started again from both states of that step, it goes on the same."""
    parameters = cell_parameters(draw)
    here = draw.at(sizes.but(T=sizes.T + 3))
    x, (h, c) = inputs(here)
    state = (h, 20 * c)  # as a long sequence may have counted up
    layer = filled_layer(submission, draw, parameters)
    whole = layer(x, state)
    wanted = every_state(parameters, x, state)
    expect(whole, wanted, **RESULTS, sizes=here.sizes)
    for step in (0, 2):
        rest = here.sizes.but(T=here.sizes.T - step - 1)
        state = carried([part[:, step] for part in whole], [part[:, step] for part in wanted])
        with case(f"stopped after step {step} and started again from its states there"):
            answer = layer(x[:, step + 1 :], state)
            expect(answer, tuple(part[:, step + 1 :] for part in wanted), **RESULTS, sizes=rest)
