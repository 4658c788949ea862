"""`run_in_chunks(lstm, x, chunk_size, state=None)`: a long sequence in short calls, the state carried."""

import itertools
import math

import torch

from autograder.checking import (
    ask_all,
    case,
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
from autograder.exercises.handed import (
    driven_here,
    each_driven,
    elsewhere,
    expect_driven,
    expect_weights_untouched,
    hand_over,
    hand_over_driven,
    marks,
)
from autograder.exercises.several import if_right
from autograder.exercises.state.given import random_state, reference_lstm, strided_state

RESULTS = {"names": ("output", "h_n", "c_n"), "dims": ("B T H", "L B H", "L B H")}
STEPS, CHUNK = 13, 5
"""Two full chunks and a short one."""
SHORT = 3
"""A chunk so short that there are many."""


def sequence(draw):
    """STEPS steps of input, whatever the size of T: no smaller number of them is told as showing a fault."""
    return draw.like((draw.sizes.B, STEPS, draw.sizes.D))


@recorded
def in_chunks(lstm, numbers, before, x, state, lengths):
    """What a driven LSTM gives that is called with chunks of these lengths, after so many calls before."""
    given, outputs = driven_here(lstm, numbers, before), []
    for chunk in x.split(lengths, dim=1):
        output, state = given(chunk, state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state


def divisions(steps, chunk_size):
    """All ways to divide the steps into as few chunks as there can be, none of them too long."""
    lengths = range(1, min(steps, chunk_size) + 1)
    every = itertools.product(lengths, repeat=math.ceil(steps / chunk_size))
    return [list(each) for each in every if sum(each) == steps]


def expect_chunks(submission, draw, chunk_size):
    """As many calls as there are chunks, none too long, for the sizes of `draw`."""
    steps, wanted = draw.sizes.T, math.ceil(draw.sizes.T / chunk_size)
    lstm, numbers = reference_lstm(draw), marks(draw)
    rounds = [(draw("B T D"), chunk_size, random_state(draw)) for _ in range(2)]
    given = hand_over_driven(submission, lstm, numbers)

    def explain(calls):
        lengths = [shape[-2] for shape in calls if len(shape) > 1]
        if lengths and max(lengths) > chunk_size:
            return f"one call was given {max(lengths)} time steps, more than a chunk has."
        if len(calls) != wanted:
            return (
                f"the LSTM was called {len(calls)} times, with {', '.join(map(str, lengths[:8]))} "
                "steps; expected one call a chunk, all chunks full but the last."
            )
        return elsewhere("lstm")

    right = [
        [in_chunks(lstm, numbers, before, x, state, each) for each in divisions(steps, chunk_size)]
        for before, (x, _, state) in zip((0, wanted), rounds, strict=True)
    ]
    with case(f"with {steps} steps in chunks of {chunk_size}"):
        answers = each_driven(submission.run_in_chunks, given, lstm, rounds)
        expect_driven(answers, right, given, explain, **RESULTS, sizes=draw.sizes)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns (output, (h_n, c_n)): every step of the top layer, and the last states of all layers."""
    sizes = sizes.but(T=STEPS)
    draw = draw.at(sizes)
    lstm, x, state = reference_lstm(draw), draw("B T D"), random_state(draw)
    answer = submission.run_in_chunks(hand_over(submission, lstm), x, CHUNK, state)
    expect(answer, lstm(x, state), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_one_call(submission, sizes, draw):
    """In chunks, from a given state, it gives what one call over the whole sequence gives."""
    sizes = sizes.but(T=STEPS)
    draw = draw.at(sizes)
    lstm, x, state = reference_lstm(draw), sequence(draw), random_state(draw)
    answer = submission.run_in_chunks(hand_over(submission, lstm), x, CHUNK, state)
    expect(answer, lstm(x, state), **RESULTS, sizes=sizes)


@points(0.5)
@rule("from-scratch")
@needs(test_matches_one_call)
def test_calls(submission, sizes, draw):
    """The LSTM is called once for each chunk, never with more steps than a chunk has."""
    expect_chunks(submission, draw.at(sizes.but(T=STEPS)), CHUNK)


@points(0.5)
@rule("values")
@needs(test_matches_one_call)
def test_default_state(submission, sizes, draw):
    """Without a state it starts from zeros, as nn.LSTM does, on every call."""
    sizes = sizes.but(T=STEPS)
    draw = draw.at(sizes)
    lstm, x = reference_lstm(draw), sequence(draw)
    given = hand_over(submission, lstm)
    for context in ("without a state", "without a state, called a second time"):
        with case(context):
            expect(submission.run_in_chunks(given, x, CHUNK), lstm(x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_one_call)
def test_any_size(submission, sizes, draw):
    """It works for every length of sequence and chunk, one sequence, one layer, and strided inputs."""
    calls = []
    for other, chunk_size, context in (
        (sizes.but(T=12), 4, "with chunks that divide the sequence evenly (12 steps, 4 a chunk)"),
        (sizes.but(T=11), 5, "with one step left for the last chunk (11 steps, 5 a chunk)"),
        (sizes.but(T=7), 1, "with one step a chunk"),
        (sizes.but(T=7), 7, "with the whole sequence in one chunk"),
        (sizes.but(T=3), 50, "with a chunk longer than the sequence"),
        (sizes.but(T=1), 3, "with one time step (T = 1)"),
        (sizes.but(B=1, T=8), 3, "with one sequence (B = 1)"),
        (sizes.but(L=1, T=8), 3, "with one layer (L = 1)"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), 2, "with every size 4"),
        (sizes.but(B=2, T=draw.size(70, 130), H=2, L=1), draw.size(2, 4), "with many chunks"),
        (sizes.but(B=draw.size(20, 70), T=3, H=2, L=draw.size(5, 9)), 2, "with many sequences and layers"),
    ):
        here = draw.at(other)
        lstm, x, state = reference_lstm(here), here("B T D"), random_state(here)
        calls.append((lstm, x, chunk_size, state, other, context))
    here = draw.at(sizes.but(T=STEPS))
    lstm, x, state = reference_lstm(here), here.strided("B T D"), strided_state(here)
    calls.append((lstm, x, CHUNK, state, here.sizes, "with inputs that are not contiguous in memory"))
    requests = [
        submission.run_in_chunks.request(hand_over(submission, lstm), *arguments)
        for lstm, *arguments, _, _ in calls
    ]
    for answer, (lstm, x, _, state, other, context) in zip(ask_all(requests), calls, strict=True):
        with case(context):
            expect(answer(), lstm(x, state), **RESULTS, sizes=other)


@points(0)
@rule("from-scratch")
@needs(test_calls, test_any_size)
def test_calls_at_any_length(submission, sizes, draw):
    """The LSTM is called once for each chunk also where the chunks come out even, and for a single one."""
    chunk_size = 4 + int(draw.ints("1", 3))
    for steps, length in ((3 * chunk_size, chunk_size), (3 * chunk_size - 1, chunk_size), (3, 5)):
        expect_chunks(submission, draw.at(sizes.but(T=steps)), length)


@points(0.5)
@rule("gradient")
@needs(test_matches_one_call)
def test_gradients(submission, sizes, draw):
    """Gradients flow back through every chunk to the input, the first state and the LSTM's weights."""
    long, one, whole = sizes.but(T=draw.size(25, 32), L=2), sizes.but(B=1, T=7), sizes.but(T=3, L=1)
    for other, chunk_size, state, context in (
        (long, SHORT, random_state(draw.at(long)), "with several chunks"),
        (one, SHORT, None, "with one sequence (B = 1), without a state"),
        (whole, 50, random_state(draw.at(whole)), "with a chunk longer than the sequence"),
    ):
        here = draw.at(other)
        lstm, x = reference_lstm(here), here("B T D")
        arguments = (hand_over(submission, lstm), x, chunk_size, *([state] if state else []))
        right = lstm(x, state)
        with case(context), if_right(submission.run_in_chunks, arguments, right, **RESULTS, sizes=other):
            expect_gradients(
                submission.run_in_chunks,
                lambda _, x, chunk_size, state=None, lstm=lstm: lstm(x, state),
                arguments,
                names=("x", "h_0", "c_0"),
                parameters=dict(lstm.named_parameters()),
                draw=draw,
                tell="Is the state cut off from the graph, between two chunks or at the end, or is the "
                "output? Here the graph stays whole.",
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the LSTM and its input is the dtype of the results, with and without a state."""
    lstm, x = reference_lstm(draw), sequence(draw)
    for rest, context in (((), "without a state"), ((random_state(draw),), "with a state")):
        with case(context):
            expect_dtypes(
                submission.run_in_chunks,
                lambda rest=rest: (hand_over(submission, lstm), x, CHUNK, *rest),
                names=RESULTS["names"],
            )


@points(0)
@rule("device")
@needs(test_shape, test_matches_one_call, test_dtype)
def test_device(submission, sizes, draw):
    """With the LSTM and its input on a GPU everything is made and stays there, with and without a state."""
    lstm, x = reference_lstm(draw), sequence(draw)
    for rest, context in (((), "without a state"), ((random_state(draw),), "with a state")):
        with case(context):
            expect_device_neutral(
                submission.run_in_chunks,
                lambda rest=rest: (hand_over(submission, lstm), x, CHUNK, *rest),
                names=RESULTS["names"],
            )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The sequence, the first state and the LSTM's weights are the same after the call as before."""
    draw = draw.at(sizes.but(T=STEPS))
    lstm, x, state = reference_lstm(draw), draw("B T D"), random_state(draw)
    given = hand_over(submission, lstm)
    call = submission.run_in_chunks.run((given, x, CHUNK, state))
    names = ("lstm", "x", "chunk_size", "state")
    expect_untouched(call, (None, x, CHUNK, state), names, unjudged=("mode",))
    expect_weights_untouched(given, lstm, "lstm")
