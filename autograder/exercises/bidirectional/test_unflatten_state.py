"""`unflatten_state(h_n, num_layers, num_directions)`: layers and directions as dimensions of their own."""

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
    every_direction,
    expect_no_slip,
    reference_lstm,
    results,
)
from autograder.exercises.several import expect_each, far_apart, if_right


def dims(directions):
    return {"names": "states", "dims": f"L {directions} B H"}


@recorded
@computed_once
def unflattened(h_n, num_layers, num_directions):
    return h_n.unflatten(0, (num_layers, num_directions))


@recorded
def directions_first(h_n):
    """What a well-known slip gives."""
    return h_n.unflatten(0, (2, len(h_n) // 2))


def of_every_layer(lstm, x):
    """The final states one network of one layer and direction after the other: (L, directions, B, H)."""
    return torch.stack([torch.stack([h_n for _, h_n in layer]) for layer in every_direction(lstm, x)])


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one tensor, (layers, directions, batch, hidden)."""
    here = apart(draw)
    h_n = here("2L B H")
    answer = submission.unflatten_state(h_n, here.sizes.L, 2)
    expect_no_slip(
        answer,
        {
            "The directions have become the first dimension. `h_n` goes layer by layer, so layers come "
            "first, and this is not a matter of swapping dimensions afterwards.": directions_first(h_n),
        },
    )
    expect(answer, unflattened(h_n, here.sizes.L, 2), **dims(2), sizes=here.sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_two_directions(submission, sizes, draw):
    """In three bidirectional layers, [layer, 0] is the forward state and [layer, 1] the backward one."""
    here = apart(draw)
    lstm, x = reference_lstm(here), here("B T D")
    h_n, wanted = results(lstm, x)[1], of_every_layer(lstm, x)
    answer = submission.unflatten_state(h_n, here.sizes.L, 2)
    expect_no_slip(
        answer,
        {
            "The states are taken as all forward ones first, then all backward ones. `h_n` goes layer by "
            "layer: both directions of layer 0, then both of layer 1, and so on.": directions_first(
                h_n
            ).transpose(0, 1),
            "The two directions have changed places: the forward state of a layer comes first.": wanted.flip(
                1
            ),
        },
    )
    expect(answer, wanted, **dims(2), sizes=here.sizes)


@points(0.5)
@rule("generality")
@needs(test_two_directions)
def test_one_direction(submission, sizes, draw):
    """Of three one-directional layers, and of four, the second dimension has size 1."""
    # An even number of states may be taken for pairs of directions.
    for other, context in (
        (sizes, "with one direction"),
        (sizes.but(L=4), "with four layers of one direction"),
    ):
        here = draw.at(other)
        lstm, x = reference_lstm(here, directions=1), here("B T D")
        with case(context):
            answer = submission.unflatten_state(results(lstm, x)[1], other.L, 1)
            expect(answer, of_every_layer(lstm, x), **dims(1), sizes=other)
    calls = [
        (context, other, (draw.at(other)("L B H"), other.L, 1))
        for other, context in (
            (sizes.but(L=1), "with one layer of one direction"),
            (sizes.but(L=2 * draw.size(4, 7)), "with many layers of one direction"),
        )
    ]
    expect_each(submission.unflatten_state, unflattened, calls, **dims(1))


@points(0.5)
@rule("generality")
@needs(test_two_directions)
def test_any_size(submission, sizes, draw):
    """It works for one layer, five layers, one sequence, equal sizes, and non-contiguous states."""
    calls = [
        (context, other, (draw.at(other)("2L B H"), other.L, 2))
        for other, context in (
            (sizes.but(L=1), "with one layer (L = 1)"),
            (sizes.but(L=5), "with five layers"),
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(H=1), "with one hidden unit a direction"),
            (sizes.but(B=1, H=1, L=1), "with every size 1"),
            (sizes.but(B=2, H=2, L=2), "with every size 2"),
            (sizes.but(B=6, H=6, L=3), "with as many sequences and hidden units as states"),
            (sizes.but(B=draw.size(20, 70), H=2, L=draw.size(6, 13)), "with more of everything"),
            (sizes.but(B=2, H=draw.size(33, 130), L=1), "with many hidden units"),
        )
    ]
    calls += [
        ("with states that are not contiguous in memory", sizes, (draw.strided("2L B H"), sizes.L, 2)),
        ("with numbers from very small to very large", sizes, (far_apart(draw("2L B H"), 0), sizes.L, 2)),
    ]
    expect_each(submission.unflatten_state, unflattened, calls, **dims(2))


@points(0.5)
@rule("gradient")
@needs(test_two_directions)
def test_gradients(submission, sizes, draw):
    """Gradients flow back to every state."""
    for other, directions, context in (
        (sizes.but(B=draw.size(20, 70), H=2, L=draw.size(6, 13)), 2, "with several layers"),
        (sizes.but(B=1, L=1), 1, "with one sequence, one layer and one direction"),
    ):
        task = submission.unflatten_state
        arguments = (draw.like((directions * other.L, other.B, other.H)), other.L, directions)
        right = unflattened(*arguments)
        with case(context), if_right(task, arguments, right, **dims(directions), sizes=other):
            expect_gradients(task, unflattened, arguments, names=("h_n",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the states stays what it is."""
    expect_dtypes(submission.unflatten_state, (draw("2L B H"), sizes.L, 2), names="states")


@points(0)
@rule("device")
@needs(test_gradients, test_dtype)
def test_device(submission, sizes, draw):
    """With the states on a GPU they stay there."""
    expect_device_neutral(submission.unflatten_state, (draw("2L B H"), sizes.L, 2), names="states")


@points(0)
@rule("mutation")
@needs(test_two_directions)
def test_arguments_untouched(submission, sizes, draw):
    """The states passed in are the same after the call as before."""
    arguments = (draw("2L B H"), sizes.L, 2)
    names = ("h_n", "num_layers", "num_directions")
    expect_untouched(submission.unflatten_state.run(arguments), arguments, names)
