"""`lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)`: one step, as nn.LSTMCell."""

import torch

from autograder.checking import FunctionSpec, recorded, strided, with_inputs
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.lstm_cell.given import SIZES, WEIGHTS


@recorded
def reference(x, h, c, w_ih, w_hh, b_ih, b_hh):
    return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)


LARGE = with_inputs(
    "with a large cell state and large inputs",
    x=lambda draw: 5 * draw("B D"),
    c=lambda draw: 200 * draw("B H"),
)
"""A cell state as after long sequences, and gates that are nearly closed."""

task = FunctionSpec(
    "lstm_cell",
    inputs={"x": "B D", "h": "B H", "c": "B H", **WEIGHTS},
    outputs={"h_next": "B H", "c_next": "B H"},
    made_from={"h_next": ["c_next"]},
    reference=reference,
    forbidden=RECURRENT_MODULES,
)

test_from_scratch = task.from_scratch(title="Your code computes the step, not torch's recurrent functions.")
test_shape = task.shape(
    title="One step returns (h_next, c_next), each (batch, hidden).", needs=[test_from_scratch]
)
test_matches_torch = task.values(
    title="One step gives the same h and c as nn.LSTMCell.",
    points=0.5,
    needs=[test_shape, test_from_scratch],
)
test_any_size = task.any_size(
    *SIZES,
    LARGE,
    strided(),
    title="It works for one sequence, equal sizes, large numbers, and non-contiguous inputs.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    title="Gradients reach the input, both states and all four weights.",
    points=0.5,
    needs=[test_matches_torch],
)
test_dtype = task.dtypes(title="Both states have the dtype of the inputs.", needs=[test_shape])
test_device = task.devices(needs=[test_dtype, test_matches_torch])
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves its arguments unchanged, above all the states.",
    points=0.5,
    needs=[test_matches_torch],
)
