"""References of `given`."""

import torch
from torch import nn


def continued(model: nn.Module, prompt_ids: torch.Tensor, steps: int) -> torch.Tensor:
    """Greedy tokens found without carrying a state: the whole text is read again for each one."""
    ids = prompt_ids
    with torch.no_grad():
        for _ in range(steps):
            ids = torch.cat((ids, model(ids)[0][:, -1].argmax(1, keepdim=True)), 1)
    return ids[:, prompt_ids.shape[1] :]
