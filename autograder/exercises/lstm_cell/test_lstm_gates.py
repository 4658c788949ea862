"""`lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)`: the four activated gates, from torch's stacked weights."""

import torch

from autograder.checking import FunctionSpec, recorded, sized, strided, with_inputs
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.lstm_cell.given import SIZES, WEIGHTS


@recorded
def reference(x, h, w_ih, w_hh, b_ih, b_hh):
    """The gates in torch's order."""
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


task = FunctionSpec(
    "lstm_gates",
    inputs={"x": "B D", "h": "B H", **WEIGHTS},
    outputs={"i": "B H", "f": "B H", "g": "B H", "o": "B H"},
    reference=reference,
    forbidden=RECURRENT_MODULES,
)

test_from_scratch = task.from_scratch(title="Your code computes the gates, not torch's recurrent functions.")
test_shape = task.shape(
    sized("", B=12),  # four pieces of the batch, for who cuts that in place of the gates
    title="It returns four gates (i, f, g, o), each (batch, hidden).",
    needs=[test_from_scratch],
)
test_matches_torch = task.values(
    title="Each gate has the values that torch's weights give it, in torch's order.",
    points=0.5,
    needs=[test_shape, test_from_scratch],
)
test_any_size = task.any_size(
    *SIZES,
    with_inputs("with large inputs", x=lambda draw: 5 * draw("B D")),
    strided(),
    title="It works for one sequence, equal sizes, large numbers, and non-contiguous inputs.",
    points=0.5,
    needs=[test_matches_torch],
)
test_gradients = task.gradients(
    title="Gradients reach the input, the state and all four weights.", points=0.5, needs=[test_matches_torch]
)
test_dtype = task.dtypes(title="The gates have the dtype of the inputs.", needs=[test_shape])
test_device = task.devices(needs=[test_dtype, test_matches_torch])
test_arguments_untouched = task.leaves_arguments(points=0.5, needs=[test_matches_torch])
