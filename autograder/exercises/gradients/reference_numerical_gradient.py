"""References of `numerical_gradient`."""

import torch


def central_differences(f, x, eps=1e-6):
    flat, slopes = x.detach().reshape(-1), []
    with torch.no_grad():
        for place in range(flat.numel()):
            nudge = torch.zeros_like(flat)
            nudge[place] = eps
            nudge = nudge.reshape(x.shape)
            slopes.append((f(x + nudge) - f(x - nudge)) / (2 * eps))
    return torch.stack(slopes).reshape(x.shape)
