"""Checks of `stacked_rnn` for grading only."""

from autograder.checking import sized, strided
from autograder.exercises.rnn_cell.test_stacked_rnn import task

test_any_depth = task.any_size(
    sized("with one layer (L = 1)", L=1),
    sized("with five layers", L=5),
    sized("with twelve layers", L=12),  # the names of layers 1 and 11 end alike
    sized("with one sequence (B = 1)", B=1),
    sized("with one time step (T = 1)", T=1),
    sized("with every size 4", B=4, T=4, D=4, H=4, L=4),
    strided(),
    title="It works for one, five and twelve layers, one sequence, one step, equal sizes, non-contiguous "
    "inputs.",
    points=0.5,
    hidden="It works for networks of other depths and sizes than the ones you have seen.",
    needs=["test_matches_torch"],
)
