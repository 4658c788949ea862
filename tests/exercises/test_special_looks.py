"""Looks at starting weights and at dropout: their sizes are drawn, and right answers pass at all."""

import math

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Draw, ModuleSpec
from autograder.exercises.per_gate import LARGE, NAMES, SMALL, expect_start, expect_xavier
from autograder.exercises.stacking.given import (
    ALIKE,
    DEVIATIONS,
    PAIRS,
    SHIFT,
    SLOPE,
    drawn_rate,
    expect_dropped,
    wide_sizes,
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


task = ModuleSpec(
    "Cell",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters={},
    inputs={},
    outputs={"h": "B H"},
    reference=lambda parameters: None,
)


def started(seed, start=nn.init.xavier_uniform_):
    torch.manual_seed(seed)
    students = submission(Cell=lambda *sizes: Cell(*sizes, start))
    expect_start(task, students, Draw(seed, "start", draw().sizes))


def as_a_stack(value):
    rows, columns = value.shape
    return nn.init.xavier_uniform_(torch.empty(rows, 4 * columns))[:, :columns].contiguous()


def only_at(fits, otherwise):
    def start(value):
        return (nn.init.xavier_uniform_ if fits(value.shape) else otherwise)(value)

    return start


def test_matrices_of_a_look_at_the_start_have_bounds_of_their_own():
    (_, most), (least_hidden, _) = LARGE
    assert most < least_hidden  # else one bound for all matrices would pass
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
        (only_at(lambda shape: min(shape) > 20, nn.init.normal_), "not start Xavier-uniform"),
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

    said = message(expect_start, task, submission(Cell=Seeded), Draw(1, "start", draw().sizes))
    assert "start with the same numbers." in said


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
        expect_xavier([value], "`W` does")


def dropped(seed, function=nn.functional.dropout, layers=3):
    """What a stack that can be seen through returns in two calls, where `function` drops."""
    torch.manual_seed(seed)
    here = Draw(seed, "dropout", draw().sizes)
    sizes, rate = wide_sizes(here), drawn_rate(here)
    below = torch.randn(sizes.shape("B T H"), dtype=torch.float64).tanh()
    seen = [below, below]
    for _ in range(layers - 1):
        seen = [torch.tanh(torch.tanh(SLOPE * function(each, rate) + SHIFT)) for each in seen]
    expect_dropped(torch.stack(seen), below, rate, layers, False)


def test_right_dropout_passes_at_every_drawn_size_and_rate():
    for seed in SEEDS:
        dropped(seed)


def same_again(x, p):
    """A mask that is the same in every call and between all layers."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.functional.dropout(torch.ones_like(x), p)


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
    """The share of dropped numbers is that of a binomial, whose tail is longest where few are dropped."""
    for count, rate in ((31, 0.4), (99, 0.2), (600, 0.2)):
        far = math.ceil(rate * count + DEVIATIONS * math.sqrt(rate * (1 - rate) * count))
        beyond = sum(math.comb(count, n) * rate**n * (1 - rate) ** (count - n) for n in range(far, count + 1))
        assert 20 * beyond < 1e-9
    chance = 0.2**2 + 0.8**2
    same = range(math.floor(ALIKE * PAIRS) + 1, PAIRS + 1)
    by_chance = sum(math.comb(PAIRS, n) * chance**n * (1 - chance) ** (PAIRS - n) for n in same)
    assert 80 * by_chance < 1e-9
