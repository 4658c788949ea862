"""Checks of `mean_over_time` for grading only."""

from autograder.checking import sized, strided
from autograder.exercises.start.test_mean_over_time import task

test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1),
    sized("with one time step (T = 1)", T=1),
    sized("with one feature (D = 1)", D=1),
    sized("with every size 1", B=1, T=1, D=1),
    sized("with every size 4", B=4, T=4, D=4),
    sized("with {T} steps", T=(40, 70)),
    strided(),
    title="It works for one sequence, one step, one feature, long sequences, and non-contiguous inputs.",
    points=0.5,
    hidden="It works for inputs of other sizes than the ones you have seen.",
    needs=["test_values"],
)
