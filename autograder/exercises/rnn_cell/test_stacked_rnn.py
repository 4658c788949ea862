"""`stacked_rnn(rnn, x, h_0)`: what a deep nn.RNN computes, recomputed from its own weights."""

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_follows,
    expect_gradients,
    expect_untouched,
    hidden,
    needs,
    points,
    rule,
    without,
)
from autograder.exercises.from_scratch import RECURRENT, expect_from_scratch
from autograder.exercises.handed import expect_weights_untouched
from autograder.exercises.longer import short_and_long
from autograder.exercises.rnn_cell.given import hand_over, reference_rnn

RESULTS = {"names": ("output", "h_n"), "dims": ("B T H", "L B H")}


@points(0)
@rule("from-scratch")
@without(RECURRENT)
def test_from_scratch(submission, sizes, draw):
    """The stack is computed from the weights, without calling the RNN or another of torch's."""
    given = hand_over(submission, reference_rnn(draw))
    expect_from_scratch(
        submission, "stacked_rnn", submission.stacked_rnn, (given, draw("B T D"), draw("L B H"))
    )


@points(0)
@rule("shape")
@needs(test_from_scratch)
def test_shape(submission, sizes, draw):
    """It returns the top layer's steps (batch, time, hidden) and all last states (layers, batch, hidden)."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    answer = submission.stacked_rnn(hand_over(submission, rnn), x, h_0)
    expect(answer, rnn(x, h_0), **RESULTS, sizes=sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape, test_from_scratch)
def test_matches_torch(submission, sizes, draw):
    """Output and every layer's final state equal those of the given three-layer RNN."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    answer = submission.stacked_rnn(hand_over(submission, rnn), x, h_0)
    expect(answer, rnn(x, h_0), **RESULTS, sizes=sizes)


@points(0)
@rule("values")
@needs(test_matches_torch)
def test_follows_the_weights(submission, sizes, draw):
    """After the RNN's weights have changed, it computes with the new ones."""
    here = draw.at(sizes.but(T=2))
    networks, x, h_0 = [reference_rnn(here) for _ in range(3)], here("B T D"), here("L B H")
    states = [dict(rnn.state_dict()) for rnn in networks]
    right = dict(zip(map(id, states), networks, strict=True))
    given = hand_over(submission, networks[0])
    expect_follows(
        submission,
        given,
        lambda: submission.stacked_rnn.request(given, x, h_0),
        lambda held: right[id(held)](x, h_0),
        states,
        **RESULTS,
        sizes=here.sizes,
    )


@points(0.5)
@rule("generality")
@hidden("It works for networks of other depths and sizes than the ones you saw.")
@needs(test_matches_torch)
def test_any_depth(submission, sizes, draw):
    """It works for one, five and twelve layers, one sequence, one step, equal sizes, strided inputs."""
    for other, context in (
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(L=5), "with five layers"),
        (sizes.but(L=12), "with twelve layers"),  # the names of layers 1 and 11 end alike
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), "with every size 4"),
    ):
        here = draw.at(other)
        rnn, x, h_0 = reference_rnn(here), here("B T D"), here("L B H")
        with case(context):
            expect(
                submission.stacked_rnn(hand_over(submission, rnn), x, h_0),
                rnn(x, h_0),
                **RESULTS,
                sizes=other,
            )
    rnn, x, h_0 = reference_rnn(draw), draw.strided("B T D"), draw.strided("L B H")
    with case("with inputs that are not contiguous in memory"):
        expect(
            submission.stacked_rnn(hand_over(submission, rnn), x, h_0), rnn(x, h_0), **RESULTS, sizes=sizes
        )


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input, the initial states and every layer's weights."""
    for here, context in short_and_long(draw):
        rnn = reference_rnn(here)
        with context:
            expect_gradients(
                submission.stacked_rnn,
                lambda _, x, h_0, rnn=rnn: rnn(x, h_0),
                (hand_over(submission, rnn), here("B T D"), here("L B H")),
                names=("x", "h_0"),
                parameters=dict(rnn.named_parameters()),
                draw=here,
                tell="Are the states detached, or the weights read through `.data` or `state_dict()`?",
            )


@points(0)
@rule("dtype")
@needs(test_shape, test_from_scratch)
def test_dtype(submission, sizes, draw):
    """The dtype of the RNN and its input is the dtype of the results."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    expect_dtypes(
        submission.stacked_rnn, lambda: (hand_over(submission, rnn), x, h_0), names=RESULTS["names"]
    )


@points(0.5)
@rule("device")
@needs(test_shape, test_from_scratch, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the RNN and its input on a GPU everything is made and stays there."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    expect_device_neutral(
        submission.stacked_rnn, lambda: (hand_over(submission, rnn), x, h_0), names=RESULTS["names"]
    )


@points(0.5)
@rule("mutation")
@needs(test_matches_torch)
def test_arguments_untouched(submission, sizes, draw):
    """The sequence, the initial states and the RNN's weights are the same after the call as before."""
    rnn, x, h_0 = reference_rnn(draw), draw("B T D"), draw("L B H")
    given = hand_over(submission, rnn)
    expect_untouched(submission.stacked_rnn.run((given, x, h_0)), (None, x, h_0), ("rnn", "x", "h_0"))
    expect_weights_untouched(given, rnn, "rnn")
