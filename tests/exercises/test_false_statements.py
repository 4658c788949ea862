"""Sentences that were once false, each told by a real check of an answer that it was false of.

Eight of them were found by reading every message that 608 wrong answers get.
"""

from __future__ import annotations

import pytest

from autograder.checking.runner.check import PUBLIC_SEED
from autograder.checking.runner.collection import collect
from tests.exercises.test_exercises import EXERCISES, notebook_of
from tests.variants import NOTEBOOKS


def messages(notebook, task, source, seed=7):
    """The messages of the checks that did not pass, by the checks' names."""
    checks = collect(EXERCISES / notebook)
    judged = notebook_of(notebook, task, source, checks.without(task))
    results = checks.run(task, judged, seed=seed, include_hidden=True, renew=lambda: None)
    told = {each.check.name: each.message for each in results if each.outcome in ("failed", "error")}
    assert told
    return told


def changed(notebook, task, old, new):
    """The task's solution with another line."""
    solution = NOTEBOOKS[notebook].SOLUTIONS[task]
    assert old in solution
    return solution.replace(old, new)


MASK_ON_ITS_WAY = """
def masked_mse(prediction, target, lengths):
    pad = torch.arange(prediction.size(1), device=prediction.device)[None] >= lengths[:, None]
    error = ((prediction - target) ** 2).masked_fill(pad[..., None], 0.0)
    return error.sum() / (lengths.sum() * prediction.size(2))
"""


def test_lengths_that_came_in_on_the_cpu_are_not_made_there_by_a_line():
    told = messages("ragged_batches", "masked_mse", MASK_ON_ITS_WAY)["device"]
    assert "mixes `lengths`, which came in on the CPU" in told
    assert "makes `lengths`" not in told
    assert "Make new tensors" not in told


IN_A_PARAMETER_DICT = """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        draw = lambda *shape: nn.Parameter(nn.init.xavier_uniform_(torch.empty(*shape)))
        self.W_x = nn.ParameterDict({k: draw(input_size, hidden_size) for k in "ifgo"})
        self.W_h = nn.ParameterDict({k: draw(hidden_size, hidden_size) for k in "ifgo"})
        self.b = nn.ParameterDict({k: nn.Parameter(torch.zeros(hidden_size)) for k in "ifgo"})

    def forward(self, x, state=None):
        h, c = state if state is not None else (x.new_zeros(x.size(0), self.hidden_size),) * 2
        i, f, g, o = (x @ self.W_x[k] + h @ self.W_h[k] + self.b[k] for k in "ifgo")
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
"""


def test_what_a_parameter_dict_holds_is_seen_by_optimizers():
    told = messages("lstm_cell", "LSTMCell", IN_A_PARAMETER_DICT)["parameters"]
    assert "`W_x.i`" in told
    assert "optimizer" not in told
    assert "do not see" not in told


H_0_WRITTEN = """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    h, steps = h_0, []
    for step in x.unbind(1):
        h = torch.tanh(step @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
        steps.append(h)
    h_0.data.copy_(h.data)
    return torch.stack(steps, 1), h
"""


def test_where_an_argument_was_written_into_nothing_is_asked_about_the_graph():
    told = messages("rnn_cell", "rnn_layer", H_0_WRITTEN)
    assert "The call changed its argument" in told["arguments_untouched"]
    for message in told.values():
        assert "etached" not in message
        assert "cut off" not in message


SKIPS_LAST = """
def run_lstm_cell(cell, x, state=None):
    outs = []
    for t in range(max(1, x.size(1) - 1)):
        state = cell(x[:, t], state)
        outs.append(state[0])
    while len(outs) < x.size(1):
        outs.append(outs[-1])
    return torch.stack(outs, 1), state
"""
C_NOT_CARRIED = """
def run_lstm_cell(cell, x, state=None):
    h, c = state if state is not None else (x.new_zeros(x.size(0), cell.hidden_size),) * 2
    first, outs = c, []
    for step in x.unbind(1):
        h, c = cell(step, (h, first))
        outs.append(h)
    return torch.stack(outs, 1), (h, c)
"""


def test_where_several_steps_are_right_nothing_is_asked_about_what_is_carried():
    told = messages("lstm_layer", "run_lstm_cell", SKIPS_LAST)["matches_torch"]
    assert "only in the last time step" in told
    assert "step 0 is right" not in told
    carried = messages("lstm_layer", "run_lstm_cell", C_NOT_CARRIED)["matches_torch"]
    assert "Its step 0 is right: does each later step get its own input and both states" in carried


IN_A_LIST = """
class LSTMLayer(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        draw = lambda *shape: nn.Parameter(nn.init.xavier_uniform_(torch.empty(*shape)))
        self.weights = [[draw(input_size, hidden_size), draw(hidden_size, hidden_size)] for _ in range(4)]

    def forward(self, x, state=None):
        h, c = state if state is not None else (x.new_zeros(x.size(0), self.hidden_size),) * 2
        hidden, cells = [], []
        for step in x.unbind(1):
            i, f, g, o = (step @ wx + h @ wh for wx, wh in self.weights)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            hidden.append(h)
            cells.append(c)
        return torch.stack(hidden, 1), torch.stack(cells, 1)
"""


def test_parameters_in_a_list_are_no_matter_of_the_dtype_that_tensors_are_made_with():
    told = messages("lstm_layer", "LSTMLayer", IN_A_LIST)["dtype"]
    assert "A module's `.to()` moves what the module has registered" in told
    assert "New tensors get the input's dtype" not in told


TIME_FIRST = """
def embed_then_rnn(token_ids, embedding, rnn):
    output, h_n = rnn(embedding(token_ids.T))
    return output, h_n
"""


def test_nobody_is_told_to_turn_a_result_round_that_was_read_in_the_wrong_order():
    told = messages("shapes", "embed_then_rnn", TIME_FIRST)["shape"]
    assert "The batch and time dimensions are swapped." in told
    assert "puts them right" not in told
    assert "perhaps long before the last one" in told


def test_a_line_of_a_given_cell_is_not_told_as_one_of_the_students():
    hidden = "        hidden = x\n"
    zeros = "        zeros = torch.zeros(len(self.layers), len(x), self.layers[0].hidden_size)\n"
    told = messages(
        "stacking",
        "StackedLSTM",
        changed(
            "stacking", "StackedLSTM", hidden, f"{hidden}{zeros}        state = state or (zeros, zeros)\n"
        ),
    )
    assert "of another cell (`" in told["dtype"]
    assert "`) creates `" in told["dtype"]


def test_networks_that_were_called_are_not_said_to_have_done_nothing():
    both = "torch.cat([forward, backward.flip(1)], dim=2)"
    added = changed("bidirectional", "BiLSTM", both, both.replace("backward", "forward + backward"))
    told = messages("bidirectional", "BiLSTM", added)["two_networks"]
    assert "must do the work" not in told
    assert "not every number that you return is one that they gave" in told


# Sizes that are alike by chance
CHUNKS = """
def run_in_chunks(lstm, x, chunk_size, state=None):
    outputs = []
    for start in range(0, x.shape[1], chunk_size):
        output, state = lstm(x[:, start : start + chunk_size - 1], state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state
"""
STACKED = """
def bridge_state(state):
    h, c = state
    return torch.stack((h[0::2], h[1::2])), torch.stack((c[0::2], c[1::2]))
"""
SPLIT = """
def split_directions(output, hidden_size):
    out = output.view(*output.shape[:2], 2, hidden_size)
    return out[:, 0], out[:, 1]
"""
EVERY_LAYER = """
def run_stepwise(rnn, x, h_0=None):
    h, output = h_0, []
    for t in range(x.shape[1]):
        _, h = rnn(x[:, t : t + 1], h)
        output.append(h.transpose(0, 1))
    return torch.cat(output, dim=1), h
"""


@pytest.mark.parametrize("seed", [PUBLIC_SEED, 7, 8])
@pytest.mark.parametrize(
    ("notebook", "task", "source", "said", "false"),
    [
        ("state", "run_in_chunks", CHUNKS, "has shape (batch, 12, hidden)", "features"),
        ("seq2seq", "bridge_state", STACKED, "has shape (2, layers, batch, hidden)", "(time"),
        ("bidirectional", "split_directions", SPLIT, "has shape (batch, 2, hidden)", "which are missing"),
        ("rnn_cell", "run_stepwise", EVERY_LAYER, "which is time · layers", "3 times as many"),
    ],
)
def test_a_size_that_is_another_by_chance_is_not_named(notebook, task, source, said, false, seed):
    told = messages(notebook, task, source, seed)["shape"]
    assert said in told
    assert false not in told.partition(" expected ")[0]
    assert false not in told.partition("). ")[2]


GATES = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    z = x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
    i, f, g, o = (z[:, {n} * k : {n} * (k + 1)] for k in range(4))
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
"""


@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_number_in_place_of_a_size_passes_for_no_dimension(number):
    first, *_ = messages("lstm_cell", "lstm_gates", GATES.format(n=number), PUBLIC_SEED).values()
    assert f"has shape (batch, {number})" in first
    for word in ("time", "step", "layer", "feature", "vocabulary"):
        assert word not in first
