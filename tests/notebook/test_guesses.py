"""`reveal`: one line per entry, and no guess, however broken, stops a cell."""

import pytest
import torch

from autograder import reveal
from autograder.guesses import is_right


def lines(guess: object, happened: dict, capsys: pytest.CaptureFixture[str]) -> list[str]:
    reveal(guess, happened)
    return capsys.readouterr().out.splitlines()


def test_each_entry_has_a_line_with_both(capsys):
    guess = {"it falls": True, "steps": 40, "its shape": [3, 5], "it rises": None}
    happened = {
        "it falls": True,
        "steps": torch.tensor(125),
        "its shape": torch.zeros(3, 5).shape,
        "it rises": False,
    }
    assert [line.split("  ", 1)[0] for line in lines(guess, happened, capsys)] == list(happened)
    falls, steps, shape, rises = lines(guess, happened, capsys)
    assert falls.endswith("True   (you thought True: right)")
    assert steps.endswith("125   (you thought 40: a surprise)")
    assert shape.endswith("(3, 5)   (you thought (3, 5): right)")
    assert rises.endswith("False   (no guess)")


@pytest.mark.parametrize(
    "guess",
    [None, 7, "true", [True], {}, {"another": 1}, {"steps": object()}, {"steps": 10**5000}, {"steps": 1e999}],
)
def test_a_broken_guess_stops_nothing(guess, capsys):
    (line,) = lines(guess, {"steps": 3}, capsys)
    assert line.startswith("steps  ")


@pytest.mark.parametrize(
    ("mine", "seen", "right"),
    [
        (0.95, 1.0, True),
        (0.8, 1.0, False),
        (1e-13, 9.5e-14, True),
        (1e-3, 9.5e-14, False),
        (0, 0.0, True),
        (True, 1, False),
        (1, True, False),
        ("3", 3, False),
        (1j, 1, False),
        ((3, 5), (5, 3), False),
        (torch.zeros(2), True, False),
    ],
)
def test_a_number_is_right_within_a_tenth(mine, seen, right):
    assert is_right(mine, seen) is right
