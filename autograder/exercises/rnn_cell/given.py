"""What the tasks on deep networks are given: one of torch's RNNs, which notes its calls."""

import torch
from torch import nn

from autograder.checking import Draw, Submission, Target
from autograder.exercises.handed import noting


def reference_rnn(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.RNN:
    """A deep RNN with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def hand_over(submission: Submission, rnn: nn.RNN, dtype: torch.dtype = torch.float64) -> Target:
    """The same RNN on the student's side; its `lengths` are how many time steps each call was given."""
    return noting(submission, rnn, "lengths", dtype)
