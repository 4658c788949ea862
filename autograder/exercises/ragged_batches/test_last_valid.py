"""`last_valid(output, lengths)`: each sequence's last real step."""

import torch

from autograder.checking import FunctionSpec, computed_once, recorded
from autograder.exercises.ragged_batches.given import (
    EVERY_GRADIENT,
    EVERY_OUTPUT,
    EVERY_PADDING,
    ROOMY,
    each_place,
    padded_with,
    ragged_lengths,
    room,
)


@recorded
@computed_once
def reference(output, lengths):
    return torch.stack([row[:length][-1] for row, length in zip(output, lengths.tolist(), strict=True)])


def last_step_zero(output, lengths):
    """The last step of the longest sequences is zero, as all padding is."""
    output = output.index_fill(1, torch.tensor([output.shape[1] - 1]), 0.0)
    return padded_with(output, lengths, 0.0), lengths


task = FunctionSpec(
    "last_valid",
    inputs={"output": "B T H", "lengths": ragged_lengths},
    outputs={"last": "B H"},
    reference=reference,
)

test_shape = task.shape(ROOMY, title="It returns one step of every sequence, (batch, hidden).")
test_last_real_step = task.values(
    *EVERY_PADDING,
    room("with a last real step that is all zeros", changed=last_step_zero),
    together=True,
    title="Each row is the step before the padding begins, whatever the padding holds.",
    points=1,
    needs=[test_shape],
)
test_any_size = task.any_size(
    *EVERY_OUTPUT,
    title="It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous "
    "outputs.",
    points=0.5,
    needs=[test_last_real_step],
)
test_gradients = task.gradients(
    *EVERY_GRADIENT,
    if_right=True,
    title="Gradients reach each sequence's last real step and no other.",
    points=0.5,
    needs=[test_last_real_step],
)
test_dtype = task.dtypes(ROOMY, title="The result has the dtype of the output.", needs=[test_shape])
test_device = task.devices(
    *each_place(),
    title="With the data on a GPU, everything is created and computed there, wherever the lengths are.",
    needs=[test_shape, test_last_real_step, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    ROOMY, title="The call leaves the outputs and the lengths unchanged.", needs=[test_shape]
)
