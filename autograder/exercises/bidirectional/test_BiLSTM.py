"""`class BiLSTM(nn.Module)`: a bidirectional layer made of two one-directional LSTMs."""

import torch

from autograder.checking import (
    USUAL,
    CheckFailed,
    ModuleSpec,
    StudentError,
    expect,
    expect_no_mention,
    expect_no_slip,
    expect_registered,
    expect_shapes,
    fail,
    make_module,
    needs,
    points,
    rule,
    sized,
)
from autograder.exercises.bidirectional.given import (
    APART,
    bilstm_state,
    every_direction,
    expect_both_directions,
    is_made_of,
    reference_lstm,
    results,
    stand_in,
)

DIMS = ("B T 2H", "2 B H", "2 B H")
SAY = "Two one-directional LSTMs, `fwd` and `bwd`, must do the work."
BY_HAND = r"(rnn_tanh|rnn_relu|lstm|gru)(_cell)?|_VF|_C|ops"
"""The functions below torch's modules, which can run both directions at once."""


def reference(parameters, x):
    """What torch's own bidirectional layer gives with the parameters of both networks."""
    zeros = x.new_zeros(2, len(x), parameters["fwd.weight_hh_l0"].shape[1])
    weights = list(parameters.values())
    output, h_n, c_n = torch.lstm(x, (zeros, zeros), weights, True, 1, 0.0, False, True, True)
    return output, (h_n, c_n)


task = ModuleSpec(
    "BiLSTM",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters={
        f"{part}.{kind}_l0": dims
        for part in ("fwd", "bwd")
        for kind, dims in (("weight_ih", "4H D"), ("weight_hh", "4H H"), ("bias_ih", "4H"), ("bias_hh", "4H"))
    },
    inputs={"x": "B T D"},
    outputs={"output": "B T 2H", "state": {"h_n": "2 B H", "c_n": "2 B H"}},
    reference=reference,
)


def new_bilstm(submission, sizes):
    made = make_module(submission.BiLSTM, sizes.D, sizes.H, told=task.told)
    made.to(torch.float64)
    return made


def filled_bilstm(submission, draw, lstm):
    """The student's module holding the weights of torch's."""
    made = new_bilstm(submission, draw.sizes)
    made.load_state_dict(bilstm_state(lstm))
    return made


def one_layer(draw):
    """torch's own bidirectional layer."""
    return reference_lstm(draw.at(draw.sizes.but(L=1)))


@points(0.5)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """It registers the parameters of two one-layer LSTMs, `fwd` and `bwd`, and nothing else."""
    made = new_bilstm(submission, sizes)
    modules = made.registered().modules
    missing = [name for name in ("fwd", "bwd") if name not in modules]
    if missing:
        fail(
            f"`BiLSTM` has no separate module named `{missing[0]}`. It needs two LSTMs, assigned to "
            "`self.fwd` and `self.bwd`; one LSTM under two names is still one, with one set of weights."
        )
    expect_registered(made, task.shapes(sizes), "`BiLSTM`")


def expect_two_directions(answer, call):
    """Neither the output nor a state is that of one direction; what has another form passes."""
    if not isinstance(answer, (list, tuple)) or not answer:
        return
    expect_both_directions(answer[0], "output", DIMS[0], call.sizes)
    states = answer[-1] if isinstance(answer[-1], (list, tuple)) else ()
    for name, state in zip(task.names[1:], states, strict=False):
        if isinstance(state, torch.Tensor) and state.shape == call.sizes.shape("1 B H"):
            fail(f"`{name}` holds one state per sequence; expected two, one for each direction.")


test_shape = task.shape(
    APART,
    explain=expect_two_directions,
    title="It returns output (batch, time, 2·hidden) and (h_n, c_n), each (2, batch, hidden).",
)


@points(0)
@rule("from-scratch")
@needs(test_shape)
def test_two_networks(submission, sizes, draw):
    """Two one-directional LSTMs do the work, not a bidirectional one."""
    told = new_bilstm(submission, sizes)
    seen = told.registered()
    for name in seen.modules:
        if _is_bidirectional(told.attribute(*name.split("."))):
            fail(f"{SAY} `{name}` is already bidirectional.")
    if "RNNBase" in seen.kinds and not seen.modules and _is_bidirectional(told):
        fail(f"{SAY} Your module is itself one of torch's and already bidirectional.")
    if set(seen.shapes) != set(task.parameters):
        return  # which is said already
    lstm, other, x = one_layer(draw), one_layer(draw), draw("B T D")
    alone, again = (filled_bilstm(submission, draw, other)(x) for _ in range(2))
    waves = draw.like((2, sizes.H), spread=3.0)
    for ends in (False, True):
        made = filled_bilstm(submission, draw, lstm)
        stand = stand_in(submission, made, bilstm_state(other), waves, ends=ends)
        try:
            answer = made(x)
            break
        except StudentError as error:  # an assertion, say, that the output's ends are the final states
            stopped = error
    else:
        raise stopped
    expect_bilstm_shapes(answer, sizes)
    expect_bilstm_shapes(alone, sizes)
    # Each number is one that the networks gave, where it was, as if they held the other weights. Whether that
    # is right, and whether each direction has its own, are matters of values.
    if is_made_of(answer, alone, waves):
        return
    expect_no_mention(submission, "BiLSTM", BY_HAND, SAY)
    calls = stand.attribute("calls")
    called = {each for each in calls if isinstance(each, str)} if isinstance(calls, list) else set()
    if called != {"fwd", "bwd"}:
        fail(f"{SAY} At least one of them was never called.")
    if not _same(alone, again, sizes):
        fail(
            "With the same weights and the same input it gives different numbers each time. Does `forward` "
            "draw random numbers?"
        )
    fail(
        "Both networks are called, but not every number that you return is one that they gave. Is something "
        "added to their results, are they changed, or is a part computed without them?"
    )


def _same(one, other, sizes):
    match other:
        case [torch.Tensor(), [torch.Tensor(), torch.Tensor()]]:
            try:
                expect(one, other, names=task.names, dims=DIMS, sizes=sizes)
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
    return expect_shapes(answer, (DIMS[0], DIMS[1:]), names=task.names, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_output(submission, sizes, draw):
    """With the same weights, its output equals that of nn.LSTM(bidirectional=True) at every time step."""
    here = APART.draw(draw)
    lstm, x = one_layer(here), here("B T D")
    output, _ = expect_bilstm_shapes(filled_bilstm(submission, here, lstm)(x), here.sizes)
    right = results(lstm, x)[0]
    ((forward, _), (backward, _)) = every_direction(lstm, x)[0]
    unturned = every_direction(lstm, x.flip(1))[0][1][0].flip(1)  # what `bwd` gives for x as it is
    same_order = (
        "`bwd` read the time steps in the same order as `fwd`. If you flip something, is it the time "
        "dimension?"
    )
    for wrong in (unturned, unturned.flip(1)):
        expect_no_slip(output, right, {same_order: torch.cat([forward, wrong], dim=2)})
    expect_no_slip(
        output,
        right,
        {
            "The backward half is still in the order in which `bwd` read: its first step belongs to the "
            "last input. Both halves of a time step must be about the same input.": torch.cat(
                [forward, backward.flip(1)], dim=2
            ),
            "The two halves are swapped: forward comes first.": torch.cat([backward, forward], 2),
        },
    )
    expect(output, right, names="output", dims=DIMS[0], sizes=here.sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_final_states(submission, sizes, draw):
    """With the same weights, its h_n and c_n equal those of nn.LSTM(bidirectional=True)."""
    here = APART.draw(draw)
    lstm, x = one_layer(here), here("B T D")
    output, h_n, c_n = results(lstm, x)
    _, states = expect_bilstm_shapes(filled_bilstm(submission, here, lstm)(x), here.sizes)
    hidden_size = here.sizes.H
    expect_no_slip(
        states[0],
        h_n,
        {
            "`h_n` holds both halves of `output` at the last time step. The backward direction has read "
            "only one input there.": torch.stack([output[:, -1, :hidden_size], output[:, -1, hidden_size:]]),
        },
    )
    expect_no_slip(
        states,
        (h_n, c_n),
        {
            "`h_n` and `c_n` are swapped.": (c_n, h_n),
            "The two directions are swapped: forward comes first.": (h_n.flip(0), c_n.flip(0)),
        },
    )
    expect(states, (h_n, c_n), names=task.names[1:], dims=DIMS[1], sizes=here.sizes)


test_follows_its_parameters = task.follows(needs=[test_output, test_final_states])
test_gradients = task.gradients(
    USUAL.named("with several sequences"),
    further=[sized("with one long sequence (B = 1)", B=1, T=(20, 28), H=2)],
    title="Gradients reach the input and the parameters of both LSTMs.",
    points=0.5,
    needs=[test_output, test_final_states],
)
test_dtype = task.dtypes(
    title="A module and input of one dtype give results of that dtype.", needs=[test_parameters, test_shape]
)
test_device = task.devices(
    title="With the module and its input on a GPU, everything is created and computed there.",
    needs=[test_shape, test_parameters, test_two_networks, test_dtype],
)
test_arguments_untouched = task.leaves_arguments(
    title="The call leaves the input unchanged.", teaching_only=True, needs=[test_output]
)
