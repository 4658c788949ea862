"""What the tasks on ragged batches are given: lengths in no order, any padding, an LSTM that counts."""

import torch
from torch import nn

from autograder.checking import Draw, Sizes, Submission, Target, fail

HUGE = 1e30
"""Padding of this size drowns every real number as soon as it enters a sum."""

COUNTING = """
def counting_lstm(*args, **kwargs):
    lstm = nn.LSTM(*args, **kwargs)
    lstm.packed = []
    forward = lstm.forward

    def counted(input, hx=None):
        lstm.packed.append(isinstance(input, nn.utils.rnn.PackedSequence))
        return forward(input, hx)

    lstm.forward = counted
    return lstm
"""
"""An nn.LSTM and nothing else, by its type too, that notes of each call whether its input was packed."""


def roomy(sizes: Sizes) -> Sizes:
    """The same sizes with the smallest one among the features: there is room for lengths in many orders."""
    if sizes.B == 2:
        return sizes.but(B=sizes.D, D=2)
    if sizes.T == 2:
        return sizes.but(T=sizes.D, D=2)
    return sizes


def ragged_lengths(draw: Draw) -> torch.Tensor:
    """Lengths of which one is T and the first is not; the way into descending order is not the way back."""
    B, T = draw.sizes.B, draw.sizes.T
    if B < 3 or T < 3:
        lengths = draw.ints("B", T) + 1
        lengths[0], lengths[-1] = 1, T
        return lengths
    while True:
        lengths = draw.ints("B", T) + 1
        lengths[B // 2] = T
        order = lengths.argsort(descending=True, stable=True)
        if lengths[0] < T and len(lengths.unique()) >= 3 and not torch.equal(lengths[order[order]], lengths):
            return lengths


def real_steps(lengths: torch.Tensor, T: int) -> torch.Tensor:
    """(B, T) bool: which steps belong to a sequence."""
    return torch.tensor([[step < length for step in range(T)] for length in lengths.tolist()])


def padded_with(values: torch.Tensor, lengths: torch.Tensor, padding: float) -> torch.Tensor:
    """The same batch with one number in every padded place."""
    return torch.where(real_steps(lengths, values.shape[1])[..., None], values, padding).to(values.dtype)


def reference_lstm(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.LSTM:
    """A deep LSTM with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def hand_over(submission: Submission, lstm: nn.LSTM, dtype: torch.dtype = torch.float64) -> Target:
    """The same LSTM on the student's side, counting its calls."""
    return submission.given(
        "counting_lstm",
        lstm.input_size,
        lstm.hidden_size,
        lstm.num_layers,
        batch_first=True,
        source=COUNTING,
        state=lstm.state_dict(),
        dtype=dtype,
    )


def one_by_one(lstm: nn.LSTM, x: torch.Tensor, lengths: torch.Tensor):
    """Every sequence run alone, cut to its length: what padding must not change."""
    outputs, states, cells = [], [], []
    for row, length in enumerate(lengths.tolist()):
        output, (h_n, c_n) = lstm(x[row : row + 1, :length])
        rest = output.new_zeros(1, x.shape[1] - length, output.shape[2])
        outputs.append(torch.cat([output, rest], dim=1))
        states.append(h_n)
        cells.append(c_n)
    return torch.cat(outputs), (torch.cat(states, dim=1), torch.cat(cells, dim=1))


def expect_weights_untouched(given: Target, lstm: nn.LSTM) -> None:
    """The LSTM that was handed over still has its weights."""
    after = given.state_dict()
    for name, value in lstm.state_dict().items():
        if not torch.equal(after[name], value):
            fail(f"The call changed the LSTM's own weights: `{name}`. Read them, do not write into them.")
