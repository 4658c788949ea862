"""`sentence_vector(h_n, num_layers)`: the top layer's final forward, then backward state."""

import torch

from autograder.checking import (
    case,
    computed_once,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.bidirectional.given import (
    apart,
    expect_both_directions,
    expect_no_slip,
    of_the_top,
    reference_lstm,
    results,
)
from autograder.exercises.several import expect_each, far_apart, if_right

RESULTS = {"names": "vector", "dims": "B 2H"}


@recorded
@computed_once
def joined(h_n, num_layers):
    return h_n.unflatten(0, (num_layers, 2))[-1].permute(1, 0, 2).flatten(1)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one vector a sequence, (batch, 2·hidden)."""
    here = apart(draw)
    h_n = here("2L B H")
    answer = submission.sentence_vector(h_n, here.sizes.L)
    expect_both_directions(answer, "vector", "B 2H", here.sizes)
    expect(answer, joined(h_n, here.sizes.L), **RESULTS, sizes=here.sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_top_layer(submission, sizes, draw):
    """Of three layers it takes the top one: its final forward state, then its final backward state."""
    here = apart(draw)
    lstm, x = reference_lstm(here), here("B T D")
    h_n, wanted, layers = results(lstm, x)[1], of_the_top(lstm, x), here.sizes.L
    answer = submission.sentence_vector(h_n, layers)
    (first, last), bottom = wanted.chunk(2, dim=1), h_n[:2]
    expect_no_slip(
        answer,
        {
            "These are the top layer's two states with the backward one in front: forward comes first.": (
                torch.cat([last, first], dim=1)
            ),
            "These are the states of layer 0. The top layer is wanted: where in `h_n` does it stand?": (
                torch.cat(tuple(bottom), dim=1)
            ),
            "Both halves are the backward state: `h_n[-1]` is only one of the top layer's two.": (
                torch.cat([last, last], dim=1)
            ),
            "Each half is a last state, but of different layers. `h_n` goes layer by layer: both directions "
            "of layer 0, then both of layer 1, and so on.": torch.cat([h_n[layers - 1], h_n[-1]], dim=1),
            "The right numbers in the wrong sequences: the batch stands between the directions and the "
            "hidden units, and a `reshape` or `view` never moves a dimension.": h_n[-2:].reshape(
                wanted.shape
            ),
        },
    )
    expect(answer, wanted, **RESULTS, sizes=here.sizes)


@points(0.5)
@rule("generality")
@needs(test_top_layer)
def test_any_size(submission, sizes, draw):
    """It works for one layer, five layers, one sequence, equal sizes, and non-contiguous states."""
    calls = [
        (context, other, (draw.at(other)("2L B H"), other.L))
        for other, context in (
            (sizes.but(L=1), "with one layer (L = 1)"),
            (sizes.but(L=2), "with two layers"),
            (sizes.but(L=5), "with five layers"),
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(H=1), "with one hidden unit a direction"),
            (sizes.but(B=1, H=1, L=1), "with every size 1"),
            (sizes.but(B=2, H=2, L=2), "with every size 2"),
            (sizes.but(B=draw.size(20, 70), H=2, L=draw.size(6, 13)), "with more of everything"),
            (sizes.but(B=2, H=draw.size(33, 130), L=1), "with many hidden units"),
        )
    ]
    calls += [
        ("with states that are not contiguous in memory", sizes, (draw.strided("2L B H"), sizes.L)),
        ("with numbers from very small to very large", sizes, (far_apart(draw("2L B H"), 1), sizes.L)),
    ]
    expect_each(submission.sentence_vector, joined, calls, **RESULTS)


@points(0.5)
@rule("gradient")
@needs(test_top_layer)
def test_gradients(submission, sizes, draw):
    """Gradients flow back to both of the top layer's states."""
    for other, context in (
        (sizes.but(B=draw.size(20, 70), H=2, L=draw.size(6, 13)), "with several layers"),
        (sizes.but(B=1, L=1), "with one sequence and one layer"),
    ):
        task, arguments = submission.sentence_vector, (draw.at(other)("2L B H"), other.L)
        with case(context), if_right(task, arguments, joined(*arguments), **RESULTS, sizes=other):
            expect_gradients(task, joined, arguments, names=("h_n",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the states is the dtype of the vector."""
    expect_dtypes(submission.sentence_vector, (draw("2L B H"), sizes.L), names="vector")


@points(0)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the states on a GPU the vector is made there."""
    expect_device_neutral(submission.sentence_vector, (draw("2L B H"), sizes.L), names="vector")


@points(0)
@rule("mutation")
@needs(test_top_layer)
def test_arguments_untouched(submission, sizes, draw):
    """The states are the same after the call as before."""
    arguments = (draw("2L B H"), sizes.L)
    expect_untouched(submission.sentence_vector.run(arguments), arguments, ("h_n", "num_layers"))
