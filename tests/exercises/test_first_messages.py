"""First messages of the exercises' own checks about wrong answers that are no known mistakes."""

from __future__ import annotations

import pytest

from tests.exercises.test_false_statements import COUNT, changed, messages

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
    ("counted", "said"),
    [
        ("first + num_layers - 1 * upper", "is `num_layers - 1` in brackets?"),
        ("first + (num_layers - 1) * upper + 3 * (num_layers - 1)", "It is right with one layer."),
        (
            "first + 7 * (input_size - hidden_size) + (num_layers - 1) * upper",
            "It is right where `input_size` is `hidden_size`.",
        ),
    ],
)
def test_a_wrong_count_is_told_by_where_it_is_right(counted, said):
    told = messages("stacking", "lstm_parameter_count", COUNT.format(counted))
    assert said in told["one_bias"]
    assert said in told["two_biases"]


def test_a_count_that_is_right_nowhere_is_not_said_to_be_right():
    told = messages("stacking", "lstm_parameter_count", COUNT.format("first + num_layers * upper + 1"))
    assert "right" not in told["one_bias"]


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
    told = messages("seq2seq", "greedy_generate", CHOSEN.format(line))["each_row_its_own"]
    assert said in told
    assert ("first wrong one stands" in told) == ("right one" in said)


@pytest.mark.parametrize("seed", [7, 100, 111, 114])
def test_one_mask_for_the_whole_batch_is_no_wrong_rate(seed):
    shared = changed(
        "stacking",
        "StackedLSTM",
        "hidden = self.dropout(hidden)",
        "hidden = hidden * self.dropout(torch.ones_like(hidden[:1]))",
    )
    told = messages("stacking", "StackedLSTM", shared, seed)["dropout_between_layers"]
    assert "makes the same choice for every sequence of the batch" in told


@pytest.mark.parametrize(
    ("loss", "said"),
    [("sum(1).mean()", "It is 9 times what it should be."), ("mean(1).median()", "Is it the mean over all")],
)
def test_a_loss_that_is_a_multiple_is_told_as_one(loss, said):
    told = messages("many_to_one", "fit", TRAINED.format(loss))["losses"]
    assert said in told
    assert ("times what" in told) == ("9 times" in said)


def test_a_loss_of_a_training_step_that_is_divided_is_told_by_what():
    told = messages("state", "tbptt_step", STEP)["loss_and_state"]
    assert "of what it should be, 1 divided by the size of batch." in told
