"""What the tasks are given, and the reference in both layouts of the weights."""

from collections.abc import Mapping

import torch
from torch import nn

from autograder.checking import Draw, Sizes

GATES = "ifgo"
NAMES = [f"W_x{gate}" for gate in GATES] + [f"W_h{gate}" for gate in GATES] + [f"b_{gate}" for gate in GATES]
"""The per-gate parameters, in the order of the contract."""


def step_inputs(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    """x, h, c and torch's stacked weights w_ih, w_hh, b_ih, b_hh of a random cell."""
    weights = draw.module(nn.LSTMCell, draw.sizes.D, draw.sizes.H, dtype=dtype).state_dict().values()
    return draw("B D", dtype=dtype), draw("B H", dtype=dtype), draw("B H", dtype=dtype), *weights


def strided_step_inputs(draw: Draw) -> tuple[torch.Tensor, ...]:
    """The same, none of the matrices contiguous in memory."""
    matrices = [draw.strided(dims) for dims in ("B D", "B H", "B H", "4H D", "4H H")]
    return *matrices, draw("4H"), draw("4H")


def gates(x, h, w_ih, w_hh, b_ih, b_hh):
    """The four activated gates in torch's order."""
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def step(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """One step by torch itself."""
    return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)


def cell_parameters(draw: Draw, dtype: torch.dtype = torch.float64) -> dict[str, torch.Tensor]:
    """Random per-gate parameters, no bias zero, by name."""
    shapes = cell_shapes(draw.sizes)
    return {name: draw.like(shape, dtype=dtype) * 0.5 for name, (_, shape) in shapes.items()}


def cell_shapes(sizes: Sizes) -> dict[str, tuple[str, tuple[int, ...]]]:
    """For each per-gate parameter its shape in words and in numbers."""
    words = {
        "W_x": ("(input_size, hidden_size)", "D H"),
        "W_h": ("(hidden_size, hidden_size)", "H H"),
        "b_": ("(hidden_size,)", "H"),
    }
    return {name: (words[name[:-1]][0], sizes.shape(words[name[:-1]][1])) for name in NAMES}


def cell_step(parameters: Mapping[str, torch.Tensor], x, h, c):
    """One step by torch with per-gate parameters, stacked into its layout."""
    w_ih = torch.cat([parameters[f"W_x{gate}"] for gate in GATES], dim=1).T
    w_hh = torch.cat([parameters[f"W_h{gate}"] for gate in GATES], dim=1).T
    bias = torch.cat([parameters[f"b_{gate}"] for gate in GATES])
    return torch.lstm_cell(x, (h, c), w_ih, w_hh, bias, torch.zeros_like(bias))
