"""Answers with a number in place of a size: no message takes it for a dimension that happens to have it."""

import re

import pytest

from autograder.checking.runner.checks import PUBLIC_SEED
from autograder.checking.runner.collection import collect
from tests.exercises.test_exercises import EXERCISES, notebook_of

GATES = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    z = x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
    i, f, g, o = (z[:, {n} * k : {n} * (k + 1)] for k in range(4))
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
"""
LAST = """
def last_valid(output, lengths):
    return torch.stack([output[i, lengths[i] - 1] for i in range({n})])
"""


@pytest.mark.parametrize("number", [2, 3, 4, 5, 8, 10])
@pytest.mark.parametrize(
    ("notebook", "task", "source"),
    [("lstm_cell", "lstm_gates", GATES), ("ragged_batches", "last_valid", LAST)],
    ids=["lstm_gates", "last_valid"],
)
def test_a_number_passes_for_no_dimension(notebook, task, source, number):
    checks = collect(EXERCISES / notebook)
    answers = notebook_of(notebook, task, source.format(n=number), checks.without(task))
    results = checks.run(task, answers, seed=PUBLIC_SEED, include_hidden=True)
    first = next(each for each in results if each.outcome != "passed")
    assert re.search(rf"has shape \(\w+, {number}\)|has shape \({number}, \w+\)", first.message)
    for word in ("time", "step", "layer", "feature", "vocabulary"):
        assert word not in first.message
