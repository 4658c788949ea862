"""References of `ends_from_output`."""

import torch


def ends(output, hidden_size):
    forward, backward = output.split(hidden_size, dim=2)
    return torch.cat([forward.select(1, output.shape[1] - 1), backward.select(1, 0)], dim=1)
