"""`ends_from_output(output, hidden_size)`: the final states of both directions, read from the output."""

import torch

from autograder.checking import FunctionSpec, case, expect, expect_no_slip, needs, points, rule, sized
from autograder.exercises.bidirectional.given import (
    APART,
    OF_AN_OUTPUT,
    expect_both_directions,
    of_the_top,
    reference_lstm,
    results,
)

task = FunctionSpec(
    "ends_from_output",
    inputs={"output": "B T 2H", "hidden_size": lambda draw: draw.sizes.H},
    outputs={"vector": "B 2H"},
    reference="reference_ends_from_output:ends",
)

test_shape = task.shape(
    APART,
    explain=lambda answer, call: expect_both_directions(answer, "vector", "B 2H", call.sizes),
    title="It returns one vector per sequence, (batch, 2·hidden).",
)


@points(1)
@rule("values")
@needs(test_shape)
def test_final_states(submission, sizes, draw):
    """It reads the top layer's two final states from the output of one layer and of three."""
    for layers, context in ((1, "from the output of one layer"), (3, "from the output of three layers")):
        here = APART.draw(draw.at(sizes.but(L=layers)))
        lstm, x = reference_lstm(here), here("B T D")
        output, wanted, hidden = results(lstm, x)[0], of_the_top(lstm, x), here.sizes.H
        answer = submission.ends_from_output(output, hidden)
        backward_first = torch.cat([wanted[:, hidden:], wanted[:, :hidden]], dim=1)
        other_ends = torch.cat([output[:, 0, :hidden], output[:, -1, hidden:]], dim=1)
        with case(context):
            expect_no_slip(
                answer,
                wanted,
                {
                    "These are both halves of `output` at the last time step. How many inputs has the "
                    "backward direction read there?": output[:, -1],
                    "These are both halves of `output` at the first time step. How many inputs has the "
                    "forward direction read there?": output[:, 0],
                    "Each half is taken where its direction has read only one input: the two ends are "
                    "swapped.": other_ends,
                    "These are the right states in the wrong order: forward comes first.": backward_first,
                },
            )
            expect(answer, wanted, names="vector", dims="B 2H", sizes=here.sizes)


test_any_size = task.any_size(
    *OF_AN_OUTPUT,
    title="It works for one step, one sequence, long sequences, equal sizes, and non-contiguous inputs.",
    points=0.5,
    needs=[test_final_states],
)
test_gradients = task.gradients(
    sized("with several time steps", T=(40, 130), H=2),
    sized("with one sequence of one step", B=1, T=1),
    if_right=True,
    title="Gradients flow back to both ends of the output.",
    points=0.5,
    needs=[test_final_states],
)
test_dtype = task.dtypes(title="The vector has the dtype of the output.", needs=[test_shape])
test_device = task.devices(
    title="With the output on a GPU, the vector is created there.", needs=[test_shape, test_dtype]
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the output unchanged.", needs=[test_final_states]
)
