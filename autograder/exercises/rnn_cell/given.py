"""The network for the tasks on deep networks: one of torch's RNNs."""

from torch import nn

from autograder.checking import Draw
from autograder.exercises.handed import hand_over as hand_over


def reference_rnn(draw: Draw) -> nn.RNN:
    """A deep RNN with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True)
