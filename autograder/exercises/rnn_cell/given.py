"""What the tasks on deep networks are given: one of torch's RNNs, which counts its calls."""

import torch
from torch import nn

from autograder.checking import Draw, Submission, Target, fail

COUNTING = """
def counting_rnn(*args, **kwargs):
    rnn = nn.RNN(*args, **kwargs)
    rnn.lengths = []
    forward = rnn.forward

    def counted(input, hx=None):
        rnn.lengths.append(input.shape[-2])
        return forward(input, hx)

    rnn.forward = counted
    return rnn
"""
"""An nn.RNN and nothing else, by its type too, that notes how many time steps each call was given."""


def reference_rnn(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.RNN:
    """A deep RNN with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def hand_over(submission: Submission, rnn: nn.RNN, dtype: torch.dtype = torch.float64) -> Target:
    """The same RNN on the student's side, counting its calls."""
    return submission.given(
        "counting_rnn",
        rnn.input_size,
        rnn.hidden_size,
        rnn.num_layers,
        batch_first=True,
        source=COUNTING,
        state=rnn.state_dict(),
        dtype=dtype,
    )


def expect_weights_untouched(given: Target, rnn: nn.RNN) -> None:
    """The RNN that was handed over still has its weights."""
    after = given.state_dict()
    for name, value in rnn.state_dict().items():
        if not torch.equal(after[name], value):
            fail(f"The call changed the RNN's own weights: `{name}`. Read them, do not write into them.")
