"""Inputs for the tasks on ragged batches: lengths in no order, any padding, an LSTM."""

from collections.abc import Iterator

import torch
from torch import nn

from autograder.checking import Draw, Sizes, recorded
from autograder.exercises.handed import hand_over as hand_over

HUGE = 1e30
"""Padding of this size drowns every real number as soon as it enters a sum."""


def roomy(sizes: Sizes) -> Sizes:
    """The sizes with the smallest one among the features: there is room for lengths in many orders."""
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


def ragged_outputs(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs with numbers in every place, padded ones too, and lengths in no order."""
    return draw("B T H", dtype=dtype), ragged_lengths(draw)


def real_steps(lengths: torch.Tensor, T: int) -> torch.Tensor:
    """A mask (B, T), true on the steps that belong to a sequence."""
    return torch.tensor([[step < length for step in range(T)] for length in lengths.tolist()])


def padded_with(values: torch.Tensor, lengths: torch.Tensor, padding: float) -> torch.Tensor:
    """The batch with one number in every padded place."""
    return torch.where(real_steps(lengths, values.shape[1])[..., None], values, padding).to(values.dtype)


def every_padding(output: torch.Tensor, lengths: torch.Tensor) -> dict[str, torch.Tensor]:
    """The batch with what its padding may hold, by the words for it; `output` has none of it zero."""
    return {
        "with zeros as padding": padded_with(output, lengths, 0.0),
        "with padding that is not zero": output,
        "with huge numbers as padding": padded_with(output, lengths, HUGE),
    }


def every_length(draw: Draw, *own: tuple[Sizes, str]) -> Iterator[tuple[Draw, torch.Tensor, str]]:
    """Batches whose lengths run from 1 to all steps, and some of a task's `own` sizes.

    Each is a source of numbers at its sizes, the lengths, and the words for it.
    """
    room = draw.sizes
    for sizes, fixed, context in (
        (room.but(B=1), room.T - 2, "with one sequence (B = 1), shorter than its row"),
        (room.but(T=1), 1, "with one time step (T = 1)"),
        *((sizes, None, context) for sizes, context in own),
        (room, room.T, "with every sequence as long as the batch"),
        (room, 1, "with every sequence one step long"),
        (room, room.T - 1, "with no sequence as long as the batch"),
        (large(draw), None, "with more of everything"),
    ):
        here = draw.at(sizes)
        yield here, ragged_lengths(here) if fixed is None else torch.full((sizes.B,), fixed), context


def large(draw: Draw) -> Sizes:
    """Many sequences, many steps, and features enough to be told from one another."""
    return draw.sizes.but(B=draw.size(20, 70), T=draw.size(40, 130), D=2, H=2)


def every_gradient(draw: Draw) -> Iterator[tuple[Draw, torch.Tensor, str]]:
    """Batches for looking at gradients, in the form of `every_length`."""
    room = draw.sizes
    for sizes, fixed, context in (
        (room.but(T=draw.size(31, 70), D=2, H=2), None, "with sequences in no order"),
        (room, room.T, "with every sequence as long as the batch"),
        (room.but(B=1), room.T - 1, "with one sequence (B = 1)"),
    ):
        here = draw.at(sizes)
        yield here, ragged_lengths(here) if fixed is None else torch.full((sizes.B,), fixed), context


def reference_lstm(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.LSTM:
    """A deep LSTM with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


@recorded
def one_by_one(lstm: nn.LSTM, x: torch.Tensor, lengths: torch.Tensor):
    """The results of every sequence alone, cut to its length: padding must not change them."""
    outputs, states, cells = [], [], []
    for row, length in enumerate(lengths.tolist()):
        output, (h_n, c_n) = lstm(x[row : row + 1, :length])
        rest = output.new_zeros(1, x.shape[1] - length, output.shape[2])
        outputs.append(torch.cat([output, rest], dim=1))
        states.append(h_n)
        cells.append(c_n)
    return torch.cat(outputs), (torch.cat(states, dim=1), torch.cat(cells, dim=1))
