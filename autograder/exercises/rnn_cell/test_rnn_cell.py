"""`rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh)`: one step of a tanh recurrent cell, as nn.RNNCell."""

import torch

from autograder.checking import FunctionSpec, recorded, sized, strided, weight
from autograder.exercises.from_scratch import RECURRENT


@recorded
def reference(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)


task = FunctionSpec(
    "rnn_cell",
    inputs={
        "x": "B D",
        "h": "B H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
        "b_ih": weight("H"),
        "b_hh": weight("H"),
    },
    outputs={"h_next": "B H"},
    reference=reference,
    forbidden=RECURRENT,
)

test_from_scratch = task.from_scratch(title="Your code computes the step, not torch's recurrent functions.")
test_shape = task.shape(
    title="One step returns the next state of every sequence, (batch, hidden).", needs=[test_from_scratch]
)
test_matches_torch = task.values(
    title="One step gives the same state as nn.RNNCell.", points=0.5, needs=[test_shape, test_from_scratch]
)
test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1),
    sized("with one feature and one hidden unit", D=1, H=1),
    sized("with as many features as hidden units", D="H"),
    strided(),
    title="It works for one sequence, for equal sizes, and for non-contiguous inputs.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    title="Gradients reach the input, the state and all four weights.", points=0.5, needs=[test_matches_torch]
)
test_dtype = task.dtypes(needs=[test_shape])
test_device = task.devices(needs=[test_gradients, test_dtype])
test_arguments_untouched = task.leaves_arguments(points=0.5, needs=[test_matches_torch])
