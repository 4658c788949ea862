"""References of `rnn_cell_backward`."""

import torch


def step_backward(d_next, x, h, h_next, w_ih, w_hh):
    """Torch's gradients of the step; the bias, which is not given, follows from its result."""
    bias = torch.atanh(h_next) - x @ w_ih.T - h @ w_hh.T
    leaves = [each.detach().clone().requires_grad_() for each in (x, h, w_ih, w_hh, bias)]
    x, h, w_ih, w_hh, bias = leaves
    again = torch.tanh(x @ w_ih.T + h @ w_hh.T + bias)
    *found, d_bias = torch.autograd.grad(again, leaves, d_next)
    return (*found, d_bias.sum(dim=0))
