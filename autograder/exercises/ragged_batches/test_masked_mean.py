"""`masked_mean(output, lengths)`: the mean over each sequence's real steps."""

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


def steps_zero(output, lengths):
    """The first and the third step are zero, as all padding is."""
    output = output.index_fill(1, torch.arange(0, min(3, output.shape[1]), 2), 0.0)
    return padded_with(output, lengths, 0.0), lengths


def one_of_one_step(draw):
    """Lengths of which one is 1: with its step zero, nothing but zeros is real in its sequence."""
    lengths = ragged_lengths(draw)
    if len(lengths) > 2:
        lengths[-1] = 1
    return lengths


task = FunctionSpec(
    "masked_mean",
    inputs={"output": "B T H", "lengths": ragged_lengths},
    outputs={"mean": "B H"},
    reference="reference_masked_mean:means",
)

standard(
    task,
    shape=worth(0, ROOMY, title="It returns one mean for every sequence and hidden unit, (batch, hidden)."),
    values=worth(
        0.5,
        *EVERY_PADDING,
        room("with real steps that happen to be all zeros", changed=steps_zero, lengths=one_of_one_step),
        name="mean_of_real_steps",
        title="All real steps count, with equal weight; padding does not, whatever it holds.",
        together=True,
    ),
    any_size=worth(
        0.5,
        *EVERY_OUTPUT,
        room("with as many hidden units as time steps", H="T"),
        title="It works for one sequence, one step, equal sizes, full or minimal lengths, non-contiguous "
        "outputs.",
    ),
    gradients=worth(
        0, *EVERY_GRADIENT, title="Gradients reach every real step and no padded one.", if_right=True
    ),
    dtypes=worth(0, ROOMY, title="The mean has the dtype of the output; the mask does not change it."),
    devices=worth(
        0.5,
        *each_place(),
        title="With the data on a GPU, everything is created and computed there, wherever the lengths are.",
        needs=["shape", "dtype"],
    ),
    leaves_arguments=worth(
        0, ROOMY, title="The call leaves the outputs, their padding and the lengths unchanged."
    ),
)
