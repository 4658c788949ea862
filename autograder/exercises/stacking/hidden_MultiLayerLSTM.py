"""Checks of `MultiLayerLSTM` for grading only."""

from autograder.exercises.stacking.rules import OTHER_SIZES
from autograder.exercises.stacking.test_MultiLayerLSTM import task

test_any_size = task.any_size(
    *OTHER_SIZES,
    title="It works for one layer, five layers, one sequence, one step, equal sizes, non-contiguous inputs.",
    points=0.5,
    hidden="It works for models of other depths and sizes.",
    needs=["test_matches_torch"],
)
