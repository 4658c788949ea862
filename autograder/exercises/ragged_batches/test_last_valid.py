"""`last_valid(output, lengths)`: each sequence's last real step."""

import torch

from autograder.checking import FunctionSpec, standard, worth
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


def last_step_zero(output, lengths):
    """The last step of the longest sequences is zero, as all padding is."""
    output = output.index_fill(1, torch.tensor([output.shape[1] - 1]), 0.0)
    return padded_with(output, lengths, 0.0), lengths


task = FunctionSpec(
    "last_valid",
    inputs={"output": "B T H", "lengths": ragged_lengths},
    outputs={"last": "B H"},
    reference="reference_last_valid:last_rows",
)

standard(
    task,
    shape=worth(0, ROOMY, title="It returns one step of every sequence, (batch, hidden)."),
    values=worth(
        1,
        *EVERY_PADDING,
        room("with a last real step that is all zeros", changed=last_step_zero),
        name="last_real_step",
        title="Each row is the step before the padding begins, whatever the padding holds.",
        together=True,
    ),
    any_size=worth(
        0.5,
        *EVERY_OUTPUT,
        title="It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous "
        "outputs.",
    ),
    gradients=worth(
        0.5,
        *EVERY_GRADIENT,
        title="Gradients reach each sequence's last real step and no other.",
        if_right=True,
    ),
    dtypes=worth(0, ROOMY, title="The result has the dtype of the output."),
    devices=worth(
        0,
        *each_place(),
        title="With the data on a GPU, everything is created and computed there, wherever the lengths are.",
    ),
    leaves_arguments=worth(0, ROOMY, title="The call leaves the outputs and the lengths unchanged."),
)
