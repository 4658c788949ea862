"""What is expected besides values: dtypes, arguments left alone, memory not shared, gradients."""

import pytest
import torch

from autograder.checking import expect_dtype, expect_gradients, expect_not_shared, expect_untouched
from tests.support.checking import draw, message, said, submission

# dtype, mutation, sharing


def test_dtype_of_every_result():
    expect_dtype((torch.ones(1), torch.ones(1)), torch.float32, names=("h", "c"))
    assert "`c` is torch.float64" in message(
        expect_dtype, (torch.ones(1), torch.ones(1).double()), torch.float32, names=("h", "c")
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.zero_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.t_(),
        lambda x: x.resize_(3),
        lambda x: setattr(x, "data", x.float()),
    ],
)
def test_a_changed_argument_is_named(change):
    x, h = draw()("B D"), draw()("B H")
    call = submission(f=lambda x, state: change(state[1])).f.run((x, (x, h)))
    assert "`state`" in message(expect_untouched, call, (x, (x, h)), ("x", "state"))


def test_an_untouched_argument_passes():
    x = draw().strided("B T D")
    expect_untouched(submission(f=lambda x: x + 1).f.run((x,)), (x,), ("x",))


def test_shared_memory():
    expect_not_shared(torch.ones(1), torch.ones(1), "w")
    assert "share memory" in message(expect_not_shared, torch.ones(1), torch.zeros(1), "w")


# Gradients


def gradients(function, reference=lambda x, h: x.sum() * h):
    target = submission(f=function).f
    expect_gradients(target, reference, (draw()("B D"), draw()("B H")), names=("x", "h"), draw=draw())


def test_gradients_pass_and_a_missing_one_passes_for_zero():
    gradients(lambda x, h: h * x.sum())
    gradients(lambda x, h: h * 2, reference=lambda x, h: h * 2 + 0 * x.sum())
    gradients(lambda x, h: (h * x.sum()).float())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, h: h * x.detach().sum(), "No gradient reaches `x`"),
        (lambda x, h: (h * x.sum()).detach(), "cut off from the graph"),
        (lambda x, h: h * (x * 2).sum(), "`x` gets a gradient, but a wrong one"),
        (
            lambda x, h: h * x[:, :1].sum() + h * x[:, 1:].detach().sum(),
            "`x` gets a gradient, but a wrong one",
        ),
        (lambda x, h: h, "No gradient reaches `x`"),
        (lambda x, h: x, "right shapes"),
        (lambda x, h: None, "right shapes"),
        (lambda x, h: (h * x.sum(), h.zero_())[0], "wrote into `h`, which it was given"),
        (lambda x, h: (lambda e: (e * x.sum(), e.zero_())[0])(h * 1), "written into after its first use"),
    ],
)
def test_a_wrong_gradient_says_where(function, said):
    assert said in message(gradients, function)


def test_of_several_results_the_one_without_a_graph_is_told():
    def function(x, h):
        return h * x.sum(), (h * x.sum()).detach()

    def right(x, h):
        return h * x.sum(), h * x.sum()

    said = message(gradients, function, right)
    assert "`x` gets a gradient, but a wrong one" in said
    assert "Result 2 of 2 is cut off from the graph" in said


def test_parameters_of_several_modules_have_their_names_and_frozen_ones_are_told_as_such(tmp_path):
    task = """
    task = FunctionSpec("f", inputs={"one": Handed(nn.Linear, "D", "H"), "other": Handed(nn.Linear, "D", "H"),
                                     "x": "B D"}, outputs={"y": "B H"},
                        reference=lambda one, other, x: one(x) * other(x))
    test_gradients = task.gradients()
    """
    source = "def f(one, other, x):\n    ..."

    def frozen(one, other, x):
        other.bias.requires_grad_(False)
        return one(x) * other(x)

    told = said(tmp_path / "a", task, frozen, source)
    assert "No gradient reaches `other.bias`, because it no longer asks for any" in told
    told = said(
        tmp_path / "b", task, lambda one, other, x: one(x) * (x @ other.weight.data.T + other.bias), source
    )
    assert "No gradient reaches `other.weight`." in told
    told = said(tmp_path / "c", task, lambda one, other, x: one(x.detach()) * other(x.detach()), source)
    assert "No gradient reaches `x`." in told
