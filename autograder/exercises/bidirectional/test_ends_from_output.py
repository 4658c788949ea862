"""`ends_from_output(output, hidden_size)`: the final states of both directions, read from the output."""

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
def ends(output, hidden_size):
    forward, backward = output.split(hidden_size, dim=2)
    return torch.cat([forward.select(1, output.shape[1] - 1), backward.select(1, 0)], dim=1)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one vector a sequence, (batch, 2·hidden)."""
    here = apart(draw)
    output = here("B T 2H")
    answer = submission.ends_from_output(output, here.sizes.H)
    expect_both_directions(answer, "vector", "B 2H", here.sizes)
    expect(answer, ends(output, here.sizes.H), **RESULTS, sizes=here.sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_final_states(submission, sizes, draw):
    """From one layer's or three layers' output it reads the top layer's two final states."""
    for layers, context in ((1, "from the output of one layer"), (3, "from the output of three layers")):
        here = apart(draw.at(sizes.but(L=layers)))
        lstm, x = reference_lstm(here), here("B T D")
        output, wanted, hidden = results(lstm, x)[0], of_the_top(lstm, x), here.sizes.H
        answer = submission.ends_from_output(output, hidden)
        backward_first = torch.cat([wanted[:, hidden:], wanted[:, :hidden]], dim=1)
        other_ends = torch.cat([output[:, 0, :hidden], output[:, -1, hidden:]], dim=1)
        with case(context):
            expect_no_slip(
                answer,
                {
                    "This is `output` at the last time step, both halves. How many inputs has the backward "
                    "direction read there?": output[:, -1],
                    "This is `output` at the first time step, both halves. How many inputs has the forward "
                    "direction read there?": output[:, 0],
                    "Each half is taken where its direction has read one input only: the ends have changed "
                    "places.": other_ends,
                    "The right states in the wrong order: forward comes first.": backward_first,
                },
            )
            expect(answer, wanted, **RESULTS, sizes=here.sizes)


@points(0.5)
@rule("generality")
@needs(test_final_states)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, long sequences, equal sizes, and non-contiguous inputs."""
    calls = [
        (context, other, (draw.at(other)("B T 2H"), other.H))
        for other, context in (
            (sizes.but(T=1), "with one time step (T = 1)"),
            (sizes.but(T=2), "with two time steps"),
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(H=1), "with one hidden unit a direction"),
            (sizes.but(B=1, T=1, H=1), "with every size 1"),
            (sizes.but(B=4, T=4, H=4), "with every size 4"),
            (sizes.but(T=23), "with a longer sequence"),
            (sizes.but(B=draw.size(20, 70), T=draw.size(40, 130), H=1), "with more of everything"),
            (sizes.but(B=2, T=2, H=draw.size(33, 130)), "with many hidden units"),
        )
    ]
    calls += [
        ("with an output that is not contiguous in memory", sizes, (draw.strided("B T 2H"), sizes.H)),
        ("with numbers from very small to very large", sizes, (far_apart(draw("B T 2H"), 1), sizes.H)),
    ]
    expect_each(submission.ends_from_output, ends, calls, **RESULTS)


@points(0.5)
@rule("gradient")
@needs(test_final_states)
def test_gradients(submission, sizes, draw):
    """Gradients flow back to both ends of the output."""
    for other, context in (
        (sizes.but(T=draw.size(40, 130), H=2), "with several time steps"),
        (sizes.but(B=1, T=1), "with one sequence of one step"),
    ):
        task, arguments = submission.ends_from_output, (draw.at(other)("B T 2H"), other.H)
        with case(context), if_right(task, arguments, ends(*arguments), **RESULTS, sizes=other):
            expect_gradients(task, ends, arguments, names=("output",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of the vector."""
    expect_dtypes(submission.ends_from_output, (draw("B T 2H"), sizes.H), names="vector")


@points(0)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the output on a GPU the vector is made there."""
    expect_device_neutral(submission.ends_from_output, (draw("B T 2H"), sizes.H), names="vector")


@points(0)
@rule("mutation")
@needs(test_final_states)
def test_arguments_untouched(submission, sizes, draw):
    """The output is the same after the call as before."""
    arguments = (draw("B T 2H"), sizes.H)
    expect_untouched(submission.ends_from_output.run(arguments), arguments, ("output", "hidden_size"))
