"""Checks of `run_packed` for grading only."""

import torch

from autograder.exercises.ragged_batches.given import equal, room
from autograder.exercises.ragged_batches.test_run_packed import task

test_any_size = task.any_size(
    room("with one sequence (B = 1)", B=1, lengths=equal()),
    room("with one time step (T = 1)", T=1),
    room("with one layer (L = 1)", L=1),
    room("with many layers", L=(5, 9), H=2),
    room("with a large batch", B=(20, 50), T=(24, 60), D=2, H=2, L=1),
    room("with every size 4", B=4, T=4, D=4, H=4, L=4, lengths=lambda draw: torch.tensor([2, 4, 1, 3])),
    room("with every sequence as long as the batch", lengths=equal()),
    room("with the longest sequence first", B=3, lengths=lambda draw: torch.tensor([draw.sizes.T, 2, 1])),
    room("with the longest sequence last", B=3, lengths=lambda draw: torch.tensor([1, 2, draw.sizes.T])),
    room("with lengths that occur twice", B=4, lengths=lambda draw: torch.tensor([2, draw.sizes.T] * 2)),
    room("with an input that is not contiguous in memory", is_strided=True),
    title="It works for one sequence, one step, one or many layers, any order of lengths, non-contiguous "
    "inputs.",
    points=0.5,
    hidden="It works for batches, lengths and networks of other sizes than the ones you have seen.",
    needs=["test_as_one_by_one"],
)
