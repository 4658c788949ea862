"""`sentence_vector(h_n, num_layers)`: the top layer's final forward, then backward state."""

import torch

from autograder.checking import FunctionSpec, expect, expect_no_slip, needs, points, rule, sized
from autograder.exercises.bidirectional.given import (
    APART,
    OF_STATES,
    expect_both_directions,
    of_the_top,
    reference_lstm,
    results,
)

task = FunctionSpec(
    "sentence_vector",
    inputs={"h_n": "2L B H", "num_layers": lambda draw: draw.sizes.L},
    outputs={"vector": "B 2H"},
    reference="reference_sentence_vector:joined",
)

test_shape = task.shape(
    APART,
    explain=lambda answer, call: expect_both_directions(answer, "vector", "B 2H", call.sizes),
    title="It returns one vector per sequence, (batch, 2·hidden).",
)


@points(1)
@rule("values")
@needs(test_shape)
def test_top_layer(submission, sizes, draw):
    """It takes the top one of three layers: its final forward state, then its final backward state."""
    here = APART.draw(draw)
    lstm, x = reference_lstm(here), here("B T D")
    h_n, wanted, layers = results(lstm, x)[1], of_the_top(lstm, x), here.sizes.L
    answer = submission.sentence_vector(h_n, layers)
    (first, last), bottom = wanted.chunk(2, dim=1), h_n[:2]
    expect_no_slip(
        answer,
        wanted,
        {
            "These are the top layer's two states in the wrong order: forward comes first.": (
                torch.cat([last, first], dim=1)
            ),
            "These are layer 0's states. You need the top layer's: where are they in `h_n`?": (
                torch.cat(tuple(bottom), dim=1)
            ),
            "Both halves are the backward state: `h_n[-1]` is only one of the top layer's two.": (
                torch.cat([last, last], dim=1)
            ),
            "Each half is a final state, but the two are from different layers. `h_n` goes layer by layer: "
            "both directions of layer 0, then both of layer 1, and "
            "so on.": torch.cat([h_n[layers - 1], h_n[-1]], dim=1),
            "The right numbers are in the wrong sequences: the batch dimension is between the directions "
            "and the hidden units, and a `reshape` or `view` never moves a dimension.": h_n[-2:].reshape(
                wanted.shape
            ),
        },
    )
    expect(answer, wanted, names="vector", dims="B 2H", sizes=here.sizes)


test_any_size = task.any_size(
    *OF_STATES,
    title="It works for one layer, five layers, one sequence, equal sizes, and non-contiguous states.",
    points=0.5,
    needs=[test_top_layer],
)
test_gradients = task.gradients(
    sized("with several layers", B=(20, 70), H=2, L=(6, 13)),
    sized("with one sequence and one layer", B=1, L=1),
    if_right=True,
    title="Gradients flow back to both of the top layer's states.",
    points=0.5,
    needs=[test_top_layer],
)
test_dtype = task.dtypes(title="The vector has the dtype of the states.", needs=[test_shape])
test_device = task.devices(
    title="With the states on a GPU, the vector is created there.", needs=[test_shape, test_dtype]
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the states unchanged.", needs=[test_top_layer]
)
