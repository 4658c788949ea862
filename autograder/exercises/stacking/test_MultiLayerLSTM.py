"""`class MultiLayerLSTM(nn.Module)`: the stack with a linear layer on top, and dropout before it."""

import torch

from autograder.checking import USUAL, ModuleSpec, case, fail, leaving_out, needs, points, rule, sized
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.stacking.given import (
    OWN_DROPOUT,
    RATE,
    alike,
    drawn_rate,
    expect_dropped,
    expect_independent,
    expect_parameters,
    expect_same_state,
    expect_xavier_layers,
    few_numbers,
    headed_dims,
    layer_input,
    run_bottom,
    run_headed,
    seen_through,
    seen_through_sizes,
    shaped,
)
from autograder.exercises.stacking.rules import TWO, WITH_STATE, WITHOUT_STATE, expect_no_dropout_after_eval

task = ModuleSpec(
    "MultiLayerLSTM",
    made_with={"input_size": "D", "hidden_size": "H", "num_layers": "L"},
    parameters=headed_dims,
    inputs={"x": "B T D", "state": {"h_0": "L B H", "c_0": "L B H"}},
    outputs={"logits": "B T D", "state": {"h_n": "L B H", "c_n": "L B H"}},
    reference=run_headed,
    forbidden=RECURRENT_MODULES,
)
WITHOUT = leaving_out("state", words="without a state").again(same_inputs=True)

test_from_scratch = task.from_scratch(
    title="The stack is built from the given layer, not from torch's recurrent modules."
)


@points(0.5)
@rule("registration")
@needs(test_from_scratch)
def test_parameters(submission, sizes, draw):
    """It registers the parameters of its layers, layers.0.W_xi …, those of `proj`, and nothing else."""
    expect_parameters(task, submission, sizes)


test_shape = task.shape(
    title="It returns (logits, (h_n, c_n)): one prediction per step, as wide as the input, and all final "
    "states.",
    needs=[test_from_scratch],
)


@points(0.5)
@rule("values")
@needs(test_parameters)
def test_starting_weights(submission, sizes, draw):
    """The weight of `proj` starts Xavier-uniform, its bias at zero; the layers start as given."""
    expect_xavier_layers(task, submission, draw)


test_matches_torch = task.values(
    USUAL.named("with a state"),
    WITHOUT,
    WITHOUT.named("without a state, called a second time"),
    WITHOUT.named("in eval() without a state").in_eval(),
    WITHOUT.named("in eval() without a state, called a second time").in_eval(),
    title="Logits and final states equal those of nn.LSTM and nn.Linear with the same weights, "
    "from any state.",
    points=0.5,
    needs=[test_shape, test_parameters, test_from_scratch],
)
test_follows_its_parameters = task.follows(
    sized("", L=2, T=2),
    title="After its parameters have changed, by training or loading, it computes with the new ones.",
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    sized("", L=2, T=3),
    tell="Is something detached between two layers, before `proj`, or in the states?",
    title="Gradients reach the input, both states and every parameter, including those of `proj`.",
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    WITH_STATE,
    briefly=[WITHOUT_STATE],
    title="A model and input of one dtype give results of that dtype, even without a state or with dropout.",
    needs=[test_shape, test_from_scratch],
)
test_device = task.devices(
    WITHOUT_STATE,
    WITH_STATE,
    title="With the input on a GPU, everything is created and computed there, even without a state or with "
    "dropout.",
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
    """After eval() dropout is off: the results are those of a model without dropout, on every call."""
    expect_no_dropout_after_eval(task, submission, draw)


@points(0.5)
@rule("dropout")
@needs(test_evaluation)
def test_dropout(submission, sizes, draw):
    """In training, dropout acts between the layers and once more before `proj`, and nowhere else."""
    wide, rate = seen_through_sizes(draw), drawn_rate(draw)
    tell = " The top layer's output is to be dropped as well, before `proj` reads it."
    few, times = few_numbers(sizes)
    calls = []
    for other, repeated in ((wide.but(L=1), 2), (wide.but(L=2), 1), (wide.but(L=3), 1), (few, times)):
        call = seen_through(task, submission, draw.at(other), rate)
        calls.append((call, [call.target.request(*call.arguments) for _ in range(repeated)]))
    for call, requests in calls:
        other, layers = call.sizes, call.sizes.L
        answers = [shaped(request.ask(), task.form, other) for request in requests]
        logits, last = torch.cat([each for each, _ in answers]), answers[0][1]
        below = run_bottom(call.parameters, *call.arguments).repeat(len(answers), 1, 1)
        expect_same_state(last, task.right(call)[1], ("h_n", "c_n"))
        top = logits.double() - call.parameters["proj.bias"]
        if layers == 1:
            if (logits == 0).double().mean() > rate / 2:
                fail("In training with dropout, many logits are zero. Dropout belongs before `proj`.")
            with case("with one layer"):
                kept = expect_dropped(top, below, rate, "before `proj`", tell)
                expect_independent(kept, "before `proj`")
                if alike(*kept.chunk(2)):
                    fail(
                        "In training, two calls drop the same numbers before `proj`. Draw them in every call."
                    )
            continue
        kept = top.abs() > 1e-6
        given = layer_input(top[kept] * (1 - rate))
        small = f" and a batch of {few.B}" if other == few else ""
        with case(f"with {'two' if layers == 2 else 'three'} layers{small}"):
            if kept.double().mean() > 0.99:
                fail(f"In training with dropout={rate}, no number before `proj` is dropped.{tell}")
            expect_independent(kept, "before `proj`")
            passed = given.abs() > 1e-6
            if layers == 2:
                passed = expect_dropped(
                    given,
                    below[kept],
                    rate,
                    "between layer 0 and layer 1, where those before `proj` are kept,",
                    " There is a dropout between the layers and another before `proj`, each drawn "
                    "separately.",
                )
                if other != few:  # which are too few to tell
                    between = torch.zeros_like(kept).masked_scatter(kept, passed)
                    expect_independent(between, "between layer 0 and layer 1", known=kept)
            elif passed.double().mean() > 0.99:
                fail(f"In training with dropout={rate}, no number between layer 1 and layer 2 is dropped.")
            else:
                expect_dropped(
                    layer_input(given[passed] * (1 - rate)),
                    below[kept][passed],
                    rate,
                    "between layer 0 and layer 1, where those above them are kept,",
                    OWN_DROPOUT,
                )
