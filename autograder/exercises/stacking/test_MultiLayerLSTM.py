"""`class MultiLayerLSTM(nn.Module)`: the stack with a linear layer on top, and dropout before it."""

from autograder.checking import USUAL, ModuleSpec, leaving_out, needs, points, rule, sized
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.per_gate import expect_start
from autograder.exercises.stacking.given import (
    DEEP,
    RATE,
    expect_dropout,
    few_numbers,
    headed_dims,
    run_headed,
    wide_sizes,
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


test_parameters = task.registered(
    title="It registers the parameters of its layers, layers.0.W_xi …, those of `proj`, and nothing else.",
    points=0.5,
    needs=[test_from_scratch],
)
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
    expect_start(task, submission, draw)


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
    wide = wide_sizes(draw)
    looks = (wide.but(L=1), 2), (wide.but(L=2), 1), (wide.but(L=DEEP), 1), few_numbers(sizes)
    expect_dropout(task, submission, draw, looks)
