"""Cells for the tasks on layers, and references."""

import itertools
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Draw,
    compare,
    computed_once,
    expect,
    recorded,
)
from autograder.exercises.handed import hand_over as hand_over
from autograder.exercises.per_gate import cell_step


def reference_cell(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.LSTMCell:
    """A cell with random weights and biases."""
    return draw.module(nn.LSTMCell, draw.sizes.D, draw.sizes.H, dtype=dtype)


@recorded
def over_time(cell: nn.LSTMCell, x, state=None):
    """The result of torch's own LSTM on the sequence with the cell's weights: (output, (h_n, c_n))."""
    h, c = state if state is not None else zeros(x, cell.hidden_size)
    weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
    output, h_n, c_n = torch.lstm(x, (h[None], c[None]), weights, True, 1, 0.0, False, False, True)
    return output, (h_n[0], c_n[0])


@recorded
@computed_once
def every_state(parameters: Mapping[str, torch.Tensor], x, state=None):
    """Both states at every step, by torch's own step with per-gate parameters: (hidden, cells)."""
    state = state if state is not None else zeros(x, parameters["b_i"].shape[0])
    states = list(
        itertools.accumulate(x.unbind(1), lambda s, now: cell_step(parameters, now, *s), initial=state)
    )
    hidden, cells = zip(*states[1:], strict=True)
    return torch.stack(hidden, dim=1), torch.stack(cells, dim=1)


def zeros(x: torch.Tensor, hidden_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_zeros(x.shape[0], hidden_size), x.new_zeros(x.shape[0], hidden_size)


def expect_states(answer: Any, reference: Any, **form: Any) -> None:
    """Expect both states at every step; where only step 0 is right, point at what is carried."""
    try:
        expect(answer, reference, **form)
    except CheckFailed as error:
        seen, wanted = answer[0] if isinstance(answer, (list, tuple)) and answer else None, reference[0]
        if not isinstance(seen, torch.Tensor) or seen.shape != wanted.shape:
            raise
        if compare(seen, wanted) and not compare(seen[:, 0], wanted[:, 0]):
            hint = "Step 0 is right: does each later step get both states, h and c, of the step before?"
            raise CheckFailed(f"{error} {hint}", error.earned, error.evidence) from None
        raise
