"""`class StackedLSTM(nn.Module)`: LSTM layers on top of each other, as nn.LSTM(batch_first=True)."""

import itertools
from contextlib import suppress

import torch

from autograder.checking import (
    CheckFailed,
    StudentError,
    as_leaves,
    asked,
    carried,
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
from autograder.exercises.longer import short_and_long
from autograder.exercises.stacking.given import (
    RATE,
    STACK,
    alike,
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

KIND = "StackedLSTM"


@points(0)
@rule("from-scratch")
@without(RECURRENT_MODULES)
def test_from_scratch(submission, sizes, draw):
    """The stack is made of the given layer, not of torch's recurrent modules."""
    two = draw.at(sizes.but(L=2))
    stack = new_stack(submission, KIND, two.sizes)
    expect_from_scratch(submission, KIND, stack, inputs(two))


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """Every layer's parameters are registered as layers.0.W_xi … with their shapes, and nothing else is."""
    for other in (sizes, sizes.but(L=1)):
        with case("with one layer" if other.L == 1 else f"with {other.L} layers"):
            expect_parameters(new_stack(submission, KIND, other), f"`{KIND}`", other)


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns (output, (h_n, c_n)): the top layer's steps, and all layers' final states."""
    answer = new_stack(submission, KIND, sizes)(*inputs(draw))
    h, c = zero_state(sizes)
    wanted = (torch.zeros(sizes.shape("B T H")), (h, c))
    expect(answer, wanted, **STACK, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """Every layer starts as the given layer does, with weights of its own."""
    weights = expect_xavier_layers(KIND, submission, draw)
    for one, other in itertools.combinations(weights, 2):
        if torch.equal(weights[one], weights[other]):
            fail(f"`{one}` and `{other}` start with the same numbers: make each layer anew.")


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """With the same weights, output and every layer's final states equal nn.LSTM's, from any state."""
    parameters, (x, state) = stack_parameters(draw), inputs(draw)
    answer = filled_stack(submission, KIND, sizes, parameters)(x, state)
    expect(answer, run_stack(parameters, x, state), **STACK, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_shape, test_parameters, test_from_scratch)
def test_default_state(submission, sizes, draw):
    """Without a state every layer starts from zeros, on every call."""
    sizes = sizes.but(L=2)
    parameters = stack_parameters(draw.at(sizes))
    stack = filled_stack(submission, KIND, sizes, parameters)
    calls = []
    for other, context in (
        (sizes, "without a state"),
        (sizes, "without a state, called a second time"),
        (sizes.but(B=3, T=4), "without a state, called with a batch of another size"),
    ):
        x = draw.at(other)("B T D")
        calls.append((stack.request(x), x, other, context))
    stack.eval()
    for context in ("in eval() without a state", "in eval() without a state, called a second time"):
        x = draw.at(sizes)("B T D")
        calls.append((stack.request(x), x, sizes, context))
    for answer, x, other, context in asked(calls):
        with case(context):
            expect(answer(), run_stack(parameters, x, zero_state(other)), **STACK, sizes=other)


@points(0.5)
@rule("generality")
@hidden("It works for stacks of other depths and sizes, and goes on from the state it returned.")
@needs(test_matches_torch)
def test_any_depth(submission, sizes, draw):
    """It works for other depths and sizes, for inputs that are not contiguous, and in parts."""
    two = draw.at(sizes.but(L=2))
    stack, parameters = expect_any_size(submission, KIND, run_stack, two, **STACK)
    first, last = two("B T D"), two("B T D")
    layers = two.sizes.shape("L B H")
    state = two.like(layers), two.like(layers, spread=20)  # as a long sequence may have counted up
    middle = run_stack(parameters, first, state)[1]
    with case("in a second call that goes on from the state of the first"):
        expect(
            stack(last, carried(stack(first, state)[1], middle)),
            run_stack(parameters, last, middle),
            **STACK,
            sizes=two.sizes,
        )


@points(0)
@rule("values")
@needs(test_matches_torch)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    expect_stack_follows(submission, KIND, run_stack, draw, **STACK)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients flow down through all layers to the input, both states and every parameter."""
    two = draw.at(sizes.but(L=2, T=3))
    parameters = stack_parameters(two)
    leaves = as_leaves(parameters)
    for here, context in short_and_long(two, (35, 50)):
        with context:
            expect_gradients(
                filled_stack(submission, KIND, two.sizes, parameters),
                lambda x, state: run_stack(leaves, x, state),
                inputs(here),
                names=("x", "h_0", "c_0"),
                parameters=leaves,
                draw=here,
                tell="Is something detached between two layers, or in the states that are returned?",
                in_eval=here is two,
            )
    two = draw.at(sizes.but(L=2, T=2))
    stack = filled_stack(submission, KIND, two.sizes, stack_parameters(two), dropout=RATE)
    stack.train()
    call = stack.run(inputs(two), grad=True)
    reached = call.backward([two("B T H"), *zero_state(two.sizes)]).inputs[0]
    if reached is None or not reached.any():
        fail("In training with dropout, no gradient flows from `output` down to `x`. What does dropout cut?")


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """A stack and input of one dtype give results of that dtype, also without a state and with dropout."""
    expect_own_dtype(submission, KIND, STACK["names"], draw)


@points(0.5)
@rule("device")
@needs(test_shape, test_from_scratch, test_parameters, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU everything is made and stays there, also without a state and with dropout."""
    expect_own_device(submission, KIND, STACK["names"], draw)


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
    """After eval() dropout is off: the results are those of a stack without dropout, on every call."""
    expect_no_dropout_after_eval(submission, KIND, run_stack, draw, **STACK)


@points(0)
@rule("dropout")
@needs(test_matches_torch)
def test_dropout_has_its_place(submission, sizes, draw):
    """In training, dropout touches neither the input, nor the top layer's output, nor the returned states."""
    calls = []
    for other in (sizes.but(L=1), sizes.but(L=1, D=sizes.H), sizes.but(L=2)):
        here = draw.at(other)
        parameters, (x, state) = stack_parameters(here), inputs(here)
        stack = filled_stack(submission, KIND, other, parameters, dropout=RATE)
        stack.train()
        calls.append((stack.request(x, state), run_stack(parameters, x, state), other))
    *single, (of_two, wanted_of_two, two) = asked(calls)
    for (answer, wanted, other), width in zip(single, ("", " as wide as its input"), strict=True):
        with case(f"with one layer{width} and dropout={RATE}, in training, where nothing is between layers"):
            expect(answer(), wanted, **STACK, sizes=other)
    output, last = shaped(of_two(), STACK, two)
    expect_same_state(last, wanted_of_two[1], ("h_n", "c_n"))
    if not torch.allclose(output[:, -1].double(), last[0][-1].double(), rtol=1e-4, atol=1e-6):
        fail(
            "In training with dropout, the last step of `output` and `h_n[-1]` are not the same numbers. "
            "Dropout is never after the last layer."
        )


@points(0.5)
@rule("dropout")
@needs(test_evaluation, test_dropout_has_its_place)
def test_dropout_between_layers(submission, sizes, draw):
    """In training, each number handed up to the next layer is dropped with probability p, else scaled up."""

    wide, rate = seen_through_sizes(draw), drawn_rate(draw)

    def in_training(sizes, calls):
        here = draw.at(sizes)
        parameters, (x, state) = see_through(here), inputs(here)
        stack = filled_stack(submission, KIND, here.sizes, parameters, dropout=rate)
        stack.train()
        requests = [stack.request(x, state) for _ in range(calls)]
        outputs = (shaped(each.ask(), STACK, here.sizes)[0] for each in requests)
        return outputs, run_bottom(parameters, x, state)

    few, times = few_numbers(sizes)
    both, below = in_training(wide.but(L=2), calls=2)
    of_three, below_of_three = in_training(wide.but(L=3), calls=1)
    of_few, below_few = in_training(few, calls=times)
    place = "between layer 0 and layer 1"
    first, second = (expect_dropped(layer_input(each), below, rate, place) for each in both)
    expect_independent(first, place)
    if alike(first, second):
        fail("In training, two calls drop the same numbers. Dropout is drawn anew on every call.")

    small = torch.cat([layer_input(each) for each in of_few])
    with case(f"with a batch of {few.B}"):
        expect_dropped(small, below_few.repeat(times, 1, 1), rate, place)

    top = layer_input(next(of_three))
    kept = top.abs() > 1e-6
    share = 1 - kept.double().mean().item()
    if share < 0.01:
        fail(f"In training with dropout={rate}, no number between layer 1 and layer 2 is dropped.")
    # What layer 1 made can be read where layer 2 got it.
    expect_dropped(
        layer_input(top[kept] * (1 - rate)),
        below_of_three[kept],
        rate,
        "between layer 0 and layer 1, where those above them are kept,",
        " Each pair of layers has a dropout of its own.",
    )
    deep = few.but(L=draw.size(4, 6))
    of_many = None
    with suppress(CheckFailed, StudentError):  # such a depth at all is for `test_any_depth`
        of_many = layer_input(next(in_training(deep, calls=1)[0]))
    if of_many is not None and of_many.abs().gt(1e-6).double().mean() > 0.99:
        fail(
            f"In training with dropout={rate}, in a stack of {deep.L} layers, no number between layer "
            f"{deep.L - 2} and layer {deep.L - 1} is dropped."
        )
