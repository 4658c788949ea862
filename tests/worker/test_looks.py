"""Numbers that Python reads, from the student's line to the card."""

import json

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from autograder.cards.card import card_html, card_text
from autograder.checking import (
    Submission,
    expect_gradients,
)
from autograder.worker.session.executor import Executor
from tests.devices import failures
from tests.devices.writing import calls
from tests.support.cards import Page, card, verdict
from tests.support.checking import draw, message
from tests.support.checking import submission as handle_of
from tests.support.helpers import answer, cell_named, run_judge, submission

LOOKING = """
import logging, math

def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = _gates(x, h, w_ih, w_hh, b_ih, b_hh)
    assert torch.isfinite(i).all(), f"{i.max().item()}"
    if (o.detach() > 1).any():
        raise ValueError("no gate is that open")
    print(i, f"{f.mean():.3f}", g.mean().item(), math.sqrt(o.detach().var()), o.detach().cpu().tolist())
    print(o.detach().numpy())
    return i, f, g, o
"""


def of_gates(graded):
    (task,) = (task for task in graded.verdict.tasks if task.task == "lstm_gates")
    return {check.rule: check for check in task.checks}


def looking(line=""):
    """The right gates, behind a wrapper that looks at them, with one more line."""
    source = LOOKING.replace("    return i,", f"    {line or 'pass'}\n    return i,")
    return answer("lstm_gates").replace("def lstm_gates", "def _gates") + source


def test_looks_cost_nothing_and_get_a_remark(workers):
    graded = run_judge(submission({"lstm_gates": looking()}), workers)
    assert graded.verdict.score == graded.verdict.max_score
    told = {rule: check.message for rule, check in of_gates(graded).items() if check.message}
    assert set(told) == {"device"}
    assert "(`print(o.detach().numpy())`) would stop on a GPU" in told["device"]
    cell = cell_named(json.loads(graded.notebook), "check_lstm_gates")
    assert "would stop on a GPU" in Page("".join(cell["outputs"][0]["data"]["text/html"])).text


def test_the_remark_stands_under_the_check_that_has_passed():
    told = card(verdict("passed", "Line 3 looks at numbers."))
    assert "Line 3 looks at numbers." in card_text(told)
    assert "Line 3 looks at numbers." in Page(card_html(told)).text


@pytest.mark.parametrize("way", ["torch.from_numpy(x.detach().numpy() * 2)", "x.cpu().flip(1).to(x.device)"])
def test_data_that_goes_through_the_cpu_counts(way):
    case = calls(f"return {way}")
    assert "moves data from the GPU to the CPU" in failures(case)["device"]


# Gradients that torch gives in another way


def test_a_checkpoint_of_the_older_kind_is_judged_by_its_gradients():
    def right(x, h):
        return checkpoint(lambda a, b: torch.tanh(a.sum() * b), x, h, use_reentrant=True)

    def wrong(x, h):
        return checkpoint(lambda a, b: torch.tanh(a.sum().detach() * b), x, h, use_reentrant=True)

    form = {"names": ("x", "h"), "draw": draw()}
    given = draw()("B D"), draw()("B H")
    expect_gradients(handle_of(f=right).f, lambda x, h: torch.tanh(x.sum() * h), given, **form)
    told = message(
        expect_gradients, handle_of(f=wrong).f, lambda x, h: torch.tanh(x.sum() * h), given, **form
    )
    assert "No gradient reaches `x`" in told


def test_gradients_of_a_checkpoint_are_left_as_they_were():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.fc.weight.grad = torch.ones(3, 3)

        def forward(self, x):
            return checkpoint(self.fc, x, use_reentrant=True)

    module = Model().double()
    handle = Submission(Executor({"m": module}).perform)
    for _ in range(2):
        _, backward = handle.m.gradient_requests(
            (torch.ones(1, 3, dtype=torch.float64),), [torch.ones(1, 3, dtype=torch.float64)]
        )
        assert backward.ask().parameters["fc.weight"].tolist() == [[1.0] * 3] * 3
        assert module.fc.weight.grad.tolist() == [[1.0] * 3] * 3
        assert module.fc.bias.grad is None


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_sparse_gradient_is_judged_as_the_dense_one_that_it_stands_for(scale):
    weight, ids = torch.randn(7, 3, dtype=torch.float64), torch.tensor([[1, 2], [1, 0]])

    def f(ids, weight):
        found = nn.functional.embedding(ids, weight, sparse=True)
        return found.detach() * (1 - scale) + found * scale

    arguments, form = (ids, weight), {"names": ("weight",), "draw": draw()}
    if scale == 1.0:
        expect_gradients(handle_of(f=f).f, lambda ids, weight: weight[ids], arguments, **form)
        return
    told = message(expect_gradients, handle_of(f=f).f, lambda ids, weight: weight[ids], arguments, **form)
    assert "`weight` gets a gradient, but a wrong one" in told
