"""References of `lanes`."""

import torch


def rows(ids, batch_size):
    length = len(ids) // batch_size
    return torch.stack([ids[row * length : (row + 1) * length] for row in range(batch_size)])
