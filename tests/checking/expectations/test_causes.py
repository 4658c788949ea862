"""Messages about the result that others are made from, where both are wrong."""

import pytest
import torch

from autograder.checking import FunctionSpec, expect
from tests.support.checking import SIZES, draw, message

FORM = {
    "names": ("h", "c"),
    "dims": ("B T H", "B T H"),
    "sizes": SIZES,
    "made_from": {"h": ["c"], "c": ["h"]},
}


def states():
    drawn = draw()
    return drawn("B T H"), drawn("B T H")


def late(y, step):
    """The numbers, wrong from a step on."""
    wrong = y.clone()
    wrong[:, step:] = wrong[:, step:].square() + torch.linspace(1, 2, y.shape[-1])
    return wrong


@pytest.mark.parametrize(
    ("of_h", "of_c", "begins", "says_so"),
    [
        (0, 0, "`c` has the right shape", True),
        (2, 1, "`c` has the right shape", True),
        (1, 2, "`h` has the right shape", False),
    ],
)
def test_the_result_that_is_wrong_first_is_told(of_h, of_c, begins, says_so):
    h, c = states()
    said = message(expect, (late(h, of_h), late(c, of_c)), (h, c), **FORM)
    assert said.startswith(begins)
    assert ("Start with `c`: `h` is computed from it, and wrong as well." in said) is says_so


def test_of_one_wrong_result_nothing_else_is_said():
    h, c = states()
    said = message(expect, (late(h, 0), c), (h, c), **FORM)
    assert said.startswith("`h` has the right shape")
    assert "computed from" not in said
    assert said.endswith("`c` is right.")


def test_what_is_recognized_is_told_as_it_is():
    h, c = states()
    said = message(expect, (h.flip(1), c.flip(1)), (h, c), **FORM)
    assert said.startswith("`h` has the right shape")
    assert "in reverse order along time" in said
    assert "computed from" not in said
    doubled = message(expect, (late(h, 0), 2 * c), (h, c), **FORM)
    assert doubled.startswith("`c` has the right shape")
    assert "Each is the right number times 2. Start with `c`:" in doubled


def test_without_an_order_it_is_the_first_result():
    h, c = states()
    said = message(expect, (late(h, 0), late(c, 0)), (h, c), **{**FORM, "made_from": None})
    assert said.startswith("`h` has the right shape")


def test_a_name_that_is_no_results_is_refused():
    h, c = states()
    with pytest.raises(ValueError, match="'gate'"):
        expect((h, c), (h, c), **{**FORM, "made_from": {"h": ["gate"]}})


def test_a_specification_states_it():
    task = FunctionSpec(
        "f",
        inputs={"x": "B D"},
        outputs={"y": "B D", "z": "B D"},
        reference=lambda x: (x, x),
        made_from={"y": ["z"]},
    )
    assert task.form["made_from"] == {"y": ["z"]}
