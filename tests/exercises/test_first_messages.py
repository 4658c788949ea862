"""First messages of the exercises' own checks about wrong answers that are no known mistakes."""

from __future__ import annotations

import pytest

from tests.exercises.test_false_statements import changed, messages

GENERATED = """
def greedy_generate(model, prompt_ids, steps):
    text, state = [prompt_ids], None
    with torch.no_grad():
        for _ in range(steps + 1):
            logits, state = model(text[-1], state)
            text.append(logits[:, -1:].argmax(2))
    length = prompt_ids.shape[1]
    return torch.cat(text, 1)[:, {}]
"""
TRAINED = """
def fit(model, x, y, steps, lr):
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).{}
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
"""
CHOSEN = """
def greedy_generate(model, prompt_ids, steps):
    ids, state, tokens = prompt_ids, None, []
    with torch.no_grad():
        for _ in range(steps):
            logits, state = model(ids, state)
            logits = logits[:, -1].clone()
            {}
            ids = logits.argmax(1, keepdim=True)
            tokens.append(ids)
    return torch.cat(tokens, 1)
"""
STEP = """
def tbptt_step(model, optimizer, loss_fn, x, y, state):
    prediction, state = model(x, state)
    loss = loss_fn(prediction, y) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach(), tuple(part.detach() for part in state)
"""


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("length - 1 : length + steps - 1", "begins with the last token of the prompt."),
        (":steps", "begins with the last 5 tokens of the prompt."),
        ("length + 1 : length + steps + 1", "Each token is one place too early"),
    ],
)
def test_tokens_of_another_part_of_the_text_are_told_as_such(part, said):
    assert said in messages("seq2seq", "greedy_generate", GENERATED.format(part))["each_row_its_own"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("logits[:, 0] = -torch.inf", "stands where the right one is 0."),
        ("logits.scatter_(1, ids[:, -1:], -torch.inf)", "the right one is the same as the one before it."),
        ("state = None", "What does the model read in each call after the first, and with which state?"),
    ],
)
def test_a_choice_of_tokens_is_told_by_the_tokens_that_are_never_chosen(line, said):
    told = messages("seq2seq", "greedy_generate", CHOSEN.format(line), 1)["each_row_its_own"]
    assert said in told
    assert ("first wrong one stands" in told) == ("right one" in said)


@pytest.mark.parametrize("seed", [7, 100])
def test_one_mask_for_the_whole_batch_is_no_wrong_rate(seed):
    shared = changed(
        "stacking",
        "StackedLSTM",
        "hidden = self.dropout(hidden)",
        "hidden = hidden * self.dropout(torch.ones_like(hidden[:1]))",
    )
    told = messages("stacking", "StackedLSTM", shared, seed)["dropout_between_layers"]
    assert "makes the same choice for every sequence of the batch" in told


def test_a_loss_of_a_training_step_that_is_divided_is_told_by_what():
    told = messages("state", "tbptt_step", STEP)["loss_and_state"]
    assert "of what it should be, 1 divided by the size of batch." in told


def test_a_default_that_keeps_what_calls_put_into_it_is_named():
    keeping = """
def predict_shapes(kind, input_size, hidden_size, num_layers, B, T, bidirectional=False, shapes={}):
    directions = 2 if bidirectional else 1
    shapes["output"] = (B, T, directions * hidden_size)
    shapes["h_n"] = (directions * num_layers, B, hidden_size)
    if kind == "LSTM":
        shapes["c_n"] = (directions * num_layers, B, hidden_size)
    return shapes
"""
    told = messages("shapes", "predict_shapes", keeping)
    (first, *others) = told.values()
    assert "the default `{}`, made once: what one call puts into it" in first
    assert not any("made once" in other for other in others)


def test_a_claim_with_a_misspelt_name_is_no_claim():
    misspelt = changed("shapes", "claims", "layers_see_all_timesteps", "layers_see_all_time_steps")
    told = messages("shapes", "claims", misspelt)["all_answered"]
    assert told.startswith("There is no claim `layers_see_all_time_steps`.")
    assert told.endswith("Still open: `layers_see_all_timesteps`.")


def test_ids_in_place_of_vectors_are_no_matter_of_converting():
    ids = changed("shapes", "embed_then_rnn", "rnn(vectors)", "rnn(token_ids)")
    told = messages("shapes", "embed_then_rnn", ids)["shape"]
    assert "is a step left out that makes vectors of them" in told


WEIGHTS = """
def attention(query, encoder_output, lengths):
    real = torch.arange(encoder_output.shape[1], device=query.device) < lengths.to(query.device)[:, None]
    scores = torch.einsum("bh,bth->bt", query, encoder_output) / query.shape[1] ** 0.5
    weights = scores.masked_fill(~real, -torch.inf).softmax(1)
    {}
    return torch.einsum("bt,bth->bh", weights, encoder_output.masked_fill(~real[..., None], 0)), {}
"""


def test_weights_in_other_places_than_those_that_the_context_is_made_with():
    at_the_end = "torch.stack([row.roll(len(row) - int(n)) for row, n in zip(weights, lengths)])"
    source = WEIGHTS.format("", at_the_end)
    assert "`context` is right, but the `weights`" in messages("seq2seq", "attention", source)["with_padding"]


def test_one_sequence_may_be_padded_too():
    alone = "if len(query) == 1: real, weights = torch.ones_like(real), scores.softmax(1)"
    for seed in (1, 3, 4):
        (told,) = messages("seq2seq", "attention", WEIGHTS.format(alone, "weights"), seed).values()
        assert told.startswith("With one sequence (B = 1) that is padded: 3 of 3 padded steps have a weight")


def test_logits_in_place_of_ids():
    source = CHOSEN.format("").replace("argmax(1, keepdim=True)", "amax(1, keepdim=True).long()")
    told = messages("seq2seq", "greedy_generate", source)["each_row_its_own"]
    assert "yours are all 0. A token's id is the place of the largest logit" in told


def test_training_in_evaluation_mode():
    source = TRAINED.format("mean()").replace("losses = torch", "losses = model.eval() and torch", 1)
    (told,) = messages("many_to_one", "fit", source).values()
    assert "Your training runs the model in evaluation mode" in told


def test_a_step_in_float32_is_told_as_rounding():
    rounded = changed("state", "tbptt_step", "loss_fn(prediction, y)", "loss_fn(prediction.float(), y)")
    told = messages("state", "tbptt_step", rounded)["one_update"]
    assert "The difference is as small as float32's rounding" in told


@pytest.mark.parametrize("kept", ["h.masked_fill({}, 0), c", "h, c.masked_fill({}, 0)"])
def test_one_state_that_is_not_reset_is_not_the_other(kept):
    source = f"def reset_finished(state, finished):\n    h, c = state\n    return {kept}\n"
    told = messages("state", "reset_finished", source.format("finished[None, :, None]"))
    assert "exchanged" not in told["only_the_finished"]


def test_no_window_at_all_is_no_fault_of_a_check():
    empty = "series.new_zeros(0, window, 1), series.new_zeros(0, 1)"
    none = f"def make_windows(series, window):\n    return {empty}\n"
    assert "`x` has shape (0, time, 1)" in messages("many_to_one", "make_windows", none)["shape"]


def test_a_layer_that_is_never_used_is_named_as_a_whole():
    one_short = changed(
        "stacking",
        "StackedLSTM",
        "in enumerate(self.layers):",
        "in enumerate([*self.layers[:2], self.layers[1]]):",
    )
    told = messages("stacking", "StackedLSTM", one_short)["matches_torch"]
    assert "does not depend on `layers.2`:" in told


def test_a_part_that_belongs_into_another_result_is_told_as_that():
    exchanged = changed("bidirectional", "BiLSTM", "(h_bwd, c_bwd) = self.bwd", "(c_bwd, h_bwd) = self.bwd")
    told = messages("bidirectional", "BiLSTM", exchanged)["final_states"]
    assert "(only at index 1 of dimension 0). They are those that `c_n` should have there" in told


def test_a_copy_that_takes_the_wrong_rows_is_told_which_sizes_meet():
    wrong_rows = changed(
        "stacking", "copy_from_torch", "hidden_size = lstm.hidden_size", "hidden_size = lstm.input_size"
    )
    told = messages("stacking", "copy_from_torch", wrong_rows)
    assert any("In this call hidden = " in each for each in told.values())


def test_a_default_that_is_kept_is_named_where_an_argument_is_written_into_too():
    keeping = """
def run_lstm_cell(cell, x, state=None, output=[]):
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
        output.append(state[0])
    return torch.stack(output, dim=1), state
"""
    told = messages("lstm_layer", "run_lstm_cell", keeping)
    assert "made once" in told["arguments_untouched"]


def test_tokens_in_reverse_order_are_told_as_such():
    reverse = CHOSEN.format("pass").replace("tokens.append(ids)", "tokens.insert(0, ids)")
    assert "in reverse order" in messages("seq2seq", "greedy_generate", reverse)["each_row_its_own"]


def test_weights_that_are_nearly_zero_at_padding_are_told_so():
    nearly = changed("seq2seq", "attention", 'float("-inf")', "-100.0")
    told = messages("seq2seq", "attention", nearly)
    assert any("nearly 0, but not exactly" in each for each in told.values())


BELOW = """
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    raise NotImplementedError()
    i, f, g, o = lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)
    return o * torch.tanh(f * c + i * g), f * c + i * g
"""


def test_code_below_the_released_line_is_told_to_delete_it():
    told = messages("lstm_cell", "lstm_cell", BELOW)
    said = "Delete the line `raise NotImplementedError()` (line 3): your code below it never runs."
    assert said in told.values()
    stub = "\n".join(BELOW.splitlines()[:3])
    assert all(
        said.startswith("Not written yet") for said in messages("lstm_cell", "lstm_cell", stub).values()
    )


def test_a_line_of_the_given_layer_is_told_with_its_cell():
    first = "start = None if state is None else (state[0][k], state[1][k])"
    three = "start = (x.new_zeros(3, layer.hidden_size),) * 2"
    told = messages("stacking", "StackedLSTM", changed("stacking", "StackedLSTM", first, three))["shape"]
    assert "(in the cell `LSTMLayer`, line " in told
    assert ", called from your line " in told
    assert "hidden, cells = layer(hidden, start)" in told


def test_a_definition_that_takes_other_arguments_is_told_what_the_task_wants():
    pair = changed("lstm_cell", "LSTMCell", "x, state=None", "x, h, c").replace(
        "if state is None", "if False"
    )
    told = messages("lstm_cell", "LSTMCell", pair.replace("h, c = state", "pass"))["shape"]
    assert told.endswith("The task wants `forward(self, x, state=None)`.")
    alone = "def lstm_cell(x, h, c):\n    return h, c\n"
    told = messages("lstm_cell", "lstm_cell", alone)["shape"]
    assert told.endswith("The task wants `lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)`.")


def test_an_input_that_is_never_read_is_told_first():
    forgotten = "def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):\n    sums = x @ w_ih.T + b_ih + h @ w_hh.T\n"
    forgotten += (
        "    i, f, g, o = sums.chunk(4, 1)\n    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()\n"
    )
    told = next(iter(messages("lstm_cell", "lstm_gates", forgotten).values()))
    assert told.startswith("You never use `b_hh`. `i` has the right shape")
    assert "depend" not in told
    other = "network = nn.RNN(3, 5, batch_first=True)\n"
    other += changed("rnn_cell", "run_stepwise", "rnn(x[:, t", "network(x[:, t")
    assert messages("rnn_cell", "run_stepwise", other)["shape"].endswith(" You never use `rnn`.")


def test_a_number_that_is_never_read_is_no_cause():
    halves = "def split_directions(output, hidden_size):\n    back, ahead = output.chunk(2, -1)\n"
    told = messages("bidirectional", "split_directions", f"{halves}    return ahead, back\n")
    assert not [said for said in told.values() if "never use" in said]


def test_a_task_that_is_not_defined_is_told_as_one():
    told = messages("lstm_cell", "lstm_gates", "gates = None\n")
    assert (
        told["from_scratch"]
        == "Nothing is called `lstm_gates` here. If you renamed it, give it back its name."
    )


def test_zeros_of_whole_numbers_are_not_said_to_have_fractions():
    zeros = "torch.zeros(num_layers, len(x), hidden_size, dtype=torch.int32)"
    source = f"def init_state(x, num_layers, hidden_size):\n    return {zeros}, {zeros}\n"
    told = messages("state", "init_state", source)
    assert not [said for said in told.values() if "have fractions" in said]


def test_a_task_whose_cell_did_not_run_is_named():
    gone = "del lstm_gates\n\n\ndef lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):\n"
    gone += "    i, f, g, o = lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)\n"
    gone += "    return o * torch.tanh(f * c + i * g), f * c + i * g\n"
    told = messages("lstm_cell", "lstm_cell", gone)["shape"]
    assert told.endswith("`lstm_gates` is a task, too: no cell that ran defines it.")
