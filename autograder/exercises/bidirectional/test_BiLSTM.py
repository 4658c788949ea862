"""`class BiLSTM(nn.Module)`: a bidirectional layer made of two one-directional LSTMs."""

import torch

from autograder.checking import (
    USUAL,
    ModuleSpec,
    StudentError,
    expect,
    expect_no_mention,
    expect_registered,
    expect_shapes,
    fail,
    needs,
    points,
    rule,
    sized,
)
from autograder.exercises.bidirectional.given import APART, is_made_of, stand_in

DIMS = ("B T 2H", "2 B H", "2 B H")
SAY = "Two one-directional LSTMs, `fwd` and `bwd`, must do the work."
BY_HAND = r"(rnn_tanh|rnn_relu|lstm|gru)(_cell)?|_VF|_C|ops"
"""The functions below torch's modules, which can run both directions at once."""


def reference(parameters, x):
    """The results of torch's own bidirectional layer with the parameters of both networks."""
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


@points(0.5)
@rule("registration")
def test_parameters(submission, sizes, draw):
    """It registers the parameters of two one-layer LSTMs, `fwd` and `bwd`, and nothing else."""
    made = task.make(submission, sizes)
    modules = made.registered().modules
    missing = [name for name in ("fwd", "bwd") if name not in modules]
    if missing:
        fail(
            f"`BiLSTM` has no separate module named `{missing[0]}`. It needs two LSTMs, assigned to "
            "`self.fwd` and `self.bwd`; one LSTM under two names is still one, with one set of weights."
        )
    expect_registered(made, task.shapes(sizes), "`BiLSTM`")


test_shape = task.shape(
    APART,
    title="It returns output (batch, time, 2·hidden) and (h_n, c_n), each (2, batch, hidden).",
)


@points(0)
@rule("from-scratch")
@needs(test_shape)
def test_two_networks(submission, sizes, draw):
    """Two one-directional LSTMs do the work, not a bidirectional one."""
    told = task.make(submission, sizes)
    seen = told.registered()
    for module in [told.attribute(*name.split(".")) for name in seen.modules] or [told]:
        if _is_bidirectional(module):
            fail(f"{SAY} One of yours is already bidirectional.")
    if set(seen.shapes) != set(task.parameters):
        return  # which is said already
    call, waves = task.prepare(submission, USUAL, draw), draw.like((2, sizes.H), spread=3.0)
    other = draw.named({name: shape for name, (_, shape) in task.shapes(sizes).items()}, spread=0.5)

    def holding(state):
        made = task.make(submission, sizes)
        made.to(torch.float64)
        made.load_state_dict(state)
        return made

    alone = expect_results(holding(other)(*call.arguments), sizes)
    for ends in (False, True):
        made = holding(call.parameters)
        stand = stand_in(submission, made, other, waves, ends=ends)
        try:
            answer = made(*call.arguments)
            break
        except StudentError as error:  # an assertion, say, that the output's ends are the final states
            stopped = error
    else:
        raise stopped
    expect_results(answer, sizes)
    # Each number is one that the networks gave, where it was, as if they held the other weights. Whether that
    # is right, and whether each direction has its own, are matters of values.
    if is_made_of(answer, alone, waves):
        return
    expect_no_mention(submission, "BiLSTM", BY_HAND, SAY)
    calls = stand.attribute("calls")
    called = {each for each in calls if isinstance(each, str)} if isinstance(calls, list) else set()
    if called != {"fwd", "bwd"}:
        fail(f"{SAY} At least one of them was never called.")
    fail(
        "Both networks are called, but not every number that you return is one that they gave. Is something "
        "added to their results, are they changed, or is a part computed without them?"
    )


def _is_bidirectional(module):
    try:
        return module.attribute("bidirectional") is True
    except StudentError:
        return False  # no recurrent module, or one that does not say


def expect_results(answer, sizes):
    return expect_shapes(answer, (DIMS[0], DIMS[1:]), names=task.names, sizes=sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_output(submission, sizes, draw):
    """With the same weights, its output equals that of nn.LSTM(bidirectional=True) at every time step."""
    call = task.prepare(submission, APART, APART.draw(draw))
    output, _ = expect_results(call.target(*call.arguments), call.sizes)
    expect(output, task.right(call)[0], names="output", dims=DIMS[0], sizes=call.sizes)


@points(0.5)
@rule("values")
@needs(test_parameters, test_shape, test_two_networks)
def test_final_states(submission, sizes, draw):
    """With the same weights, its h_n and c_n equal those of nn.LSTM(bidirectional=True)."""
    call = task.prepare(submission, APART, APART.draw(draw))
    _, states = expect_results(call.target(*call.arguments), call.sizes)
    expect(states, task.right(call)[1], names=task.names[1:], dims=DIMS[1], sizes=call.sizes)


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
