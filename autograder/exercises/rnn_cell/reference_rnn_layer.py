"""References of `rnn_layer`."""

import torch


def all_steps(x, h_0, *weights):
    output, h_n = torch.rnn_tanh(x, h_0.unsqueeze(0), list(weights), True, 1, 0.0, False, False, True)
    return output, h_n[0]
