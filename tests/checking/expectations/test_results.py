"""What an answer is compared by: shapes, places and values, what passes and what is said of the rest."""

import random
from collections import namedtuple

import pytest
import torch
from torch import nn

from autograder.checking import Draw, Sizes, expect, expect_dtype
from autograder.checking.expectations.comparing import compare
from autograder.checking.explain.location import located
from autograder.checking.explain.shapes import explain_shape
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.tolerance import agree
from autograder.checking.wrong_values.shrink import smallest
from tests.support.checking import PAIR, SIZES, draw, message, submission

# Sizes and shapes


def test_sizes_are_distinct_and_not_multiples():
    for seed in range(50):
        sizes = Sizes.drawn(random.Random(seed), time=2 + seed % 2 * 3)
        drawn = [sizes.B, sizes.T, sizes.D, sizes.H, sizes.L, sizes.V]
        assert not [(a, b) for a in drawn for b in drawn if a is not b and a % b == 0]


def test_inputs_depend_on_seed_and_check_only():
    assert torch.equal(draw()("B T D"), draw()("B T D"))
    assert not torch.equal(draw(1)("B T D"), draw(2)("B T D"))
    assert not torch.equal(Draw(1, "test", SIZES)("B H"), Draw(1, "other", SIZES)("B H"))


def test_strided_inputs_have_the_shape_and_are_not_contiguous():
    x = draw().strided("B T D")
    assert x.shape == (2, 5, 7)
    assert not x.is_contiguous()


@pytest.mark.parametrize(
    ("seen", "dims", "said"),
    [
        (
            (5, 2, 11),
            "B T H",
            "(time, batch, hidden) = (5, 2, 11); expected (batch, time, hidden) = (2, 5, 11)",
        ),
        ((5, 2, 11), "B T H", "The batch and time dimensions are swapped"),
        ((11, 2, 5), "B T H", "in another order"),
        ((2, 11), "B T H", "The time dimension is missing"),
        ((2, 4, 11), "B T H", "One is missing along time"),
        ((2, 6, 11), "B T H", "one too many along time"),
        ((2, 5, 22), "B T H", "Along hidden there are 2 times as many"),
        ((2, 11), "B 2H", "one part of 2: do you still have to join the others to it, or does a loop end"),
        ((2, 1, 11), "B T H", "Along time there is only one"),
        ((1, 2, 11), "B H", "an extra dimension of size 1 at position 0"),
        ((3, 2, 11), "B H", "an extra layers dimension at position 0: the task wants one of its 3"),
        ((2, 2, 11), "B H", "There are two batch dimensions: each of the 2 is combined with all 2."),
        ((5,), "1 T 1", "Every dimension of size 1 is gone"),
        ((5, 2), "5 1 2", "The size-1 dimension is missing"),
        ((2, 55), "B T H", "Time and hidden have merged into one dimension"),
        ((10, 1, 11), "B T H", "arranged differently"),
        ((2, 44), "B H", "(batch, 4·hidden)"),
        ((), "B H", "(a single number)"),
        ((5, 2, 11), "B T H", "Or is the line missing that should change it?"),
        ((2, 11), "", "is a sum or a mean missing"),
        ((1, 1), "", "with a dimension of size 1 around it"),
        ((2, 3, 11), "B T H", "Along time there are 3 where there should be 5: which are missing"),
        ((2, 3, 22), "B T H", "Along time it has been cut into 2 parts, along hidden it is whole"),
        ((11, 5), "5 1 11", "The size-1 dimension is missing, which has size 1 here"),
    ],
)
def test_a_wrong_shape_is_read_by_name(seen, dims, said):
    assert said in explain_shape("h", seen, dims, SIZES)


# Where


@pytest.mark.parametrize(
    ("wrong", "dims", "said"),
    [
        ((slice(None), slice(2, None)), "B T H", "from time step 2 on"),
        ((slice(None), slice(0, 2)), "B T H", "only until time step 1"),
        ((slice(None), 3), "B T H", "only in time step 3"),
        ((1,), "L B H", "only in layer 1"),
        ((slice(1, None),), "L B H", "from layer 1 on"),
        ((slice(None), slice(1, 3)), "L B H", "only in sequences 1, 2"),
        ((slice(None), [0, 1, 3, 4]), "L B H", "in every sequence but 2"),
        (
            (slice(None), slice(None), slice(5, 10)),
            "L B 2H",
            "of two directions, the backward one",
        ),
        ((slice(None), slice(10, 15)), "B 4H", "only in block 2 of 4"),
        ((3,), "2L B H", "only in row 3 (layer 1, part 1)"),
        ((0, 0), "T 3", "only in time step 0; only at index 0 of dimension 1"),
        ((1,), "2 B H", "only at index 1 of dimension 0"),
        ((), "B T H", ""),
    ],
)
def test_it_is_said_where_values_differ(wrong, dims, said):
    shape = tuple(
        {"B": 5, "T": 6, "H": 5, "L": 3, "2H": 10, "4H": 20, "2L": 6, "2": 2, "3": 3}[dim]
        for dim in dims.split()
    )
    apart = torch.zeros(shape, dtype=torch.bool)
    apart[wrong] = True
    told = located(apart, dims, RECURRENT)
    assert said in told
    assert bool(told) == bool(said)


def test_the_smallest_input_is_told_by_what_the_check_has():
    def told(letters, passes=False, **least):
        def fails(sizes):
            return all(getattr(sizes, letter) >= size for letter, size in least.items())

        return smallest(fails, lambda sizes: passes, letters, RECURRENT)

    assert told({"B", "T"}).endswith("one sequence of one time step.")
    assert told({"B", "T"}, T=2).endswith("one sequence of two time steps.")
    assert told({"B"}, B=2).endswith("two sequences.")
    assert "two layers" in told({"B", "T"}, L=2, T=2)
    assert told({"B"}, B=3) == told(set()) == ""


def test_where_it_takes_two_it_is_said_that_one_is_right():
    def told(**least):
        def fails(sizes):
            return all(getattr(sizes, letter) >= size for letter, size in least.items())

        return smallest(fails, lambda sizes: not fails(sizes), {"B", "T"}, RECURRENT)

    assert told(T=2).endswith("one sequence of two time steps. With one time step it is right.")
    assert told(L=2).endswith("in two layers. With one layer it is right.")
    assert told(T=2, L=2).endswith("one sequence of two time steps in two layers.")
    assert told().endswith("one sequence of one time step.")


# Values


def test_a_list_or_a_named_tuple_passes_for_a_tuple():
    output, h_n = draw()("B T H"), draw()("L B H")
    expect([output, h_n], (output, h_n), **PAIR)
    named = submission(f=lambda: namedtuple("Pair", "output h_n")(output, h_n)).f()
    expect(named, (output, h_n), **PAIR)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Is a `return` missing?"),
        ("text", "the text 'text'"),
        (3, "the number 3"),
        (float("nan"), "the number nan"),
        (True, "`True`"),
        ({}, "a dict with the keys"),
        ({"h": None}, "'h'"),
        ((), "a tuple of 0"),
        ([[1.0, 2.0], [3.0]], "a list of 2"),
        (torch.zeros(2).numpy(), "numpy.ndarray"),
        (torch.zeros(2).to_sparse(), "not dense"),
        (torch.zeros(2, device="meta"), "meta"),
        (nn.Linear(1, 1), "type Linear"),
        (torch.zeros, "builtin"),
        (object(), "an object"),
        ([], "a list of 0"),
        ([None], "wrapped in a list of one"),
        (range(3), "a range"),
    ],
)
def test_odd_answers_are_told_in_words(answer, said):
    odd = submission(f=lambda: answer).f()
    assert said in message(expect, odd, torch.zeros(2, 11), names="h", dims="B H", sizes=SIZES)
    for reference in ((torch.zeros(2, 5, 11), torch.zeros(3, 2, 11)),):
        message(expect, odd, reference, **PAIR)
        message(expect, (odd, reference[1]), reference, **PAIR)
    message(expect_dtype, odd, torch.float32, names=("output", "h_n"))


def test_values_are_located_and_the_right_ones_named():
    output, h_n = draw()("B T H"), draw()("L B H")
    wrong = output.clone()
    wrong[:, 2:] += 1
    said = message(expect, (wrong, h_n), (output, h_n), **PAIR)
    assert "(from time step 2 on)" in said
    assert "`h_n` is right" in said
    wrong = h_n.clone()
    wrong[1] = 0
    assert "only in layer 1" in message(expect, (output, wrong), (output, h_n), **PAIR)


def test_results_in_another_order_are_recognized():
    h, c = draw()("B H"), draw()("B T")[:, :1] * torch.ones(11, dtype=torch.float64)
    said = message(expect, (c, h), (h, c), names=("h", "c"), dims="B H", sizes=SIZES)
    assert "the values that `c` should have" in said


def test_no_message_holds_the_expected_numbers():
    right = torch.full((2, 11), 123.456)
    said = message(expect, torch.zeros(2, 11), right + torch.arange(11), names="h", dims="B H", sizes=SIZES)
    assert "124" not in said


@pytest.mark.parametrize(
    ("factor", "dtype", "agrees"),
    [
        (1 + 1e-7, torch.float64, True),
        (1 + 1e-5, torch.float64, False),
        (1 + 1e-5, torch.float32, True),
        (1 + 1e-2, torch.float32, False),
        (1 + 1e-2, torch.bfloat16, True),
    ],
)
def test_tolerance_is_that_of_the_coarser_dtype(factor, dtype, agrees):
    right = draw()("B H") + 3
    assert (compare((right * factor).to(dtype), right) == "") is agrees


def test_what_a_coarser_result_went_into_is_compared_as_coarsely():
    x = draw()("B H") + 3
    near, form = x * (1 + 1e-5), {"names": ("y", "w"), "dims": "B H", "sizes": SIZES}
    expect((near, x.float()), (x, x), **form)
    assert "`y` has the right shape but not the right values" in message(expect, (near, x), (x, x), **form)


def test_numbers_that_are_not_finite_or_not_real():
    assert "not finite" in compare(torch.tensor([float("nan")]), torch.ones(1))
    assert "complex" in compare(torch.ones(1) * 1j, torch.ones(1))
    assert compare(torch.ones(1, dtype=torch.int64), torch.ones(1)) == ""


@pytest.mark.parametrize("second", [torch.float64, torch.float32, torch.bfloat16, torch.complex128], ids=str)
@pytest.mark.parametrize("off", [0.0, 3e-7, 1e-5, 1e-3, 0.03, 1.0, torch.nan, torch.inf])
def test_several_agree_where_each_does(off, second):
    """One comparison of all says yes to nothing that one refuses, and to all right ones of one dtype."""
    wanted = [torch.arange(1.0, 7).double().reshape(2, 3), torch.tensor(4.0).double(), torch.ones(0).double()]
    results = [right.clone() for right in wanted]
    results[0][1, 2] += off
    for kinds in ((second,) * 3, (torch.float64, second, torch.float64)):
        seen = [result.to(kind) for result, kind in zip(results, kinds, strict=True)]
        dtypes = [kind for kind in kinds if kind.is_floating_point]
        each = [not compare(result, right, dtypes=dtypes) for result, right in zip(seen, wanted, strict=True)]
        together = agree(seen, wanted, dtypes=dtypes)
        assert together == all(each) or (not together and len(set(kinds)) > 1)


def test_nothing_agrees_with_nothing_only_where_it_is_looked_at():
    assert not agree([], [])
    nan = [torch.tensor([1.0, torch.nan]), torch.tensor([torch.nan])]
    assert not agree(nan, nan)
    assert agree(nan, nan, equal_nan=True)
