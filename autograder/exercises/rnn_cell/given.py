"""What the tasks on deep networks are given: one of torch's RNNs, which counts its calls."""

import torch
from torch import nn

from autograder.checking import Draw, Submission, Target

COUNTING = """
class CountingRNN(nn.RNN):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.lengths = []

    def forward(self, x, h_0=None):
        self.lengths.append(x.shape[1] if x.dim() == 3 else x.shape[0])
        return super().forward(x, h_0)
"""


def reference_rnn(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.RNN:
    """A deep RNN with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def hand_over(submission: Submission, rnn: nn.RNN, dtype: torch.dtype = torch.float64) -> Target:
    """The same RNN on the student's side, counting its calls."""
    return submission.given(
        "CountingRNN",
        rnn.input_size,
        rnn.hidden_size,
        rnn.num_layers,
        batch_first=True,
        source=COUNTING,
        state=rnn.state_dict(),
        dtype=dtype,
    )
