"""References of `lstm_cell_backward`."""

import torch


def step_backward(d_h_next, d_c_next, x, h, c, w_ih, w_hh, b_ih, b_hh):
    leaves = [each.detach().clone().requires_grad_() for each in (x, h, c, w_ih, w_hh, b_ih)]
    x, h, c, w_ih, w_hh, b_ih = leaves
    return torch.autograd.grad(
        torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh), leaves, (d_h_next, d_c_next)
    )
