"""Inputs for the tasks on one step, and torch's own step."""

import torch

from autograder.checking import Draw, recorded


def step_inputs(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    """x, h, c and torch's stacked weights w_ih, w_hh, b_ih, b_hh of a random cell."""
    weights = [(draw(dims) * 0.5).to(dtype) for dims in ("4H D", "4H H", "4H", "4H")]
    return draw("B D", dtype=dtype), draw("B H", dtype=dtype), draw("B H", dtype=dtype), *weights


def strided_step_inputs(draw: Draw) -> tuple[torch.Tensor, ...]:
    """Inputs as `step_inputs` gives, but none of the matrices contiguous in memory."""
    matrices = [draw.strided(dims) for dims in ("B D", "B H", "B H", "4H D", "4H H")]
    return *matrices, draw("4H"), draw("4H")


def large_step_inputs(draw: Draw) -> tuple[torch.Tensor, ...]:
    """Inputs as `step_inputs` gives, with a cell state as after long sequences and nearly closed gates."""
    x, h, c, *weights = step_inputs(draw)
    return 5 * x, h, 200 * c, *weights


@recorded
def gates(x, h, w_ih, w_hh, b_ih, b_hh):
    """The four activated gates in torch's order."""
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


@recorded
def step(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """One step by torch itself."""
    return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
