"""`run_packed(lstm, x, lengths)`: a batch-first nn.LSTM over a packed batch, padded back afterwards."""

import torch
from torch import nn

from autograder.checking import (
    ask_all,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    hidden,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.handed import (
    driven_here,
    each_driven,
    each_place_of_lengths,
    elsewhere,
    expect_driven,
    expect_weights_untouched,
    hand_over,
    hand_over_driven,
    marks,
)
from autograder.exercises.ragged_batches.given import (
    HUGE,
    one_by_one,
    padded_with,
    ragged_lengths,
    reference_lstm,
    roomy,
)
from autograder.exercises.several import if_right

RESULTS = {"names": ("output", "h_n", "c_n"), "dims": ("B T H", "L B H", "L B H")}


@recorded
def together(lstm, x, lengths):
    """As one by one, by torch's own packing: for a batch of so many that each alone would take long."""
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    output, state = lstm(packed)
    return nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], state


@recorded
def one_packed_call(lstm, numbers, before, x, lengths):
    """What a driven LSTM gives that is called with the packed batch, after so many calls before."""
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    output, state = driven_here(lstm, numbers, before)(packed)
    return nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], state


def steps_of(answer):
    """The number of time steps of the output that was returned, if it is a tensor that has them."""
    output = answer[0] if isinstance(answer, (list, tuple)) and answer else None
    return output.shape[1] if isinstance(output, torch.Tensor) and output.dim() == 3 else None


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns output (batch, time, hidden) and a pair of states (layers, batch, hidden)."""
    room = roomy(sizes)
    here = draw.at(room)
    lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
    answer = submission.run_packed(hand_over(submission, lstm), x, lengths)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], tuple) and len(answer[0]) == 4:
        fail("`output` is still a `PackedSequence`. Pad it back, so that it is (batch, time, hidden) again.")
    expect(answer, one_by_one(lstm, x, lengths), **RESULTS, sizes=room, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_as_one_by_one(submission, sizes, draw):
    """Every sequence gets the output, then zeros, and the final states that it gets when it is run alone."""
    room = roomy(sizes)
    here = draw.at(room)
    lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
    for context, padding in (("with padding that is not zero", None), ("with huge padding", HUGE)):
        filled = x if padding is None else padded_with(x, lengths, padding)
        answer = submission.run_packed(hand_over(submission, lstm), filled, lengths)
        with case(context):
            expect(answer, one_by_one(lstm, filled, lengths), **RESULTS, sizes=room)


@points(0.5)
@rule("from-scratch")
@needs(test_as_one_by_one)
def test_one_packed_call(submission, sizes, draw):
    """The LSTM is called once, for all sequences together, with a packed sequence."""
    here = draw.at(roomy(sizes))
    lstm, numbers = reference_lstm(here), marks(here)
    rounds = [(here("B T D"), ragged_lengths(here)) for _ in range(2)]
    given = hand_over_driven(submission, lstm, numbers)

    def explain(calls):
        if not calls:
            return "The given LSTM was not called. Call it as `lstm(...)`, with the packed batch."
        if len(calls) != 1:
            return (
                f"The LSTM was called {len(calls)} times for {here.sizes.B} sequences; expected one call in "
                "all. One packed sequence holds the whole batch."
            )
        if any(calls):  # an input that is not packed has a shape
            return (
                "The LSTM was given a plain tensor, so it read the padding as if it were data. Pack the "
                "batch first (`nn.utils.rnn`): the LSTM takes a `PackedSequence` in place of a tensor."
            )
        return elsewhere("lstm")

    answers = each_driven(submission.run_packed, given, lstm, rounds)
    wanted = [[one_packed_call(lstm, numbers, before, *arguments)] for before, arguments in enumerate(rounds)]
    expect_driven(answers, wanted, given, explain, **RESULTS, sizes=here.sizes)


@points(0.5)
@rule("generality")
@needs(test_as_one_by_one)
def test_keeps_the_time_steps(submission, sizes, draw):
    """`output` has all T steps of `x`, and only real ones count, also when no sequence is that long."""
    room = roomy(sizes)
    here = draw.at(room)
    for missing in (1, 3):
        lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
        lengths = lengths.clamp(max=room.T - missing)
        with case(f"with a longest sequence of {room.T - missing} steps in a batch of {room.T}"):
            answer = submission.run_packed(hand_over(submission, lstm), x, lengths)
            if steps_of(answer) == room.T - missing:
                fail(
                    f"`output` has {room.T - missing} steps, as many as the longest sequence; expected the "
                    f"{room.T} steps that `x` has. What you return must fit the other tensors of the batch."
                )
            expect(answer, one_by_one(lstm, x, lengths), **RESULTS, sizes=room)
    for other, context in (
        (room, "with sequences of equal length, all shorter than the batch"),
        (room.but(B=1), "with one sequence, shorter than its row"),
    ):
        here = draw.at(other)
        lstm, x, lengths = reference_lstm(here), here("B T D"), torch.full((other.B,), room.T - 2)
        with case(context):
            answer = submission.run_packed(hand_over(submission, lstm), x, lengths)
            expect(answer, one_by_one(lstm, x, lengths), **RESULTS, sizes=other)


@points(0.5)
@rule("generality")
@hidden("It works for batches, lengths and networks of other sizes than the ones you saw.")
@needs(test_as_one_by_one)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one or many layers, any order of lengths, strided inputs."""
    room = roomy(sizes)
    T, calls = room.T, []
    for other, fixed, context in (
        (room.but(B=1), [T], "with one sequence (B = 1)"),
        (room.but(T=1), [1] * room.B, "with one time step (T = 1)"),
        (room.but(L=1), None, "with one layer (L = 1)"),
        (room.but(L=draw.size(5, 9), H=2), None, "with many layers"),
        (room.but(B=draw.size(20, 50), T=draw.size(24, 60), D=2, H=2, L=1), None, "with a large batch"),
        (room.but(B=4, T=4, D=4, H=4, L=4), [2, 4, 1, 3], "with every size 4"),
        (room, [T] * room.B, "with every sequence as long as the batch"),
        (room.but(B=3), [T, 2, 1], "with the longest sequence first"),
        (room.but(B=3), [1, 2, T], "with the longest sequence last"),
        (room.but(B=4), [2, T, 2, T], "with lengths that occur twice"),
    ):
        here = draw.at(other)
        lengths = ragged_lengths(here) if fixed is None else torch.tensor(fixed)
        calls.append((reference_lstm(here), here("B T D"), lengths, other, context))
    here = draw.at(room)
    lstm, x, lengths = reference_lstm(here), here.strided("B T D"), ragged_lengths(here)
    calls.append((lstm, x, lengths, room, "with an input that is not contiguous in memory"))
    requests = [
        submission.run_packed.request(hand_over(submission, lstm), x, lengths)
        for lstm, x, lengths, *_ in calls
    ]
    for answer, (lstm, x, lengths, other, context) in zip(ask_all(requests), calls, strict=True):
        right = one_by_one if other.B < 20 else together
        with case(context):
            expect(answer(), right(lstm, x, lengths), **RESULTS, sizes=other)


@points(0)
@rule("gradient")
@needs(test_as_one_by_one)
def test_gradients(submission, sizes, draw):
    """Gradients reach every real step of x and the LSTM's weights, as when each sequence is run alone."""
    room = roomy(sizes)
    for other, length, context in (
        (room, None, "with sequences in no order"),
        (room.but(B=1, T=draw.size(24, 40), L=1), 23, "with one sequence (B = 1)"),
        (room.but(B=3, T=3, L=1), 3, "with every sequence as long as the batch"),
    ):
        here = draw.at(other)
        lengths = ragged_lengths(here) if length is None else torch.full((other.B,), length)
        lstm, x = reference_lstm(here), here("B T D")
        arguments, right = (hand_over(submission, lstm), x, lengths), one_by_one(lstm, x, lengths)
        with case(context), if_right(submission.run_packed, arguments, right, **RESULTS, sizes=other):
            expect_gradients(
                submission.run_packed,
                lambda _, x, lengths, lstm=lstm: one_by_one(lstm, x, lengths),
                arguments,
                names=("x",),
                parameters=dict(lstm.named_parameters()),
                draw=draw,
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the LSTM and its input is the dtype of the results."""
    here = draw.at(roomy(sizes))
    lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
    expect_dtypes(
        submission.run_packed, lambda: (hand_over(submission, lstm), x, lengths), names=RESULTS["names"]
    )


@points(0)
@rule("device")
@needs(test_shape, test_as_one_by_one, test_dtype)
def test_device(submission, sizes, draw):
    """With the LSTM and its input on a GPU everything is made and stays there, wherever the lengths are."""
    here = draw.at(sizes.but(B=3, T=4))  # one call of whole size costs a student half a second here
    lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
    for on_cpu, context in each_place_of_lengths(2):
        with case(context):
            expect_device_neutral(
                submission.run_packed,
                lambda: (hand_over(submission, lstm), x, lengths),
                names=RESULTS["names"],
                on_cpu=on_cpu,
            )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The batch, the lengths and the LSTM's weights are the same after the call as before."""
    here = draw.at(roomy(sizes))
    lstm, x, lengths = reference_lstm(here), here("B T D"), ragged_lengths(here)
    given = hand_over(submission, lstm)
    call = submission.run_packed.run((given, x, lengths))
    expect_untouched(call, (None, x, lengths), ("lstm", "x", "lengths"))
    expect_weights_untouched(given, lstm, "lstm")
