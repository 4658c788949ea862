"""References of `LSTMLayer`."""

import itertools

import torch

from autograder.exercises.lstm_layer.given import zeros
from autograder.exercises.per_gate import cell_step


def all_states(parameters, x, state=None):
    """Both states at every step, by torch's own step with per-gate parameters: (hidden, cells)."""
    state = state if state is not None else zeros(x, parameters["b_i"].shape[0])
    states = list(
        itertools.accumulate(x.unbind(1), lambda s, now: cell_step(parameters, now, *s), initial=state)
    )
    h, c = zip(*states[1:], strict=True)
    return torch.stack(h, dim=1), torch.stack(c, dim=1)
