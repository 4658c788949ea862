"""Messages about the transpose or the exchange that would make a wrong answer right."""

import torch
from torch import nn

from tests.support.checking import said

CELL = """
task = FunctionSpec("f", inputs={"x": "B D", "h": "B H", "c": "B H", "w": "D H", "u": "H H"},
                    outputs={"y": "B H"}, reference=lambda x, h, c, w, u: torch.tanh(x @ w + h @ u) * c)
test_values = task.values(points=1)
"""
SOURCE = "def f(x, h, c, w, u):\n    return x, h, c, w, u"
MODULE = """
def right(held, x):
    return torch.tanh(torch.tanh(x @ held["w_0"]) @ held["w_1"]) @ held["out"]
task = ModuleSpec("f", made_with={"d": "D", "h": "H"}, parameters={"w_0": "D D", "w_1": "D D", "out": "D H"},
                  inputs={"x": "B D"}, outputs={"y": "B H"}, reference=right)
test_values = task.values(points=1)
"""


def test_a_transpose_too_many_is_named(tmp_path):
    told = said(tmp_path, CELL, lambda x, h, c, w, u: torch.tanh(x @ w + h @ u.T) * c, SOURCE)
    assert "If you transpose `u`, it is right: is a transpose missing, or one too many?" in told


def test_arguments_taken_for_each_other_are_named(tmp_path):
    told = said(tmp_path, CELL, lambda x, h, c, w, u: torch.tanh(x @ w + c @ u) * h, SOURCE)
    assert "If you swap `h` and `c`, it is right." in told


def test_matrices_of_one_kind_are_transposed_together(tmp_path):
    class Net(nn.Module):
        def __init__(self, d, h):
            super().__init__()
            self.w_0, self.w_1 = (nn.Parameter(torch.zeros(d, d)) for _ in range(2))
            self.out = nn.Parameter(torch.zeros(d, h))

        def forward(self, x):
            return torch.tanh(torch.tanh(x @ self.w_0.T) @ self.w_1.T) @ self.out

    told = said(tmp_path, MODULE, Net, "class f:\n    def forward(self, x):\n        return x")
    assert "If you transpose `w_0` and `w_1`, it is right" in told


def test_nothing_is_said_where_no_change_helps(tmp_path):
    told = said(tmp_path, CELL, lambda x, h, c, w, u: torch.tanh(x @ w - h @ u) * c, SOURCE)
    assert "it is right" not in told
