"""References of `lstm_gates`."""

import torch


def gates(x, h, w_ih, w_hh, b_ih, b_hh):
    """The gates in torch's order."""
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
