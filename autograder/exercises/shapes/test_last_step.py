"""`last_step(output)`: the last time step of every sequence."""

import torch

from autograder.checking import Case, FunctionSpec, sized, standard, strided, with_inputs, worth
from autograder.exercises.longer import FEWER_SEQUENCES_THAN_STEPS
from autograder.exercises.shapes.given import expect_no_other_part


def more_sequences(sizes):
    return sizes.but(B=max(sizes.B, sizes.T), T=min(sizes.B, sizes.T))


def ending_in_zeros(draw):
    """An output whose last step nothing marks as real: zeros are numbers, and no padding is told of."""
    return draw("B T H").index_fill(1, torch.tensor([draw.sizes.T - 1]), 0.0)


def expect_the_last(answer, call):
    expect_no_other_part(answer, *call.arguments, 1, call.sizes.T - 1, "time step")


task = FunctionSpec(
    "last_step",
    inputs={"output": "B T H"},
    outputs={"last": "B H"},
    reference="reference_last_step:last_step",
)

standard(
    task,
    shape=worth(
        0,
        sized("", B=9, T=15),  # fewer sequences than steps: a step of the batch's number exists
        title="It returns one vector for every sequence, (batch, hidden).",
    ),
    values=worth(
        0.5,
        FEWER_SEQUENCES_THAN_STEPS.named("with {B} sequences of {T} steps"),
        Case("with {B} sequences of {T} steps", arranged=more_sequences),
        name="is_the_last_step",
        title="It returns the last time step's vectors, with fewer and with more sequences than steps.",
        explain=expect_the_last,
    ),
    any_size=worth(
        0.5,
        sized("with one time step (T = 1)", T=1),
        sized("with one sequence (B = 1)", B=1),
        sized("with one hidden unit (H = 1)", H=1),
        sized("with every size 1", B=1, T=1, H=1),
        sized("with every size 4", B=4, T=4, H=4),
        sized("with a longer sequence", T=130),
        strided("with an output that is not contiguous in memory"),
        with_inputs("with a last step of zeros", output=ending_in_zeros),
        title="It works for one step, one sequence, equal sizes, long sequences, and non-contiguous inputs.",
    ),
    gradients=worth(title="Gradients reach the last step, so that the network before it can be trained."),
    dtypes=worth(title="The result has the dtype of the output."),
    devices="it picks numbers and creates none",
    leaves_arguments=worth(title="The call leaves the output unchanged."),
)
