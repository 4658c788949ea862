"""References of `init_state`."""

import torch


def zeros(x, num_layers, hidden_size):
    """The state that torch itself starts from: the shape that nn.LSTM documents, twice."""
    shape = (num_layers, len(x), hidden_size)
    return torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
