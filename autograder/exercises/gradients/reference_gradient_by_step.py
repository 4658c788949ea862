"""References of `gradient_by_step`."""

import torch


def norms(network, x):
    x = x.detach().clone().requires_grad_()
    output, _ = network(x)
    (gradient,) = torch.autograd.grad(output[:, -1].sum(), x)
    return torch.linalg.vector_norm(gradient, dim=(0, 2))
