"""Checks of `rnn_layer_backward` for grading only."""

from dataclasses import replace

from autograder.exercises.gradients.given import LAYER
from autograder.exercises.gradients.test_rnn_layer_backward import task

test_long_and_strided = task.any_size(
    LAYER.sized("with {T} time steps", B=2, T=(40, 70)),
    replace(LAYER, words="with inputs that are not contiguous in memory", is_strided=True),
    title="It works for long sequences, and for inputs that are not contiguous in memory.",
    points=0.5,
    hidden="It works for other lengths and layouts than the ones you have seen.",
    needs=["test_values"],
)
