"""`class BiLSTM(nn.Module)`: a bidirectional layer made of two one-directional LSTMs."""

import torch

from autograder.checking import (
    CheckFailed,
    StudentError,
    asked,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_follows,
    expect_gradients,
    expect_no_mention,
    expect_registered,
    expect_shapes,
    expect_untouched,
    fail,
    hidden,
    make_module,
    needs,
    points,
    rule,
    teaching_only,
)
from autograder.exercises.bidirectional.given import (
    apart,
    bilstm_shapes,
    bilstm_state,
    drawn_marks,
    every_direction,
    expect_both_directions,
    expect_no_slip,
    is_made_of,
    own_name,
    reference_lstm,
    results,
    stand_in,
)
from autograder.exercises.several import if_right

NAMES = ("output", "h_n", "c_n")
DIMS = ("B T 2H", "2 B H", "2 B H")
SAY = "The work is for two one-directional LSTMs, `fwd` and `bwd`."
BY_HAND = r"(rnn_tanh|rnn_relu|lstm|gru)(_cell)?|_VF|_C|ops"
"""The functions below torch's modules, which can run both directions at once."""


def new_bilstm(submission, sizes, dtype=torch.float64):
    """The student's module as a user would make it for that dtype."""
    told = "`BiLSTM(input_size, hidden_size)`"
    made = make_module(submission.BiLSTM, sizes.D, sizes.H, told=told)
    made.to(dtype)
    return made


def reference(draw, dtype=torch.float64):
    """torch's own bidirectional layer."""
    return reference_lstm(draw.at(draw.sizes.but(L=1)), dtype=dtype)


def filled_bilstm(submission, draw, lstm):
    """The student's module holding the weights of torch's."""
    made = new_bilstm(submission, draw.sizes)
    made.load_state_dict(bilstm_state(lstm))
    return made


def nested(lstm, x):
    output, h_n, c_n = results(lstm, x)
    return output, (h_n, c_n)


@points(0.5)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """It registers the parameters of two one-layer LSTMs, `fwd` and `bwd`, and nothing else."""
    made = new_bilstm(submission, sizes)
    modules = made.registered().modules
    missing = [name for name in ("fwd", "bwd") if name not in modules]
    if missing:
        fail(
            f"`BiLSTM` has no module of its own under the name `{missing[0]}`. It needs two LSTMs, assigned "
            "to `self.fwd` and `self.bwd`; one LSTM under two names is still one, with one set of weights."
        )
    expect_registered(made, bilstm_shapes(sizes), "`BiLSTM`")


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns output (batch, time, 2·hidden) and (h_n, c_n), each (2, batch, hidden)."""
    here = apart(draw)
    x = here("B T D")
    answer = new_bilstm(submission, here.sizes)(x)
    wanted = nested(reference(here), x)
    if isinstance(answer, (list, tuple)) and answer:
        expect_both_directions(answer[0], "output", DIMS[0], here.sizes)
        states = answer[-1] if isinstance(answer[-1], (list, tuple)) else ()
        for name, state in zip(NAMES[1:], states, strict=False):
            if isinstance(state, torch.Tensor) and state.shape == here.sizes.shape("1 B H"):
                fail(f"`{name}` holds one state a sequence; expected two, one of each direction.")
    expect(answer, wanted, names=NAMES, dims=DIMS, sizes=here.sizes, values=False)


@points(0)
@rule("from-scratch")
@needs(test_shape)
def test_two_networks(submission, sizes, draw):
    """Two one-directional LSTMs do the work; no bidirectional one does."""
    told = new_bilstm(submission, sizes)
    seen = told.registered()
    for name in seen.modules:
        if _is_bidirectional(told.attribute(*name.split("."))):
            fail(f"{SAY} `{name}` is bidirectional already.")
    if "RNNBase" in seen.kinds and not seen.modules and _is_bidirectional(told):
        fail(f"{SAY} Your module is itself one of torch's, and bidirectional already.")
    if set(seen.shapes) != set(bilstm_shapes(sizes)):
        return  # which is said already
    lstm, other, x = reference(draw), reference(draw), draw("B T D")
    alone, again = (filled_bilstm(submission, draw, other)(x) for _ in range(2))
    made = filled_bilstm(submission, draw, lstm)
    marks = drawn_marks(draw)
    stand = stand_in(submission, made, bilstm_state(other), marks)
    answer = made(x)
    expect_bilstm_shapes(answer, sizes)
    expect_bilstm_shapes(alone, sizes)
    # Each number is one that the networks gave, where it was, as if they held the other weights. Whether that
    # is right, and whether each direction has its own, are matters of values.
    if is_made_of(answer, alone, marks):
        return
    expect_no_mention(submission, "BiLSTM", BY_HAND, SAY)
    calls = stand.attribute("calls")
    called = {each for each in calls if isinstance(each, str)} if isinstance(calls, list) else set()
    if called != {"fwd", "bwd"}:
        fail(f"{SAY} They were not both called.")
    if not _same(alone, again, sizes):
        fail(
            "With the same weights and the same input it gives different numbers each time. Is something "
            "drawn in `forward`?"
        )
    fail(f"{SAY} What you return is not made of what calling them gives.")


def _same(one, other, sizes):
    match other:
        case [torch.Tensor(), [torch.Tensor(), torch.Tensor()]]:
            try:
                expect(one, other, names=NAMES, dims=DIMS, sizes=sizes)
            except CheckFailed:
                return False
            return True
    return False  # both are the student's, so they can be anything


def _is_bidirectional(module):
    try:
        return module.attribute("bidirectional") is True
    except StudentError:
        return False  # no recurrent module, or one that does not say


def expect_bilstm_shapes(answer, sizes):
    return expect_shapes(answer, (DIMS[0], DIMS[1:]), names=NAMES, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_output(submission, sizes, draw):
    """With the same weights its output is that of nn.LSTM(bidirectional=True), at every time step."""
    here = apart(draw)
    lstm, x = reference(here), here("B T D")
    output, _ = expect_bilstm_shapes(filled_bilstm(submission, here, lstm)(x), here.sizes)
    ((forward, _), (backward, _)) = every_direction(lstm, x)[0]
    unturned = every_direction(lstm, x.flip(1))[0][1][0].flip(1)  # what `bwd` gives for x as it is
    same_order = (
        "`bwd` has read the time steps in the same order as `fwd`. If you turn something round, is it the "
        "time dimension?"
    )
    for wrong in (unturned, unturned.flip(1)):
        expect_no_slip(output, {same_order: torch.cat([forward, wrong], dim=2)})
    expect_no_slip(
        output,
        {
            "The backward half stands in the order in which `bwd` read: its first step belongs to the last "
            "input. Both halves of a time step must be about the same input.": torch.cat(
                [forward, backward.flip(1)], dim=2
            ),
            "The two halves have changed places: forward comes first.": torch.cat([backward, forward], 2),
        },
    )
    expect(output, results(lstm, x)[0], names=NAMES[0], dims=DIMS[0], sizes=here.sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_final_states(submission, sizes, draw):
    """With the same weights h_n and c_n are those of nn.LSTM(bidirectional=True)."""
    here = apart(draw)
    lstm, x = reference(here), here("B T D")
    output, h_n, c_n = results(lstm, x)
    _, states = expect_bilstm_shapes(filled_bilstm(submission, here, lstm)(x), here.sizes)
    hidden_size = here.sizes.H
    expect_no_slip(
        states[0],
        {
            "`h_n` holds the last time step of `output`, both halves. The backward direction is not done "
            "there: it has read one input only.": torch.stack(
                [output[:, -1, :hidden_size], output[:, -1, hidden_size:]]
            ),
        },
    )
    expect_no_slip(
        states,
        {
            "`h_n` and `c_n` have changed places.": (c_n, h_n),
            "The two directions have changed places: forward comes first.": (h_n.flip(0), c_n.flip(0)),
        },
    )
    expect(states, (h_n, c_n), names=NAMES[1:], dims=DIMS[1], sizes=here.sizes)


@points(0)
@rule("values")
@needs(test_output, test_final_states)
def test_follows_its_parameters(submission, sizes, draw):
    """After its parameters have changed, by training or by loading, it computes with the new ones."""
    networks, x = [reference(draw) for _ in range(3)], draw("B T D")
    states = [bilstm_state(lstm) for lstm in networks]
    right = dict(zip(map(id, states), networks, strict=True))
    made = filled_bilstm(submission, draw, networks[0])
    expect_follows(
        submission,
        made,
        lambda: made.request(x),
        lambda held: nested(right[id(held)], x),
        states,
        names=NAMES,
        dims=DIMS,
        sizes=sizes,
    )


@points(0.5)
@rule("generality")
@hidden("It works for inputs of other sizes than the ones you saw.")
@needs(test_output, test_final_states)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, equal sizes, non-contiguous inputs, and batch after batch."""
    calls = []
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(D=1, H=1), "with one feature and one hidden unit"),
        (sizes.but(B=1, T=1, D=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4), "with every size 4"),
        (sizes.but(B=2, T=draw.size(40, 130), H=2), "with a long sequence"),
        (sizes.but(B=draw.size(20, 70), T=3, H=2), "with many sequences"),
        (sizes.but(B=1, T=2, H=draw.size(20, 40)), "with many hidden units"),
    ):
        here = draw.at(other)
        lstm, x = reference(here), here("B T D")
        calls.append((filled_bilstm(submission, here, lstm).request(x), lstm, x, other, context))
    lstm, x = reference(draw), draw.strided("B T D")
    made = filled_bilstm(submission, draw, lstm)
    calls.append((made.request(x), lstm, x, sizes, "with an input that is not contiguous in memory"))
    later = draw.at(sizes.but(B=3, T=6))
    for context in (
        "when the same module gets a second batch, of other sizes",
        "when the same module gets a third batch, as large as the second",
    ):
        x = later("B T D")
        calls.append((made.request(x), lstm, x, later.sizes, context))
    for answer, lstm, x, other, context in asked(calls):
        with case(context):
            expect(answer(), nested(lstm, x), names=NAMES, dims=DIMS, sizes=other)


@points(0.5)
@rule("gradient")
@needs(test_output, test_final_states)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input and the parameters of both LSTMs."""
    for other, in_eval, context in (
        (sizes, True, "with several sequences"),
        (sizes.but(B=1, T=draw.size(20, 28), H=2), False, "with one long sequence (B = 1)"),
    ):
        here = draw.at(other)
        lstm, x = reference(here), here("B T D")
        made, form = filled_bilstm(submission, here, lstm), {"names": NAMES, "dims": DIMS, "sizes": other}
        with case(context), if_right(made, (x,), nested(lstm, x), always=in_eval, **form):
            expect_gradients(
                made,
                lambda x, lstm=lstm: lstm(x),
                (x,),
                names=("x",),
                parameters={own_name(name): value for name, value in lstm.named_parameters()},
                draw=draw,
                in_eval=in_eval,
            )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """A module and input of one dtype give results of that dtype."""
    expect_dtypes(submission.BiLSTM, (draw("B T D"),), made_with=(sizes.D, sizes.H), names=NAMES)


@points(0)
@rule("device")
@needs(test_shape, test_parameters, test_two_networks, test_dtype)
def test_device(submission, sizes, draw):
    """With the module and its input on a GPU everything is made and stays there."""
    expect_device_neutral(submission.BiLSTM, (draw("B T D"),), made_with=(sizes.D, sizes.H), names=NAMES)


@teaching_only
@points(0)
@rule("mutation")
@needs(test_output)
def test_arguments_untouched(submission, sizes, draw):
    """The input is the same after the call as before."""
    arguments = (draw("B T D"),)
    expect_untouched(new_bilstm(submission, sizes).run(arguments), arguments, ("x",))
