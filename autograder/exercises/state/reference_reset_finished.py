"""References of `reset_finished`."""

import torch


def reset(state, finished):
    """Sequence by sequence: zeros where it is finished, else what was there."""
    return tuple(
        torch.stack([h * 0 if gone else h for h, gone in zip(part.unbind(1), finished, strict=True)], dim=1)
        for part in state
    )
