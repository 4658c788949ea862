"""References of `training`."""

from copy import deepcopy
from typing import Any

import torch
from torch import nn


def trained(
    lstm: nn.LSTM, fc: nn.Linear, kind: str, options: dict[str, float], chunks: tuple[Any, ...]
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...], dict[str, torch.Tensor]]:
    """Loss and state of the last of these chunks, and the parameters after it; each has a learning rate."""
    lstm, fc = deepcopy(lstm), deepcopy(fc)
    optimizer = getattr(torch.optim, kind)([*lstm.parameters(), *fc.parameters()], **options)
    for x, y, state, lr in chunks:
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.zero_grad()
        output, state = lstm(x, state)
        loss = (((fc(output) - y) ** 2 * (1 + y**2)).mean(dim=(0, 1)) ** 2).mean()
        loss.backward()
        optimizer.step()
    parts = {"lstm": lstm, "fc": fc}
    after = {f"{part}.{n}": p.detach() for part, m in parts.items() for n, p in m.named_parameters()}
    return loss.detach(), tuple(part.detach() for part in state), after
