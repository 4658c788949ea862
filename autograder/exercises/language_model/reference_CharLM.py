"""References of `CharLM`."""

import torch
from torch.nn import functional as F


def logits_and_state(held, ids, state=None):
    weights = [value for name, value in held.items() if name.startswith("lstm.")]
    layers, hidden = len(weights) // 4, weights[1].shape[1]
    if state is None:
        state = (held["fc.bias"].new_zeros(layers, len(ids), hidden),) * 2
    output, h_n, c_n = torch.lstm(
        held["embedding.weight"][ids], tuple(state), weights, True, layers, 0.0, False, False, True
    )
    return F.linear(output, held["fc.weight"], held["fc.bias"]), (h_n, c_n)


def tied_ends(name, leaves, ids, state):
    """The right results where the parameter of this name is at both ends."""
    shared = dict.fromkeys(("embedding.weight", "fc.weight"), leaves[name])
    return logits_and_state({**leaves, **shared}, ids, state)
