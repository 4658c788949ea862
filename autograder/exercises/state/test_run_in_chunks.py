"""`run_in_chunks(lstm, x, chunk_size, state=None)`: a long sequence in short calls, the state carried."""

import itertools
import math

from torch import nn

from autograder.checking import (
    Case,
    FunctionSpec,
    Handed,
    case,
    needs,
    points,
    reference,
    rule,
    standard,
    worth,
)
from autograder.exercises.handed import expect_calls
from autograder.exercises.state.given import random_state, reference_lstm

STEPS, CHUNK = 14, 5
"""Two full chunks and a short one."""

task = FunctionSpec(
    "run_in_chunks",
    inputs={
        "lstm": Handed(nn.LSTM, "D", "H", "L", batch_first=True),
        "x": "B T D",
        "chunk_size": lambda draw: CHUNK,
        "state": {"h_0": "L B H", "c_0": "L B H"},
    },
    outputs={"output": "B T H", "state": {"h_n": "L B H", "c_n": "L B H"}},
    reference=lambda lstm, x, chunk_size, state=None: lstm(x, state),
)


def sequence(draw):
    """STEPS steps of input, whatever the size of T: no smaller number of them is told as showing a fault."""
    return draw.like((draw.sizes.B, STEPS, draw.sizes.D))


WHOLE = Case(sizes={"T": STEPS}, given={"x": sequence})
WITHOUT_STATE = WHOLE.leaving_out("state", words="without a state")
BOTH_WAYS = (WITHOUT_STATE, WHOLE.named("with a state"))


def in_chunks_of(chunk_size, words, **sizes):
    """A case with chunks of this size, or of one from a range."""
    few, many = chunk_size if isinstance(chunk_size, tuple) else (chunk_size, chunk_size)
    return Case(words, sizes, given={"chunk_size": lambda draw: draw.size(few, many)})


standard(
    task,
    shape=worth(
        0,
        WHOLE,
        title="It returns (output, (h_n, c_n)): every step of the top layer, and the final states of all "
        "layers.",
    ),
    values=worth(
        0.5,
        WHOLE,
        name="matches_one_call",
        title="In chunks, from a given state, it gives the same as one call on the whole sequence.",
    ),
    any_size=worth(
        0.5,
        in_chunks_of(4, "with chunks that divide the sequence evenly (12 steps, 4 per chunk)", T=12),
        in_chunks_of(5, "with one step left for the last chunk (11 steps, 5 per chunk)", T=11),
        in_chunks_of(1, "with one step per chunk", T=7),
        in_chunks_of(7, "with the whole sequence in one chunk", T=7),
        in_chunks_of(50, "with a chunk longer than the sequence", T=3),
        in_chunks_of(3, "with one time step (T = 1)", T=1),
        in_chunks_of(3, "with one sequence (B = 1)", B=1, T=8),
        in_chunks_of(3, "with one layer (L = 1)", L=1, T=8),
        in_chunks_of(2, "with every size 4", B=4, T=4, D=4, H=4, L=4),
        in_chunks_of((2, 4), "with many chunks", B=2, T=(70, 130), H=2, L=1),
        in_chunks_of(2, "with many sequences and layers", B=(20, 70), T=3, H=2, L=(5, 9)),
        Case("with inputs that are not contiguous in memory", sizes={"T": STEPS}, is_strided=True),
        title="It works for every length of sequence and chunk, one sequence, one layer, and non-contiguous "
        "inputs.",
    ),
    gradients=worth(
        0.5,
        in_chunks_of(3, "with several chunks", T=(25, 32), L=2),
        in_chunks_of(3, "", B=1, T=7).leaving_out(
            "state", words="with one sequence (B = 1), without a state"
        ),
        in_chunks_of(50, "with a chunk longer than the sequence", T=3, L=1),
        title="Gradients flow back through every chunk to the input, the first state and the LSTM's weights.",
        if_right=True,
        tell="Is the state cut off from the graph, between two chunks or at the end, or is the output? In "
        "this task nothing may be detached.",
    ),
    dtypes=worth(
        0,
        *BOTH_WAYS,
        title="The results have the dtype of the LSTM and its input, with and without a state.",
    ),
    devices=worth(
        0,
        *BOTH_WAYS,
        title="With the LSTM and its input on a GPU, everything is created and computed there, with and "
        "without a state.",
    ),
    leaves_arguments=worth(
        0, WHOLE, title="The call leaves the sequence, the first state and the LSTM's weights unchanged."
    ),
)

test_default_state = task.values(
    WITHOUT_STATE,
    WITHOUT_STATE.named("without a state, called a second time"),
    same_modules=True,
    title="Without a state, it starts from zeros on every call, as nn.LSTM does.",
    points=0.5,
    needs=["matches_one_call"],
)

in_chunks = reference("reference_run_in_chunks:in_chunks")


def divisions(steps, chunk_size):
    """All ways to divide the steps into as few chunks as there can be, none of them too long."""
    lengths = range(1, min(steps, chunk_size) + 1)
    every = itertools.product(lengths, repeat=math.ceil(steps / chunk_size))
    return [list(each) for each in every if sum(each) == steps]


def expect_chunks(submission, draw, chunk_size, *, with_state=True):
    """Expect as many calls as there are chunks, none too long, for the steps of `draw`."""
    draw = draw.at(draw.sizes.but(B=7, H=6))  # every way to divide the steps is on record
    steps, wanted = draw.sizes.T, math.ceil(draw.sizes.T / chunk_size)
    lstm = reference_lstm(draw)
    rounds = [(draw("B T D"), chunk_size, random_state(draw))[: 2 + with_state] for _ in range(2)]

    def explain(calls):
        lengths = [shape[-2] for shape in calls if len(shape) > 1]
        if lengths and max(lengths) > chunk_size:
            return f"one call was given {max(lengths)} time steps, more than a chunk has."
        if len(calls) != wanted:
            return (
                f"the LSTM was called {len(calls)} times, with {', '.join(map(str, lengths[:8]))} steps; "
                "expected one call per chunk, with every chunk full except perhaps the last."
            )
        return ""

    def right(lstm, numbers, before, x, _, *state):
        return [in_chunks(lstm, numbers, before, each, x, *state) for each in divisions(steps, chunk_size)]

    how = "" if with_state else ", without a state"
    with case(f"with {steps} steps in chunks of {chunk_size}{how}"):
        expect_calls(task, submission, draw, lstm, rounds, right, explain, calls=wanted)


@points(0.5)
@rule("from-scratch")
@needs("matches_one_call")
def test_calls(submission, sizes, draw):
    """The LSTM is called once for each chunk, never with more steps than a chunk has."""
    expect_chunks(submission, draw.at(sizes.but(T=STEPS)), CHUNK)


@points(0)
@rule("from-scratch")
@needs(test_calls, test_default_state)
def test_calls_from_zeros(submission, sizes, draw):
    """Without a state, too, the LSTM is called once for each chunk."""
    expect_chunks(submission, draw.at(sizes.but(T=STEPS)), CHUNK, with_state=False)


@points(0)
@rule("from-scratch")
@needs(test_calls, "any_size")
def test_calls_at_any_length(submission, sizes, draw):
    """The LSTM is called once per chunk, even if the last chunk is full or is the only one."""
    chunk_size = 4 + int(draw.ints("1", 3))
    for steps, length in ((3 * chunk_size, chunk_size), (3 * chunk_size - 1, chunk_size), (3, 5)):
        expect_chunks(submission, draw.at(sizes.but(T=steps)), length)
