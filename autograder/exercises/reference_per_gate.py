"""References of `per_gate`."""

from collections.abc import Mapping

import torch

from autograder.exercises.per_gate import GATES


def cell_step(parameters: Mapping[str, torch.Tensor], x, h, c):
    """One step by torch with per-gate parameters, stacked into its layout."""
    w_ih = torch.cat([parameters[f"W_x{gate}"] for gate in GATES], dim=1).T
    w_hh = torch.cat([parameters[f"W_h{gate}"] for gate in GATES], dim=1).T
    bias = torch.cat([parameters[f"b_{gate}"] for gate in GATES])
    return torch.lstm_cell(x, (h, c), w_ih, w_hh, bias, torch.zeros_like(bias))


def by_gate(w_ih, w_hh, b_ih, b_hh) -> dict[str, torch.Tensor]:
    """The per-gate parameters by name, copied out of torch's stacked ones."""
    held: dict[str, torch.Tensor] = {}
    for gate, w_x, w_h, b_x, b_h in zip(
        GATES, *(part.chunk(4) for part in (w_ih, w_hh, b_ih, b_hh)), strict=True
    ):
        held |= {f"W_x{gate}": w_x.T, f"W_h{gate}": w_h.T, f"b_{gate}": b_x + b_h}
    return held
