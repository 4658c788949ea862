"""Wrong numbers that are recognized, and those that are not."""

import pytest
import torch

from autograder.checking import expect
from tests.support.checking import SIZES, draw, message

RIGHT = {"names": "y", "dims": "B T 2H", "sizes": SIZES}


def halves(y):
    return torch.cat(y.chunk(2, -1)[::-1], -1)


def rolled(y):
    return torch.cat((torch.zeros_like(y[:, :1]), y[:, :-1]), 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda y: torch.zeros_like(y), "They are all 0"),
        (lambda y: y.flip(1), "in reverse order along time."),
        (lambda y: y.flip(0), "in another order along batch, 1, 0 in place of 0, 1."),
        (rolled, "Along time each place holds the number that belongs one place before it."),
        (
            lambda y: y.roll(-1, 1),
            "in another order along time, 1, 2, 3, 4, 0 in place of 0, 1",
        ),
        (
            lambda y: torch.cat((y[:, 1:], y[:, :1] + 1), 1),
            "Along time each place holds the number that belongs one place after it.",
        ),
        (halves, "the 2 blocks of 2·hidden in another order, 1, 0 in place of 0, 1."),
        (lambda y: -y, "with the opposite sign."),
        (lambda y: y * SIZES.T, "the right number times 5, the size of time."),
        (lambda y: y / SIZES.T, "1 divided by the size of time."),
        (lambda y: y + 0.25, "too large by the same 0.25."),
        (lambda y: y - y.mean(), "by the same"),
        (lambda y: torch.tanh(y), "after one `tanh` too many."),
        (lambda y: torch.softmax(y, 1), "after one `softmax` along time too many."),
        (lambda y: y.transpose(0, 1).reshape(y.shape), "Those two never swap dimensions"),
        (lambda y: y[:, :1].expand_as(y), "They do not change along time"),
        (lambda y: y.round(decimals=4), "the right numbers rounded to 4 decimals."),
        (torch.round, "the right numbers rounded to whole numbers."),
        (torch.floor, "rounded down to whole numbers: is something divided with `//`?"),
        (torch.trunc, "without their decimals: do you use `.long()`"),
    ],
)
def test_what_turns_wrong_numbers_into_right_ones_is_said(wrong, said):
    y = draw()("B T 2H")
    assert said in message(expect, wrong(y), y, **RIGHT)


@pytest.mark.parametrize(
    ("right", "seen", "said"),
    [
        (0.1234567, 0.123, "It is the right number rounded to 3 decimals."),
        (0.1200304, 0.12, "It is the right number rounded to a few decimals."),
        (0.0000304, 0.0, "It is 0, and the right number is not"),
    ],
)
def test_one_number_is_rounded_to_as_many_decimals_as_can_be_told(right, seen, said):
    right, seen = (torch.tensor(each, dtype=torch.float64) for each in (right, seen))
    assert said in message(expect, seen, right, names="loss", dims="", sizes=SIZES)


def test_a_missing_function_is_named():
    y = torch.sigmoid(draw()("B T 2H"))
    assert "Applying `sigmoid`" in message(expect, torch.logit(y), y, **RIGHT)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda y: y + torch.linspace(0, 1, y.numel()).view_as(y),
        lambda y: y * torch.linspace(1, 2, y.shape[1])[:, None],
        lambda y: torch.where(y > 0, y, y - 1),
        lambda y: y * torch.nan,
        lambda y: y.to(torch.bfloat16) + 1,
        lambda y: y.flip(1)[:, :, [1, 0, *range(2, y.shape[2])]] * 1.5,
    ],
)
def test_of_others_it_is_said_how_many_differ(wrong):
    y = draw()("B T 2H")
    said = message(expect, wrong(y), y, **RIGHT)
    assert "numbers differ" in said or "not finite" in said


def test_few_numbers_fit_nothing():
    y = draw()("2")
    said = message(expect, y * 3.3, y, names="y", dims="2", sizes=SIZES)
    assert said.endswith("both numbers differ.")


def test_one_number_is_a_whole_multiple_of_the_right_one():
    loss, form = torch.tensor(0.731, dtype=torch.float64), {"names": "loss", "dims": "", "sizes": SIZES}
    told = {
        factor: message(expect, loss * factor, loss, **form) for factor in (SIZES.T, 1 / SIZES.H, 12, -1, 7.3)
    }
    assert told[SIZES.T].endswith("It is 5 times what it should be, the size of time.")
    assert told[1 / SIZES.H].endswith("It is 1/11 of what it should be, 1 divided by the size of hidden.")
    assert told[12].endswith("It is 12 times what it should be.")
    assert told[-1].endswith("It is right but for the sign.")
    assert told[7.3].endswith("it is too large by 4.6.")
    assert all("of 1 numbers" not in each for each in told.values())


def test_of_many_places_only_the_first_are_told():
    sizes = SIZES.but(B=9)
    y = draw().at(sizes)("B T")
    said = message(expect, y[[8, 2, 0, 1, 3, 4, 5, 7, 6]], y, names="y", dims="B T", sizes=sizes)
    assert said.endswith("along batch, 8, 2, 0, 1, 3, … in place of 0, 1, 2, 3, 4, ….")


def test_what_is_not_finite_is_counted_and_placed():
    y = draw()("B T 2H")
    wrong = y.clone()
    wrong[:, -1] = torch.nan
    said = message(expect, wrong, y, **RIGHT)
    assert "44 of 220 numbers are not finite (nan) (only in the last time step, 4)." in said


def test_of_one_number_it_is_said_how_far_it_is_off():
    said = message(expect, torch.tensor(0.5), torch.tensor(0.75), names="loss", dims="", sizes=SIZES)
    assert said.endswith("it is too small by 0.25.")


def test_places_are_told_only_where_whole_slices_are_wrong():
    y = draw()("B T 2H")
    scattered = y.clone()
    scattered[0, 1, 2] = scattered[1, 3, 4] = 9.0
    said = message(expect, scattered, y, **RIGHT)
    assert "only in" not in said
    assert "in every" not in said
    late = torch.cat((y[:, :1], y[:, 1:].square() + 3), 1)
    assert "from time step 1 on" in message(expect, late, y, **RIGHT)


@pytest.mark.parametrize(
    ("wanted", "used", "told"),
    [
        (torch.tanh, torch.sigmoid, "They went through `sigmoid` where `tanh` would give the right ones."),
        (torch.sigmoid, torch.tanh, "They went through `tanh` where `sigmoid` would give the right ones."),
        (torch.tanh, torch.relu, "They went through `relu` where `tanh` would give the right ones."),
        (torch.tanh, torch.sin, "numbers differ"),
    ],
)
def test_one_function_in_place_of_another_is_named(wanted, used, told):
    y = draw()("B T 2H")
    assert told in message(expect, used(y), wanted(y), **RIGHT)


def test_where_the_last_step_alone_is_wrong_it_is_asked_whether_a_loop_ends_early():
    y = draw()("B T 2H")
    wrong = y.clone()
    wrong[:, -1] = y[:, -2]
    said = message(expect, wrong, y, **RIGHT)
    assert "(only in the last time step, 4). Does a loop end before it?" in said
    first = torch.cat((y[:, :1] + 1, y[:, 1:]), 1)
    assert "Does a loop" not in message(expect, first, y, **RIGHT)
