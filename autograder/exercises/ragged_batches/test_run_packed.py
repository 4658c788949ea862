"""`run_packed(lstm, x, lengths)`: a batch-first nn.LSTM over a packed batch, padded back afterwards."""

import torch
from torch import nn

from autograder.checking import FunctionSpec, Handed, fail, needs, points, reference, rule, standard, worth
from autograder.exercises.handed import expect_calls
from autograder.exercises.ragged_batches.given import (
    HUGE,
    ROOMY,
    each_place,
    equal,
    padding,
    ragged_lengths,
    room,
)


def expect_unpacked(answer, call):
    """Expect `output` to be padded back; a packed one comes as a tuple of four."""
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], tuple) and len(answer[0]) == 4:
        fail("`output` is still a `PackedSequence`. Pad it back, so that it is (batch, time, hidden) again.")


def expect_every_step(answer, call):
    """Expect `output` to have the steps of `x`, not those of the longest sequence."""
    output = answer[0] if isinstance(answer, (list, tuple)) and answer else None
    longest = int(call.arguments[2].max())
    if isinstance(output, torch.Tensor) and output.dim() == 3 and output.shape[1] == longest:
        fail(
            f"`output` has {longest} steps, as many as the longest sequence; expected the {call.sizes.T} "
            "steps that `x` has. What you return must match the other tensors of the batch."
        )


def shorter_by(missing):
    """Return a drawing of lengths of which the longest is so many steps short of the batch's T."""
    return lambda draw: ragged_lengths(draw).clamp(max=draw.sizes.T - missing)


task = FunctionSpec(
    "run_packed",
    inputs={
        "lstm": Handed(nn.LSTM, "D", "H", "L", batch_first=True),
        "x": "B T D",
        "lengths": ragged_lengths,
    },
    outputs={"output": "B T H", "state": {"h_n": "L B H", "c_n": "L B H"}},
    reference="reference_run_packed:packed_run",
)

standard(
    task,
    shape=worth(
        0,
        ROOMY,
        title="It returns output (batch, time, hidden) and a pair of states (layers, batch, hidden).",
        explain=expect_unpacked,
    ),
    values=worth(
        1,
        room("with padding that is not zero"),
        room("with huge padding", changed=padding(None, HUGE)),
        name="as_one_by_one",
        title="Each sequence gets the output and final states of a run on its own; after its end, `output` "
        "is zero.",
    ),
    any_size=worth(
        0.5,
        room("with a longest sequence one step shorter than the batch", lengths=shorter_by(1)),
        room("with a longest sequence three steps shorter than the batch", lengths=shorter_by(3)),
        room("with sequences of equal length, all shorter than the batch", lengths=equal(missing=2)),
        room("with one sequence, shorter than its row", B=1, lengths=equal(missing=2)),
        name="keeps_the_time_steps",
        title="`output` has all T steps of `x`, even when no sequence is that long, and only real steps "
        "count.",
        explain=expect_every_step,
    ),
    gradients=worth(
        0,
        room("with sequences in no particular order"),
        room("with one sequence (B = 1)", B=1, T=(24, 40), L=1, lengths=lambda draw: torch.tensor([23])),
        room("with every sequence as long as the batch", B=3, T=3, L=1, lengths=equal()),
        title="Gradients reach every real step of x and the LSTM's weights, as if each sequence were run "
        "alone.",
        if_right=True,
    ),
    dtypes=worth(0, ROOMY, title="The results have the dtype of the LSTM and its input."),
    devices=worth(
        0,
        *each_place(B=3, T=4),  # one call of whole size costs a student half a second here
        title="With the LSTM and its input on a GPU, everything is created and computed there, wherever the "
        "lengths are.",
    ),
    leaves_arguments=worth(
        0, ROOMY, title="The call leaves the batch, the lengths and the LSTM's weights unchanged."
    ),
)

one_packed_call = reference("reference_run_packed:one_packed_call")


@points(0.5)
@rule("from-scratch")
@needs("as_one_by_one")
def test_one_packed_call(submission, sizes, draw):
    """The LSTM is called once, for all sequences together, with a packed sequence."""
    here = ROOMY.draw(draw)
    lstm = draw.module(nn.LSTM, here.sizes.D, here.sizes.H, here.sizes.L, batch_first=True)
    rounds = [(here("B T D"), ragged_lengths(here)) for _ in range(2)]

    def explain(calls):
        if not calls:
            return "The given LSTM was not called. Call it as `lstm(...)`, with the packed batch."
        if len(calls) != 1:
            return (
                f"The LSTM was called {len(calls)} times for {here.sizes.B} sequences; expected one call "
                "in total. One packed sequence holds the whole batch."
            )
        if any(calls):  # an input that is not packed has a shape
            return (
                "The LSTM was given a plain tensor, so it read the padding as if it were data. Pack the "
                "batch first (`nn.utils.rnn`): the LSTM takes a `PackedSequence` instead of a tensor."
            )
        return ""

    expect_calls(task, submission, here, lstm, rounds, one_packed_call, explain, calls=1, wants_packed=True)
