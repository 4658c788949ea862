"""The words for a call that stops under autocast: they name one dtype of the inputs, not two."""

import linecache

import torch

from autograder.checking import expect_dtypes
from tests.support.checking import message, submission

SOURCE = """import torch
def f(x, w):
    h = torch.zeros(2, 3, dtype=x.dtype)
    return h.index_add(0, torch.tensor([0]), (x @ w)[:1])
"""


def test_what_stops_only_under_autocast_is_said_to_stop_there():
    cell: dict = {}
    linecache.cache["<cell 1>"] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), "<cell 1>")
    exec(compile(SOURCE, "<cell 1>", "exec"), cell)
    x, w = torch.ones(2, 3, dtype=torch.float64), torch.ones(3, 3, dtype=torch.float64)
    said = message(expect_dtypes, submission(f=cell["f"]).f, (x, w), names="y", autocast=True)
    assert said.startswith(
        "Under `torch.autocast` in bfloat16: with inputs of float32 the call stops: line 4 (`return h."
    )
    expect_dtypes(submission(f=cell["f"]).f, (x, w), names="y")
