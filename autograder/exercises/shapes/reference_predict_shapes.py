"""References of `predict_shapes`."""

import torch
from torch import nn


def shapes_by_torch(kind, sizes, bidirectional=False):
    """The shapes that torch's own network returns, by name."""
    rnn = getattr(nn, kind)(sizes.D, sizes.H, sizes.L, batch_first=True, bidirectional=bidirectional)
    output, state = rnn(torch.zeros(sizes.B, sizes.T, sizes.D))
    states = dict(zip(("h_n", "c_n"), state, strict=True)) if kind == "LSTM" else {"h_n": state}
    return {name: tuple(tensor.shape) for name, tensor in {"output": output, **states}.items()}
