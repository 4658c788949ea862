"""`class MultiLayerLSTM(nn.Module)`: the stack with a linear layer on top, and dropout before it too."""

import torch

from autograder.checking import (
    as_leaves,
    asked,
    case,
    expect,
    expect_gradients,
    fail,
    hidden,
    needs,
    points,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES, expect_from_scratch
from autograder.exercises.stacking.given import (
    HEADED,
    drawn_rate,
    expect_dropped,
    expect_independent,
    expect_parameters,
    expect_same_state,
    expect_xavier_layers,
    few_numbers,
    filled_stack,
    inputs,
    layer_input,
    new_stack,
    run_bottom,
    run_headed,
    run_stack,
    see_through,
    seen_through_sizes,
    shaped,
    stack_parameters,
    zero_state,
)
from autograder.exercises.stacking.rules import (
    expect_any_size,
    expect_inputs_untouched,
    expect_no_dropout_after_eval,
    expect_own_device,
    expect_own_dtype,
    expect_stack_follows,
)

KIND = "MultiLayerLSTM"


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The stack is made of the given layer, not of torch's recurrent modules."""
    two = draw.at(sizes.but(L=2))
    model = new_stack(submission, KIND, two.sizes)
    expect_from_scratch(submission, KIND, model, inputs(two))


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """It registers the parameters of its layers, layers.0.W_xi …, those of `proj`, and nothing else."""
    expect_parameters(new_stack(submission, KIND, sizes), f"`{KIND}`", sizes, proj=True)


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns (logits, (h_n, c_n)): one prediction a step, as wide as the input, and all final states."""
    answer = new_stack(submission, KIND, sizes)(*inputs(draw))
    wanted = (torch.zeros(sizes.shape("B T D")), zero_state(sizes))
    expect(answer, wanted, **HEADED, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """The weight of `proj` starts Xavier-uniform, its bias at zero; the layers start as given."""
    expect_xavier_layers(KIND, submission, draw)


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """Logits and final states equal those of nn.LSTM and nn.Linear with the same weights, from any state."""
    parameters = stack_parameters(draw, proj=True)
    model = filled_stack(submission, KIND, sizes, parameters)
    x, state = inputs(draw)
    zero = zero_state(sizes)
    calls = [
        (model.request(x, state), state, "with a state"),
        (model.request(x), zero, "without a state"),
        (model.request(x), zero, "without a state, called a second time"),
    ]
    model.eval()
    for context in ("in eval() without a state", "in eval() without a state, called a second time"):
        calls.append((model.request(x), zero, context))
    for answer, start, context in asked(calls):
        with case(context):
            expect(answer(), run_headed(parameters, x, start), **HEADED, sizes=sizes)


@points(0.5)
@rule("generality")
@hidden("It works for models of other depths and sizes.")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one layer, five layers, one sequence, one step, equal sizes, non-contiguous inputs."""
    two = draw.at(sizes.but(L=2))
    expect_any_size(submission, KIND, run_headed, two, proj=True, **HEADED)


@points(0)
@rule("values")
@needs(test_matches_torch)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    expect_stack_follows(submission, KIND, run_headed, draw, proj=True, **HEADED)


@points(0)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, both states and every parameter, those of `proj` too."""
    two = draw.at(sizes.but(L=2, T=3))
    parameters = stack_parameters(two, proj=True)
    model = filled_stack(submission, KIND, two.sizes, parameters)
    leaves = as_leaves(parameters)
    expect_gradients(
        model,
        lambda x, state: run_headed(leaves, x, state),
        inputs(two),
        names=("x", "h_0", "c_0"),
        parameters=leaves,
        draw=two,
        tell="Is something detached between two layers, before `proj`, or in the states?",
        in_eval=True,
    )


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """A model and input of one dtype give results of that dtype, also without a state and with dropout."""
    expect_own_dtype(submission, KIND, HEADED["names"], draw)


@points(0)
@rule("device")
@needs(test_shape, test_from_scratch, test_parameters, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU everything is made and stays there, also without a state and with dropout."""
    expect_own_device(submission, KIND, HEADED["names"], draw)


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The input and both states are the same after the call as before, with dropout too."""
    expect_inputs_untouched(submission, KIND, draw)


@points(0)
@rule("dropout")
@needs(test_matches_torch)
def test_evaluation(submission, sizes, draw):
    """After eval() dropout is off: the results are those of a model without dropout, on every call."""
    expect_no_dropout_after_eval(submission, KIND, run_headed, draw, proj=True, **HEADED)


@points(0.5)
@rule("dropout")
@needs(test_evaluation)
def test_dropout(submission, sizes, draw):
    """In training, dropout acts between the layers and once more before `proj`, and nowhere else."""
    wide, rate = seen_through_sizes(draw), drawn_rate(draw)
    tell = " Here the top layer's output is dropped as well, before `proj` reads it."
    few, times = few_numbers(sizes)
    calls = []
    for other, repeated in ((wide.but(L=1), 1), (wide.but(L=2), 1), (wide.but(L=3), 1), (few, times)):
        here = draw.at(other)
        parameters, (x, state) = see_through(here, proj=True), inputs(here)
        model = filled_stack(submission, KIND, other, parameters, dropout=rate)
        model.train()
        calls.append((other, [model.request(x, state) for _ in range(repeated)], parameters, x, state))
    for other, requests, parameters, x, state in calls:
        layers = other.L
        answers = [shaped(request.ask(), HEADED, other) for request in requests]
        logits, last = torch.cat([each for each, _ in answers]), answers[0][1]
        below = run_bottom(parameters, x, state).repeat(len(answers), 1, 1)
        expect_same_state(last, run_stack(parameters, x, state)[1], ("h_n", "c_n"))
        top = logits.double() - parameters["proj.bias"]
        if layers == 1:
            if (logits == 0).double().mean() > rate / 2:
                fail("In training with dropout, many logits are zero. Dropout belongs before `proj`.")
            with case("with one layer"):
                expect_independent(expect_dropped(top, below, rate, "before `proj`", tell), "before `proj`")
            continue
        kept = top.abs() > 1e-6
        given = layer_input(top[kept] * (1 - rate))
        small = f" and a batch of {few.B}" if other == few else ""
        with case(f"with {'two' if layers == 2 else 'three'} layers{small}"):
            if kept.double().mean() > 0.99:
                fail(f"In training with dropout={rate}, no number before `proj` is dropped.{tell}")
            expect_independent(kept, "before `proj`")
            if layers == 2:
                expect_dropped(
                    given,
                    below[kept],
                    rate,
                    "between layer 0 and layer 1, where those before `proj` are kept,",
                    " There is a dropout between the layers and another before `proj`, each drawn by itself.",
                )
            elif (given.abs() > 1e-6).double().mean() > 0.99:
                fail(f"In training with dropout={rate}, no number between layer 1 and layer 2 is dropped.")
