"""`split_directions(output, hidden_size)`: the two directions' halves of a bidirectional output."""

import torch

from autograder.checking import FunctionSpec, expect, expect_no_slip, needs, points, rule, sized
from autograder.exercises.bidirectional.given import (
    APART,
    OF_AN_OUTPUT,
    every_direction,
    reference_lstm,
    results,
)

task = FunctionSpec(
    "split_directions",
    inputs={"output": "B T 2H", "hidden_size": lambda draw: draw.sizes.H},
    outputs={"forward": "B T H", "backward": "B T H"},
    reference="reference_split_directions:halves",
)

test_shape = task.shape(
    APART, title="It returns two tensors, forward and backward, each (batch, time, hidden)."
)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_each_direction(submission, sizes, draw):
    """Each half is what that direction of an nn.LSTM computes by itself, step for step."""
    here = APART.draw(draw)
    lstm, x = reference_lstm(here), here("B T D")
    answer = submission.split_directions(results(lstm, x)[0], here.sizes.H)
    forward, backward = (output for output, _ in every_direction(lstm, x)[-1])
    right, both = (forward, backward), torch.cat([forward, backward], dim=2)
    expect_no_slip(
        answer,
        right,
        {
            "The two directions are swapped: which half of `output` comes first?": (
                backward,
                forward,
            ),
            "Each half got every other number. A direction's numbers are next to each other: first all of "
            "the forward ones, then all of the backward ones.": (both[..., ::2], both[..., 1::2]),
            "The backward half has been reversed in time. In `output`, both directions are already at the "
            "time step they belong to, so there is nothing to reverse.": (forward, backward.flip(1)),
        },
    )
    expect(answer, right, names=task.names, dims="B T H", sizes=here.sizes)


test_any_size = task.any_size(
    *OF_AN_OUTPUT,
    title="It works for one sequence, one step, one hidden unit, equal sizes, and non-contiguous inputs.",
    points=0.5,
    needs=[test_matches_each_direction],
)
test_gradients = task.gradients(
    sized("with several time steps", T=(31, 70), H=2),
    sized("with one sequence of one step", B=1, T=1),
    if_right=True,
    title="Gradients flow back through both halves.",
    points=0.5,
    needs=[test_matches_each_direction],
)
test_dtype = task.dtypes(title="Both halves have the dtype of the output.", needs=[test_shape])
test_device = task.devices(
    title="With the output on a GPU, both halves stay there.", needs=[test_gradients, test_dtype]
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the output unchanged.", needs=[test_matches_each_direction]
)
