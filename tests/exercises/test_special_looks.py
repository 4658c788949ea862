"""Looks at starting weights and at dropout: their sizes are drawn, and right answers pass at all."""

import math

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Draw
from autograder.exercises.per_gate import (
    LARGE,
    NAMES,
    SMALL,
    expect_starting_weights,
    not_xavier,
    starting_sizes,
)
from autograder.exercises.stacking.given import (
    ALIKE,
    DEVIATIONS,
    drawn_rate,
    expect_dropped,
    expect_independent,
    seen_through_sizes,
)
from tests.support.checking import draw, message, submission

SEEDS = range(150)


class Cell(nn.Module):
    """The twelve parameters, each matrix filled by what a test says."""

    def __init__(self, input_size, hidden_size, start=nn.init.xavier_uniform_):
        super().__init__()
        for name in NAMES:
            rows = input_size if name.startswith("W_x") else hidden_size
            value = (
                torch.zeros(hidden_size) if name.startswith("b") else start(torch.empty(rows, hidden_size))
            )
            self.register_parameter(name, nn.Parameter(value))


def started(seed, start=nn.init.xavier_uniform_):
    torch.manual_seed(seed)
    kind = submission(Cell=lambda *sizes: Cell(*sizes, start)).Cell
    expect_starting_weights(kind, Draw(seed, "start", draw().sizes), "`Cell`")


def as_a_stack(value):
    rows, columns = value.shape
    return nn.init.xavier_uniform_(torch.empty(rows, 4 * columns))[:, :columns].contiguous()


def only_at(fits, otherwise):
    def start(value):
        return (nn.init.xavier_uniform_ if fits(value.shape) else otherwise)(value)

    return start


def test_sizes_are_drawn_from_the_seed_and_differ():
    inputs, hidden = LARGE
    drawn = [starting_sizes(Draw(seed, "start", draw().sizes), LARGE) for seed in SEEDS]
    assert {size for size, _ in drawn} == set(range(inputs[0], inputs[1] + 1))
    assert {size for _, size in drawn} == set(range(hidden[0], hidden[1] + 1))
    assert not any(one == other for one, other in drawn)  # else one bound for all matrices would pass
    assert Draw(3, "start", draw().sizes).size(1, 10**6) == Draw(3, "start", draw().sizes).size(1, 10**6)
    again = Draw(3, "start", draw().sizes)
    assert again.size(1, 10**6) == again.again().size(1, 10**6)


def test_a_right_start_passes():
    for seed in range(0, 150, 10):
        started(seed)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (as_a_stack, "does not start Xavier-uniform"),
        (nn.init.xavier_normal_, "does not start Xavier-uniform"),
        (nn.init.kaiming_uniform_, "does not start Xavier-uniform"),
        (nn.init.normal_, "does not start Xavier-uniform"),
        (only_at(lambda shape: min(shape) > 20, nn.init.normal_), "of a small shape"),
    ],
)
def test_a_wrong_start_fails_for_every_seed(start, said):
    for seed in range(12):
        assert said in message(started, seed, start)


def test_a_seed_that_every_module_sets_is_told():
    class Seeded(Cell):
        def __init__(self, *sizes):
            torch.manual_seed(0)
            super().__init__(*sizes)

    kind = submission(Cell=Seeded).Cell
    said = message(expect_starting_weights, kind, Draw(1, "start", draw().sizes), "`Cell`")
    assert "Two modules start with the same numbers in `W_xi`." in said


def gained(weights):
    return nn.init.xavier_uniform_(weights, nn.init.calculate_gain("tanh"))


@pytest.mark.parametrize(
    ("start", "of_a_stack"), [(as_a_stack, True), (gained, False), (nn.init.orthogonal_, False)]
)
def test_a_stack_is_blamed_only_where_the_numbers_go_as_far_as_in_one(start, of_a_stack):
    for seed in range(12):
        told = message(started, seed, start)
        assert ("not to a stack of four" in told) == of_a_stack
        assert ("They should go up to" in told) != of_a_stack


@pytest.mark.parametrize("size", [LARGE[0][0], SMALL[0][0]])
def test_a_false_alarm_is_less_than_one_in_a_billion(size):
    """The bounds are those of the docstring, for the smallest matrix and for twelve parameters' worth."""
    count = size**2
    least, allowed = min(0.95, math.exp(-28 / count)), max(0.08, 7 * 0.258 / math.sqrt(count))
    never_near = least**count
    beyond = math.erfc(allowed / (0.258 / math.sqrt(count)) / math.sqrt(2))
    assert 8 * (never_near + beyond) < 1e-9
    generator = torch.Generator().manual_seed(1)
    for _ in SEEDS:
        bound = math.sqrt(6 / (2 * size))
        value = (torch.rand(size, size, generator=generator) * 2 - 1) * bound
        assert not not_xavier([value])


def dropped(seed, function=nn.functional.dropout):
    torch.manual_seed(seed)
    here = Draw(seed, "dropout", draw().sizes)
    sizes, rate = seen_through_sizes(here), drawn_rate(here)
    whole = torch.randn(sizes.shape("B T H"), dtype=torch.float64)
    expect_independent(expect_dropped(function(whole, rate), whole, rate, "here"), "here")


def test_right_dropout_passes_at_every_drawn_size_and_rate():
    for seed in SEEDS:
        dropped(seed)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, p: nn.functional.dropout(x, 1 - p),
        lambda x, p: x,
        lambda x, p: nn.functional.dropout(x, p) * (1 - p),
        lambda x, p: x * nn.functional.dropout(torch.ones_like(x[:, :1]), p),
    ],
)
def test_wrong_dropout_fails(wrong):
    for seed in range(12):
        with pytest.raises(CheckFailed):
            dropped(seed, wrong)


def test_a_false_alarm_of_dropout_is_less_than_one_in_a_billion():
    assert 6 * math.erfc(DEVIATIONS / math.sqrt(2)) < 1e-9
    pairs, chance = 60 * 1 * 12, 0.2**2 + 0.8**2
    away = (ALIKE - chance) / math.sqrt(chance * (1 - chance) / pairs)
    assert 12 * math.erfc(away / math.sqrt(2)) < 1e-9
