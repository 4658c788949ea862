"""The card's picture: which cells of a result are wrong, and how far, without a number."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.cards.card import card_html, card_text
from autograder.cards.picture import picture_html, picture_text, picture_words
from autograder.checking.explain.heatmap import COLUMNS, ROWS, difference
from autograder.verdict import plain
from tests.support.cards import SIZES, Page, card, failure, from_failure, wrong_from_step


def levels(wrong, dims, shape=(5, 7, 11)):
    """The levels of the picture, where those numbers are off by one."""
    wanted = torch.zeros(shape)
    answer = wanted.clone()
    wrong(answer)
    return difference("output", answer, wanted, answer != wanted, dims, SIZES)


def test_one_wrong_step_is_a_column():
    seen = levels(lambda a: a[:, 3].add_(1), "B T H")
    assert (seen.rows.name, seen.columns.name) == ("batch", "time")
    assert seen.levels == ((0, 0, 0, 3, 0, 0, 0),) * 5
    assert picture_words(seen) == "Every sequence is wrong at time step 3 and right elsewhere."


def test_lengths_show_as_stairs():
    def past_the_ends(answer):
        for row, length in enumerate((7, 2, 5, 7, 3)):
            answer[row, length:] += 1

    seen = levels(past_the_ends, "B T H")
    assert [sum(level > 0 for level in row) for row in seen.levels] == [0, 5, 2, 0, 4]
    assert picture_words(seen) == (
        "Sequences 0 and 3: right; sequence 1: wrong at time steps 2 to 6; sequence 2: wrong at time steps 5 "
        "and 6; sequence 4: wrong at time steps 3 to 6."
    )


def test_a_direction_and_a_gate_are_blocks_with_an_edge_between():
    seen = levels(lambda a: a[..., 11:].add_(1), "B T 2H", (5, 7, 22))
    assert "2·hidden" in (seen.rows.name, seen.columns.name)
    gate = levels(lambda a: a[:, 22:33].add_(1), "B 4H", (5, 44))
    assert len(gate.columns.starts) <= COLUMNS
    assert [start for start in gate.columns.starts if start % 11 == 0] == [0, 11, 22, 33]
    assert all(
        (level > 0) == (22 <= at < 33) for at, level in zip(gate.columns.starts, gate.levels[0], strict=True)
    )
    assert picture_text(gate)[1].count("│") == 3
    assert "border-left:2px solid" in picture_html(gate)


def test_how_far_is_told_in_steps_and_no_number_is():
    def further_and_further(answer):
        answer[:, 1], answer[:, 2], answer[:, 3], answer[:, 4] = 0.5, 3.0, 10.0, torch.nan

    seen = levels(further_and_further, "B T H")
    assert seen.levels[0] == (0, 1, 2, 3, 3, 0, 0)


@pytest.mark.parametrize(
    ("wrong", "dims", "shape"),
    [
        (lambda a: a.add_(1), "B T H", (5, 7, 11)),  # all of it
        (
            lambda a: a.masked_fill_(torch.rand(a.shape, generator=torch.manual_seed(1)) < 0.5, 1),
            "B T",
            (9, 11),
        ),
        (lambda a: a[3:].add_(1), "T", (7,)),  # one dimension: the message has said it
        (lambda a: a[0].add_(1), "B H", (2, 3)),  # hardly any cells
        (lambda a: a[0].add_(1), "B T", (5, 7, 11)),  # dimensions that are not those of the result
        (lambda a: a[0].add_(1), "1 H", (1, 11)),
    ],
)
def test_no_picture_where_there_is_no_pattern(wrong, dims, shape):
    assert levels(wrong, dims, shape) is None


def test_what_is_long_is_put_together():
    seen = levels(lambda a: a[:, 40:].add_(1), "B T", (30, 50))
    assert len(seen.levels) <= ROWS
    assert all(len(row) <= COLUMNS for row in seen.levels)
    # A cell with a wrong one in it is wrong, but not all of it need be.
    assert picture_words(seen) == "Every sequence is wrong within time steps 39 to 49 and right elsewhere."
    covered = [index for cell in range(len(seen.rows.starts)) for index in seen.rows.covered(cell)]
    assert covered == list(range(30))


def test_the_picture_has_its_words_and_is_kept_from_screen_readers():
    page = card_html(card(wrong_from_step()))
    assert '<table aria-hidden="true"' in page
    said = "Every sequence is wrong at time steps 4 to 6 and right elsewhere."
    assert said in Page(page).text
    text = card_text(card(wrong_from_step()))
    assert said in text
    assert "0 ····" in text


def test_a_picture_holds_no_expected_number():
    wanted = torch.randn(5, 7, 11, dtype=torch.float64) * 1000
    answer = wanted.clone()
    answer[:, 4:] = 0
    check = from_failure(failure(answer, wanted, "B T H"))
    told = json.dumps(plain(check))
    assert check.difference is not None
    assert not any(f"{number:.4g}" in told for number in wanted.flatten().tolist())
