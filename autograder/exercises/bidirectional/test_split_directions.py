"""`split_directions(output, hidden_size)`: the two directions' halves of a bidirectional output."""

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

RESULTS = {"names": ("forward", "backward"), "dims": "B T H"}


@recorded
@computed_once
def halves(output, hidden_size):
    return output.split(hidden_size, dim=2)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns two tensors, forward and backward, each (batch, time, hidden)."""
    here = apart(draw)
    output = here("B T 2H")
    answer = submission.split_directions(output, here.sizes.H)
    expect(answer, halves(output, here.sizes.H), **RESULTS, sizes=here.sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_each_direction(submission, sizes, draw):
    """Each half is what that direction of an nn.LSTM computes by itself, step for step."""
    here = apart(draw)
    lstm, x = reference_lstm(here), here("B T D")
    answer = submission.split_directions(results(lstm, x)[0], here.sizes.H)
    forward, backward = (output for output, _ in every_direction(lstm, x)[-1])
    expect_no_slip(
        answer,
        {
            "The two directions have changed places: which half of `output` comes first?": (
                backward,
                forward,
            ),
            "Every other number went to each half. A direction's numbers stand together: first all of the "
            "forward ones, then all of the backward ones.": (
                torch.cat([forward, backward], dim=2)[..., ::2],
                torch.cat([forward, backward], dim=2)[..., 1::2],
            ),
            "The backward half has been turned round in time. In `output` both directions stand at the time "
            "step they belong to, so nothing is left to turn.": (forward, backward.flip(1)),
        },
    )
    expect(answer, (forward, backward), **RESULTS, sizes=here.sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_each_direction)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one hidden unit, equal sizes, and non-contiguous inputs."""
    many = sizes.but(B=draw.size(12, 30), T=draw.size(31, 70), H=draw.size(1, 2))
    calls = [
        (context, other, (draw.at(other)("B T 2H"), other.H))
        for other, context in (
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(T=1), "with one time step (T = 1)"),
            (sizes.but(H=1), "with one hidden unit a direction"),
            (sizes.but(B=1, T=1, H=1), "with every size 1"),
            (sizes.but(B=4, T=4, H=4), "with every size 4"),
            (sizes.but(T=6, H=3), "with as many time steps as numbers in the last dimension"),
            (many, "with more of everything"),
            (sizes.but(B=1, T=2, H=draw.size(33, 130)), "with many hidden units"),
        )
    ]
    scaled = far_apart(draw("B T 2H"), 1)
    calls += [
        ("with an output that is not contiguous in memory", sizes, (draw.strided("B T 2H"), sizes.H)),
        ("with numbers from very small to very large", sizes, (scaled, sizes.H)),
    ]
    expect_each(submission.split_directions, halves, calls, **RESULTS)


@points(0.5)
@rule("gradient")
@needs(test_matches_each_direction)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through both halves."""
    for other, context in (
        (sizes.but(T=draw.size(31, 130), H=2), "with several time steps"),
        (sizes.but(B=1, T=1), "with one sequence of one step"),
    ):
        task, arguments = submission.split_directions, (draw.at(other)("B T 2H"), other.H)
        with case(context), if_right(task, arguments, halves(*arguments), **RESULTS, sizes=other):
            expect_gradients(task, halves, arguments, names=("output",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of both halves."""
    expect_dtypes(submission.split_directions, (draw("B T 2H"), sizes.H), names=RESULTS["names"])


@points(0)
@rule("device")
@needs(test_gradients, test_dtype)
def test_device(submission, sizes, draw):
    """With the output on a GPU both halves stay there."""
    expect_device_neutral(submission.split_directions, (draw("B T 2H"), sizes.H), names=RESULTS["names"])


@points(0)
@rule("mutation")
@needs(test_matches_each_direction)
def test_arguments_untouched(submission, sizes, draw):
    """The output is the same after the call as before."""
    arguments = (draw("B T 2H"), sizes.H)
    expect_untouched(submission.split_directions.run(arguments), arguments, ("output", "hidden_size"))
