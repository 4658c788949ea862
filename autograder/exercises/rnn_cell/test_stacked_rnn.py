"""`stacked_rnn(rnn, x, h_0)`: what a deep nn.RNN computes, recomputed from its own weights."""

from torch import nn

from autograder.checking import USUAL, FunctionSpec, Handed, sized
from autograder.exercises.from_scratch import RECURRENT
from autograder.exercises.longer import LONG

task = FunctionSpec(
    "stacked_rnn",
    inputs={"rnn": Handed(nn.RNN, "D", "H", "L", batch_first=True), "x": "B T D", "h_0": "L B H"},
    outputs={"output": "B T H", "h_n": "L B H"},
    reference=lambda rnn, x, h_0: rnn(x, h_0),
    forbidden=RECURRENT,
)

test_from_scratch = task.from_scratch(
    title="The stack is computed from the weights, without calling the given RNN or any other torch module."
)
test_shape = task.shape(
    title="It returns the top layer's steps (batch, time, hidden) and all final states (layers, batch, "
    "hidden).",
    needs=[test_from_scratch],
)
test_matches_torch = task.values(
    title="Output and every layer's final state equal those of the given three-layer RNN.",
    points=1,
    needs=[test_shape, test_from_scratch],
)
test_follows_the_weights = task.follows(
    sized("", T=2),
    title="After the RNN's weights have changed, it computes with the new ones.",
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    USUAL,
    LONG,
    tell="Do you detach the states, or read the weights through `.data` or `state_dict()`?",
    title="Gradients reach the input, the initial states and every layer's weights.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    title="The results have the dtype of the RNN and its input.",
    needs=[test_shape, test_from_scratch],
)
test_device = task.devices(
    title="With the RNN and its input on a GPU, everything is created and computed there.",
    points=0.5,
    needs=[test_shape, test_from_scratch, test_matches_torch, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the sequence, the initial states and the RNN's weights unchanged.",
    points=0.5,
    needs=[test_matches_torch],
)
