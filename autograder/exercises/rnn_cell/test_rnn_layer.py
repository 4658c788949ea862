"""`rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)`: the cell over every time step of a batch-first sequence."""

import torch

from autograder.checking import USUAL, FunctionSpec, recorded, sized, strided, weight
from autograder.exercises.from_scratch import RECURRENT
from autograder.exercises.longer import FEWER_SEQUENCES_THAN_STEPS, LONG, SINGLE_SIZES


@recorded
def reference(x, h_0, *weights):
    output, h_n = torch.rnn_tanh(x, h_0.unsqueeze(0), list(weights), True, 1, 0.0, False, False, True)
    return output, h_n[0]


task = FunctionSpec(
    "rnn_layer",
    inputs={
        "x": "B T D",
        "h_0": "B H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
        "b_ih": weight("H"),
        "b_hh": weight("H"),
    },
    outputs={"output": "B T H", "h_n": "B H"},
    reference=reference,
    forbidden=RECURRENT,
)

test_from_scratch = task.from_scratch(title="Your code computes the layer, not torch's recurrent functions.")
test_shape = task.shape(
    FEWER_SEQUENCES_THAN_STEPS,
    title="It returns the state at every step, (batch, time, hidden), and the final one, (batch, hidden).",
    needs=[test_from_scratch],
)
test_matches_torch = task.values(
    title="Every step and the final state equal those of a one-layer nn.RNN.",
    points=0.5,
    needs=[test_shape, test_from_scratch],
)
test_any_size = task.any_size(
    *SINGLE_SIZES,
    sized("with every size 4", B=4, T=4, D=4, H=4),
    sized("with a longer sequence", B=6, T=23),
    strided(),
    title="It works for one step, one sequence, long sequences, and non-contiguous inputs.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    USUAL,
    LONG,
    tell="Do you detach or copy the state between the steps?",
    title="Gradients flow back through every time step to the input, the initial state and all weights.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(
    title="The results have the dtype of the inputs.", needs=[test_shape, test_from_scratch]
)
test_device = task.devices(
    title="With the input on a GPU, everything is created and computed there.",
    points=0.5,
    needs=[test_shape, test_from_scratch, test_matches_torch, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(points=0.5, needs=[test_matches_torch])
