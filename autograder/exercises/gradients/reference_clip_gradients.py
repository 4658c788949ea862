"""References of `clip_gradients`."""

import torch


def clipped(gradients, max_norm):
    total = torch.stack([each.norm() for each in gradients if each is not None]).norm()
    factor = min(1.0, max_norm / float(total))
    return float(total), [None if each is None else each * factor for each in gradients]
