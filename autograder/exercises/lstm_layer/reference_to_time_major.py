"""References of `to_time_major`."""

import torch


def time_first(x):
    return torch.movedim(x, 0, 1)
