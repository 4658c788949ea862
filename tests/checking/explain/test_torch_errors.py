"""Help beside the errors of torch that beginners meet."""

import operator

import pytest
import torch
from torch import nn

from autograder.checking.explain.stopped import explain_error
from autograder.checking.runner.collection import collect
from tests.support.checking import SIZES, submission

LETTERS = {"B", "T", "D", "H", "L"}
B, T, D, H = SIZES.B, SIZES.T, SIZES.D, SIZES.H
ROWS = torch.zeros(B, D)
FROZEN = nn.Parameter(torch.zeros(3))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()


class Early(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(torch.zeros(1))


def written_into_rows():
    whole = torch.zeros(3, 2) + nn.Parameter(torch.zeros(1))
    for row in whole.unbind():
        row[0] = 1
    whole.sum().backward()


def reshaped_by_data():
    given = torch.zeros(6, 2, requires_grad=True)
    kept = given * 2
    given.data = given.data.view(3, 2, 2)
    (kept.sum() + (given * torch.ones(3, 2, 2)).sum()).backward()


def updated_before_backward():
    layers = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    loss = layers(torch.ones(1, 2)).sum()
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.add_(1)
    loss.backward()


def taken_apart():
    one, other = torch.zeros(3, 2)
    return one, other


def unpacked(parts):
    one, other = parts
    return one, other


def assigned_later():
    named = F.tanh(torch.zeros(2))  # noqa: F821  # the mistake itself
    F = named
    return F


def again_and_again():
    again_and_again()


@pytest.mark.parametrize(
    ("stops", "said"),
    [
        (lambda: torch.zeros(T, H) + torch.zeros(T, 4 * H), "In this call hidden = 11, 4·hidden = 44."),
        (lambda: torch.zeros(T, D) @ torch.zeros(H, D), "In this call time = 5, features = 7, hidden = 11."),
        (lambda: nn.RNN(D, H)(torch.zeros(T, B, H)), "features = 7"),
        (lambda: torch.zeros(B, H).view(B, D), "batch = 2, features = 7"),
        (lambda: torch.stack([torch.zeros(D), torch.zeros(H)]), "features = 7, hidden = 11."),
        (lambda: torch.zeros(17).view(-1, 4), "exactly as many after it as before"),
        (lambda: [].append(1).append(2), "change the list and return nothing"),
        (lambda: torch.zeros(2)[:, 0], "fewer dimensions there than"),
        (lambda: torch.zeros(2).t.shape, "without its brackets"),
        (lambda: torch.zeros(2)(), "called like a function"),
        (lambda: operator.getitem([torch.zeros(2)], (0, 0)), "a list there and is used like a tensor"),
        (lambda: torch.cat([torch.zeros(2), torch.zeros(1, 2)]), "as many dimensions"),
        (lambda: None + torch.zeros(2), "has no `return`"),
        (lambda: operator.getitem((torch.zeros(2),), (0, 0)), "`a, b = pair`"),
        (lambda: bool(torch.zeros(2)), "compare it with `is None`"),
        (lambda: not torch.ones(2), "write `~mask`"),
        (taken_apart, "along its first dimension"),
        (lambda: torch.bmm(torch.ones(1, 1, 1), torch.ones(1, 1, 1).double()), "Two dtypes meet there."),
        (lambda: nn.RNN(1, 1)(torch.ones(1, 1, dtype=torch.int64)), "a step left out that makes vectors"),
        (lambda: FROZEN.add_(1), "`with torch.no_grad():`"),
        (Early, "`super().__init__()` first"),
        (written_into_rows, "Write through an index"),
        (reshaped_by_data, "has another shape than when it was used"),
        (updated_before_backward, "it comes after `backward()`"),
        (lambda: torch.zeros(T, H) + torch.zeros(T, 17), "hidden = 11; nothing in it has the size 17."),
        (lambda: torch.zeros(T, H) + torch.zeros(T, 2 * D), "In this call hidden = 11."),
        (lambda: (lambda x, state: x)(1), "compare it with the definition"),
        (lambda: torch.zeros(3, 2) @ torch.zeros(3, 2), "should it be `*`"),
        (lambda: nn.Linear(1, 1).no_such_thing, ""),
        (again_and_again, "calls itself"),
        (lambda: (torch.zeros(2), torch.zeros(2)) @ torch.zeros(2, 2), "`a, b = pair`"),
        (lambda: nn.Linear(2, 1)((torch.zeros(2), torch.zeros(2))), "`a, b = pair`"),
        (lambda: torch.cat([torch.zeros(2), (torch.zeros(2),)]), "`a, b = pair`"),
        (lambda: (torch.zeros(2),).shape, "`a, b = pair`"),
        (lambda: (torch.zeros(2),) + torch.zeros(2), "`a, b = pair`"),  # noqa: RUF005  # the mistake itself
        (lambda: x_demo, "misspelt"),  # noqa: F821  # not defined on purpose
        (lambda: torch.zeros(2).sum().backward(), "does not depend on any parameter"),
        (lambda: {}["h"], ""),
        (lambda: torch.zeros(3)[7], ""),
    ],
)
def test_help_beside_an_error(stops, said):
    with pytest.raises(Exception) as caught:
        stops()
    helped = explain_error(str(caught.value), SIZES, LETTERS)
    assert said in helped
    assert bool(helped) == bool(said), helped


def test_where_reshape_is_given_other_numbers_the_call_s_sizes_are_told():
    told = "shape '[3, 4, -1]' is invalid for input of size 308"
    assert explain_error(told, SIZES, {"B", "H"}).startswith(f"In this call batch = {B}, hidden = {H}. `resh")


def test_sizes_that_two_dimensions_share_get_no_name():
    shared = SIZES.but(D=H)
    assert explain_error("shape mismatch: [11] and [2]", shared, LETTERS) == "In this call batch = 2."


def stopped_with_three_gates(sizes):
    """Return what torch says to a student who cuts the sums of four gates into three parts."""
    with pytest.raises(RuntimeError) as caught:
        torch.zeros(sizes.B, 4 * sizes.H).chunk(3, dim=1)[0] + torch.zeros(sizes.B, sizes.H)
    return str(caught.value)


def test_a_size_is_not_named_by_coincidence():
    here, there = SIZES.but(B=7, H=5), SIZES.but(B=12, H=7)
    told = stopped_with_three_gates(here)  # a third of 4 · 5 is 7, as many as there are sequences
    assert explain_error(told, here, {"B", "H"}) == "In this call batch = 7, hidden = 5."
    elsewhere = (stopped_with_three_gates(there), there)
    assert explain_error(told, here, {"B", "H"}, elsewhere=elsewhere) == "In this call hidden = 5."


CHECK = """
from autograder.checking import FunctionSpec, sized
task = FunctionSpec("f", inputs={"x": "B D"}, outputs={"y": "B D"}, reference=lambda x: x)
test_values = task.values(sized("with one sequence (B = 1)", B=1), points=1)
"""


def test_a_case_has_sizes_of_its_own(tmp_path):
    (tmp_path / "test_f.py").write_text(CHECK)
    (result,) = collect(tmp_path).run(
        "f", submission(f=lambda x: x + torch.zeros(len(x) + 1, 4)), seed=1, include_hidden=True
    )
    assert result.message.startswith("With one sequence (B = 1): your code stopped: RuntimeError: ")
    assert "batch =" not in result.message
    assert "features = " in result.message


def test_a_size_that_another_tensor_of_the_call_has_is_not_foreign():
    told = "The size of tensor a (7) must match the size of tensor b (23) at non-singleton dimension 0"
    assert "nothing in it has the size 23" in explain_error(told, SIZES, {"B", "D"})
    assert "nothing" not in explain_error(told, SIZES, {"B", "D"}, {23})


@pytest.mark.parametrize(
    ("stops", "code", "said"),
    [
        (
            lambda: nn.MSELoss(torch.zeros(2), torch.zeros(2)),
            "line 3: loss = nn.MSELoss(a, b)",
            "`nn.MSELoss()` makes",
        ),
        (lambda: nn.Tanh(torch.zeros(2)), "line 3: h = nn.Tanh(x)", "That is a class"),
        (lambda: torch.zeros(4).reshape(4 / 2, 2), "line 3: x.reshape(4 / 2, 2)", "`//` a whole number"),
        (lambda: torch.zeros(4).reshape(4, "2"), "line 3: x.reshape(4 // 2, 2)", ""),
        (lambda: Plain(1), "line 3: nn.ModuleList([Plain(1)])", "with those that the task names"),
        (lambda: bool(torch.zeros(2)), "line 3: if x:", "compare it with `is None`"),
        (lambda: torch.zeros(2).sigmoid(1), "line 3: i = F.sigmoid(F)", "`F` is a tensor there"),
        (lambda: torch.zeros(2).relu6, "line 3: i = F.relu6(F)", "`F` is a tensor there"),
        (lambda: torch.zeros(2).relu6, "line 3: i = x.relu6()", ""),
        (assigned_later, "line 3: g = F.tanh(x)", "rename yours"),
        (
            lambda: unpacked(torch.zeros(6).split(2)),
            "line 3: a, b = x.split(2)",
            "`chunk` the number of parts",
        ),
        (lambda: compile("<<<<<<< HEAD", "", "exec"), "line 3: <<<<<<< HEAD", "marks of a merge conflict"),
    ],
)
def test_the_line_tells_what_an_error_means(stops, code, said):
    with pytest.raises(Exception) as caught:
        stops()
    helped = explain_error(str(caught.value), SIZES, LETTERS, (), code)
    assert said in helped
    assert bool(helped) == bool(said), helped
