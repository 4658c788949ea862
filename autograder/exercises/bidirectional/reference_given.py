"""References of `given`."""

import torch
from torch import nn


def every_direction(lstm: nn.LSTM, x: torch.Tensor) -> list[list[tuple[torch.Tensor, torch.Tensor]]]:
    """The output (B, T, H) and final state (B, H) of each direction, in a list for each layer.

    Each is made by a one-directional `nn.LSTM` that holds that direction's weights, so nothing here
    rests on how torch lays the two directions out.
    """
    layers = []
    with torch.no_grad():
        for layer in range(lstm.num_layers):
            found = []
            for suffix in ("", "_reverse"):
                alone = nn.LSTM(x.shape[2], lstm.hidden_size, batch_first=True, dtype=x.dtype)
                alone.load_state_dict(
                    {name: getattr(lstm, f"{name[:-1]}{layer}{suffix}") for name in alone.state_dict()}
                )
                output, (h_n, _) = alone(x.flip(1) if suffix else x)
                found.append((output.flip(1) if suffix else output, h_n[0]))
            layers.append(found)
            x = torch.cat([output for output, _ in found], dim=2)
    return layers
