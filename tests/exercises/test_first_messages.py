"""First messages of the exercises' own checks about wrong answers that are no known mistakes."""

from __future__ import annotations

import pytest

from tests.exercises.test_false_statements import COUNT, messages

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
