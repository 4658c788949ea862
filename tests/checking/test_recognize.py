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
        (lambda y: torch.zeros_like(y), "All of them are 0"),
        (lambda y: y.flip(1), "in reverse order along time."),
        (lambda y: y.flip(0), "in another order along batch: where 0, 1 should be there are 1, 0."),
        (rolled, "Along time each number is one place too late."),
        (
            lambda y: y.roll(-1, 1),
            "in another order along time: where 0, 1, 2, 3, 4 should be there are 1, 2",
        ),
        (lambda y: torch.cat((y[:, 1:], y[:, :1] + 1), 1), "Along time each number is one place too early."),
        (halves, "the 2 blocks of 2·hidden in another order: where 0, 1 should be there are 1, 0."),
        (lambda y: -y, "with the opposite sign."),
        (lambda y: y * SIZES.B, "the right number times 2, the size of batch."),
        (lambda y: y / SIZES.T, "1 divided by the size of time."),
        (lambda y: y + 0.25, "too large by the same 0.25."),
        (lambda y: y - y.mean(), "by the same"),
        (lambda y: torch.tanh(y), "put through `tanh` once more."),
        (lambda y: torch.softmax(y, 1), "put through `softmax` along time."),
        (lambda y: y.clamp(-1, 1), "below -1 or above 1 are wrong"),
        (lambda y: y.transpose(0, 1).reshape(y.shape), "`reshape` and `view` deal numbers out anew"),
        (lambda y: y[:, :1].expand_as(y), "They are the same all along time"),
    ],
)
def test_what_turns_wrong_numbers_into_right_ones_is_said(wrong, said):
    y = draw()("B T 2H")
    assert said in message(expect, wrong(y), y, **RIGHT)


def test_a_missing_function_is_named():
    y = torch.sigmoid(draw()("B T 2H"))
    assert "Put through `sigmoid`" in message(expect, torch.logit(y), y, **RIGHT)


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
    said = message(expect, y * 3, y, names="y", dims="2", sizes=SIZES)
    assert "2 of 2 numbers differ" in said


def test_of_one_number_it_is_said_how_far_it_is_off():
    said = message(expect, torch.tensor(0.5), torch.tensor(0.75), names="loss", dims="", sizes=SIZES)
    assert said.endswith("it is too small by 0.25.")


def test_places_are_told_only_where_whole_slices_are_wrong():
    y = draw()("B T 2H")
    scattered = y.clone()
    scattered[0, 1, 2] = scattered[1, 3, 4] = 9.0
    assert "counting from 0" not in message(expect, scattered, y, **RIGHT)
    late = torch.cat((y[:, :1], y[:, 1:].square() + 3), 1)
    assert "from time step 1 on" in message(expect, late, y, **RIGHT)
