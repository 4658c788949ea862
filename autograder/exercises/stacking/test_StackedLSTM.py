"""`class StackedLSTM(nn.Module)`: LSTM layers on top of each other, as nn.LSTM(batch_first=True)."""

import torch

from autograder.checking import (
    ModuleSpec,
    asked,
    case,
    compare,
    expect,
    expect_registered,
    fail,
    needs,
    points,
    rule,
    sized,
)
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.per_gate import expect_start
from autograder.exercises.stacking.given import (
    DEEP,
    RATE,
    expect_dropout,
    expect_layer_0_kept,
    few_numbers,
    run_stack,
    shaped,
    stack_dims,
    wide_sizes,
)
from autograder.exercises.stacking.rules import TWO, WITH_STATE, WITHOUT_STATE, expect_no_dropout_after_eval

task = ModuleSpec(
    "StackedLSTM",
    made_with={"input_size": "D", "hidden_size": "H", "num_layers": "L"},
    parameters=stack_dims,
    inputs={"x": "B T D", "state": {"h_0": "L B H", "c_0": "L B H"}},
    outputs={"output": "B T H", "state": {"h_n": "L B H", "c_n": "L B H"}},
    reference=run_stack,
    forbidden=RECURRENT_MODULES,
)
WITHOUT = TWO.leaving_out("state", words="without a state")

test_from_scratch = task.from_scratch(
    title="The stack is built from the given layer, not from torch's recurrent modules."
)


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """Every layer's parameters are registered as layers.0.W_xi …, with the right shapes; no others are."""
    for other in (sizes, sizes.but(L=1)):
        with case("with one layer" if other.L == 1 else f"with {other.L} layers"):
            expect_registered(task.make(submission, other), task.shapes(other), "`StackedLSTM`")


test_shape = task.shape(
    title="It returns (output, (h_n, c_n)): the top layer's steps, and all layers' final states.",
    needs=[test_from_scratch],
)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """Every layer starts as the given layer does, with its own weights."""
    expect_start(task, submission, draw)


test_matches_torch = task.values(
    title="With the same weights, output and every layer's final states equal nn.LSTM's, from any state.",
    points=0.5,
    needs=[test_shape, test_parameters, test_from_scratch],
)
test_default_state = task.values(
    WITHOUT,
    WITHOUT.named("without a state, called a second time").again(),
    WITHOUT.sized("without a state, called with a batch of another size", B=3, T=4).again(),
    WITHOUT.named("in eval() without a state").again().in_eval(),
    WITHOUT.named("in eval() without a state, called a second time").again().in_eval(),
    title="Without a state, every layer starts from zeros on every call.",
    points=0.5,
    needs=[test_shape, test_parameters, test_from_scratch],
)


test_follows_its_parameters = task.follows(
    sized("", L=2, T=2),
    title="After its parameters have changed, by training or loading, it computes with the new ones.",
    needs=[test_matches_torch],
)
flows_back = task.gradients(
    sized("", L=2, T=3),
    sized("with {T} time steps", L=2, B=2, T=(35, 50)),
    tell="Is something detached between two layers, or in the states that are returned?",
)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients flow down through all layers to the input, both states and every parameter."""
    flows_back(submission, sizes, draw)
    two = sized("", L=2, T=2).with_options(dropout=RATE)
    here = two.draw(draw)
    call = task.prepare(submission, two, here)
    call.target.train()
    through_output = [here("B T H"), *(torch.zeros_like(part) for part in call.arguments[1])]
    reached = call.target.run(call.arguments, grad=True).backward(through_output).inputs[0]
    if reached is None or not reached.any():
        fail("In training with dropout, no gradient flows from `output` down to `x`. What does dropout cut?")


test_dtype = task.dtypes(
    WITH_STATE,
    briefly=[WITHOUT_STATE],
    title="A stack and input of one dtype give results of that dtype, even without a state or with dropout.",
    needs=[test_shape, test_from_scratch],
)
test_device = task.devices(
    WITHOUT_STATE,
    WITH_STATE,
    title="With the input on a GPU, everything is created and computed there, even without a state or with "
    "dropout.",
    points=0.5,
    needs=[test_shape, test_from_scratch, test_parameters, test_matches_torch, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    TWO,
    TWO.with_options(dropout=RATE),
    title="The call leaves the input and both states unchanged, with dropout as well.",
    needs=[test_shape],
)


@points(0)
@rule("dropout")
@needs(test_matches_torch)
def test_evaluation(submission, sizes, draw):
    """After eval() dropout is off: the results are those of a stack without dropout, on every call."""
    expect_no_dropout_after_eval(task, submission, draw)


@points(0)
@rule("dropout")
@needs(test_matches_torch)
def test_dropout_has_its_place(submission, sizes, draw):
    """In training, dropout touches neither the input, nor the top layer's output, nor the returned states."""
    trained = f"and dropout={RATE}, in training, where there is nothing between layers"
    one = sized(f"with one layer {trained}", L=1)
    as_wide = sized(f"with one layer as wide as its input {trained}", L=1, D="H")
    calls = []
    for chosen in (one, as_wide, TWO):
        call = task.prepare(submission, chosen.with_options(dropout=RATE), chosen.draw(draw))
        call.target.train()
        calls.append((call.target.request(*call.arguments), call))
    *single, (of_two, two) = asked(calls)
    for answer, call in single:
        with call.case():
            expect(answer(), task.right(call), **task.form, sizes=call.sizes)
    output, last = shaped(of_two(), task.form, two.sizes)
    expect_layer_0_kept(last, task.right(two)[1], two.sizes)
    if compare(output[:, -1], last[0][-1]):
        fail(
            "In training with dropout, the last step of `output` and `h_n[-1]` do not hold the same "
            "numbers. Dropout never comes after the last layer."
        )


@points(0.5)
@rule("dropout")
@needs(test_evaluation, test_dropout_has_its_place)
def test_dropout_between_layers(submission, sizes, draw):
    """In training, each number passed up to the next layer is dropped with probability p or scaled up."""
    wide, (few, times) = wide_sizes(draw), few_numbers(sizes)
    looks = (wide.but(L=2), 2), (wide.but(L=DEEP), 1), (few, times), (few.but(L=draw.size(4, 6)), 1)
    expect_dropout(task, submission, draw, looks)
