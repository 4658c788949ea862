"""Inputs are drawn once for a class, and what is computed from them is computed once."""

from functools import partial

import pytest
import torch
from torch import nn

from autograder.checking import Draw, Sizes, computed_once

SIZES = Sizes(B=2, T=5, D=7, H=11, L=3, V=13)


def drawn(draw: Draw, *asked: str):
    """What a check gets that asks for these: tensors of dimensions, whole numbers (`ints`), a module."""
    ways = {
        "ints": lambda: draw.ints("B T", 9),
        "module": lambda: draw.module(nn.RNN, 2, 3),
        "named": lambda: draw.named({"w": (2, 3), "b": (3,)}, spread=0.5),
    }
    return [ways.get(dims, lambda dims=dims: draw(dims))() for dims in asked]


def fresh(*asked: str):
    return drawn(Draw(1, "check", SIZES), *asked)


def same(one, other) -> bool:
    if isinstance(one, nn.Module):
        return all(map(torch.equal, one.parameters(), other.parameters()))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(torch.equal, one.values(), other.values()))
    return torch.equal(one, other)


def test_the_next_submission_gets_the_very_same_inputs():
    asked = ("B T D", "ints", "module", "L B H")
    draw = Draw(1, "check", SIZES)
    once = drawn(draw, *asked)
    again = drawn(draw.again(), *asked)
    assert all(one is other for one, other in zip(once, again, strict=True))
    assert all(map(same, once, fresh(*asked)))


def test_one_check_that_goes_on_gets_other_numbers():
    draw = Draw(1, "check", SIZES)
    assert not torch.equal(draw("B H"), draw("B H"))
    assert not torch.equal(draw.at(SIZES)("B H"), draw.at(SIZES)("B H"))


@pytest.mark.parametrize(
    "change",
    [
        lambda named: named["w"].zero_(),
        lambda named: named["b"].requires_grad_(),
        lambda named: named.pop("w"),
        lambda named: named.update(w=named["b"]),
    ],
)
def test_named_tensors_are_given_again_as_they_were_drawn(change):
    draw = Draw(1, "check", SIZES)
    _, named = drawn(draw, "B H", "named")
    assert named["w"].shape == (2, 3)
    assert [
        name for name, value in drawn(draw.again(), "B H", "named")[1].items() if value is named[name]
    ] == [
        "w",
        "b",
    ]
    change(named)
    again = drawn(draw.again(), "B H", "named", "B T D")
    assert all(map(same, again, fresh("B H", "named", "B T D")))
    assert not any(value.requires_grad for value in again[1].values())


@pytest.mark.parametrize(
    "changed",
    [
        lambda x, module: x.add_(1),
        lambda x, module: x.requires_grad_(),
        lambda x, module: x[0].zero_(),
        lambda x, module: nn.init.zeros_(module.bias_hh_l0),
        lambda x, module: module(torch.zeros(1, 2, dtype=torch.float64))[0].sum().backward(),
        lambda x, module: module.eval(),
        lambda x, module: setattr(module, "weight_hh_l0", nn.Parameter(torch.zeros(3, 3))),
        lambda x, module: setattr(module, "weight_hh_l0", nn.Parameter(module.weight_hh_l0.detach())),
        lambda x, module: setattr(module, "num_layers", 2),
        lambda x, module: module.requires_grad_(False),
    ],
)
def test_what_a_check_changed_is_drawn_anew_for_the_next(changed):
    asked = ("B H", "module", "B T D")
    draw = Draw(1, "check", SIZES)
    x, module, _ = drawn(draw, *asked)
    changed(x, module)
    again = drawn(draw.again(), *asked)
    assert again[0] is not x or again[1] is not module
    assert all(map(same, again, fresh(*asked)))
    assert not again[0].requires_grad
    assert again[1].training
    assert all(parameter.grad is None for parameter in again[1].parameters())


def test_what_a_module_counts_while_it_trains_is_set_back():
    draw = Draw(1, "check", SIZES)
    module = draw.module(nn.BatchNorm1d, 3)
    module(torch.ones(2, 3, dtype=torch.float64))
    assert not draw.again().module(nn.BatchNorm1d, 3).running_mean.any()


def test_dimensions_are_those_of_what_was_drawn_since_it_began_again():
    draw = Draw(1, "check", SIZES)
    drawn(draw, "B T D", "ints")
    assert drawn(draw.again(), "L B H")
    assert draw.letters >= set("LBH")
    assert not draw.letters & set("TD")


@pytest.mark.parametrize("other", [("B T D", "L B H", "B H"), ("ints",), ("B T D", "ints", "module")])
def test_a_check_that_takes_another_way_gets_what_it_would_get_first(other):
    draw = Draw(1, "check", SIZES)
    drawn(draw, "B T D", "B H", "ints")
    assert all(map(same, drawn(draw.again(), *other), fresh(*other)))
    assert all(map(same, drawn(draw.again(), "B T D", "B H", "ints"), fresh("B T D", "B H", "ints")))


@pytest.fixture
def counted():
    """A function that is computed once, and the list of what it computed."""
    computed: list[torch.Tensor] = []

    @computed_once
    def product(x, weights, times=1):
        computed.append(times * x @ weights["w"])
        return {"y": computed[-1]}

    return product, computed


def test_the_same_tensors_are_computed_with_once(counted):
    product, computed = counted
    x, w = torch.ones(2, 3), torch.ones(3, 1)
    assert product(x, {"w": w})["y"] is product(x, {"w": w})["y"]
    assert len(computed) == 1
    product(x.clone(), {"w": w})
    product(x, {"w": w}, times=2)
    product(x, {"w": w, "v": x})
    product(x, {"w": w}, times=2.0)
    assert len(computed) == 5


def test_the_same_tensors_under_other_names_are_others(counted):
    product, _ = counted
    x, one, other = torch.ones(2, 3), torch.ones(3, 1), torch.zeros(3, 1)
    assert product(x, {"w": one, "v": other})["y"].all()
    assert not product(x, {"v": one, "w": other})["y"].any()


@pytest.mark.parametrize("changed", [lambda x, y: x.add_(1), lambda x, y: y.zero_()])
def test_what_was_written_into_is_computed_anew(counted, changed):
    product, computed = counted
    x, w = torch.ones(2, 3), torch.ones(3, 1)
    changed(x, product(x, {"w": w})["y"])
    assert torch.equal(product(x, {"w": w})["y"], x @ w)
    assert len(computed) == 2


def test_what_gradients_are_asked_of_has_a_graph_of_its_own(counted):
    product, computed = counted
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 1)
    for _ in range(2):
        product(x, {"w": w})["y"].sum().backward()
    assert len(computed) == 2
    assert torch.equal(x.grad, torch.full((2, 3), 2.0))


def test_a_module_may_have_changed_without_a_trace():
    @computed_once
    def answer(module, x):
        return module(x)

    module, x = nn.Linear(2, 1).requires_grad_(False), torch.ones(1, 2)
    before = answer(module, x).clone()
    module.bias += 1
    assert torch.allclose(answer(module, x), before + 1)


def times(by, x):
    return by * x


def test_a_function_of_a_file_is_known_again_and_so_are_the_parts_of_a_partial():
    calls = []

    @computed_once
    def applied(function, x):
        calls.append(x)
        return function(x)

    x, w, v = (torch.ones(2) * number for number in (1, 2, 3))
    assert applied(partial(times, w), x) is applied(partial(times, w), x)
    assert applied(partial(times, v), x)[0] == 3
    assert applied(partial(times, x=v), x)[0] == 3
    assert applied(partial(torch.add, w), x)[0] == 3  # of torch's own functions nothing is known
    assert len(calls) == 4
    seen = [1]

    def function(x):
        return x + seen[0]

    assert applied(function, x)[0] == 2
    seen[0] = 2
    assert applied(function, x)[0] == 3


def test_another_tensor_at_the_same_address_is_another(counted):
    product, computed = counted
    w = torch.ones(3, 1)
    for number in range(600):  # more than are kept
        assert product(torch.full((2, 3), float(number)), {"w": w})["y"][0, 0] == 3 * number
    assert len(computed) == 600


def test_what_was_not_asked_for_in_a_long_time_is_let_go(counted):
    product, computed = counted
    first, asked_again, w = torch.ones(2, 3), torch.zeros(2, 3), torch.ones(3, 1)
    product(first, {"w": w})
    for number in range(600):  # more than are kept
        product(asked_again, {"w": w})
        product(torch.full((2, 3), float(number)), {"w": w})
    assert len(computed) == 602
    product(first, {"w": w})
    assert len(computed) == 603
