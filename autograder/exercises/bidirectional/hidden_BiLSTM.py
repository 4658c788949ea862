"""Checks of `BiLSTM` for grading only."""

from autograder.checking import sized, strided
from autograder.exercises.bidirectional.test_BiLSTM import task

test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1),
    sized("with one time step (T = 1)", T=1),
    sized("with one feature and one hidden unit", D=1, H=1),
    sized("with every size 1", B=1, T=1, D=1, H=1),
    sized("with every size 4", B=4, T=4, D=4, H=4),
    sized("with a long sequence", B=2, T=(40, 130), H=2),
    sized("with many sequences", B=(20, 70), T=3, H=2),
    sized("with many hidden units", B=1, T=2, H=(20, 40)),
    strided("with an input that is not contiguous in memory"),
    sized("when the same module gets a second batch, of other sizes", B=3, T=6).again(),
    sized("when the same module gets a third batch, as large as the second", B=3, T=6).again(),
    title="It works for one sequence, one step, equal sizes, non-contiguous inputs, and batch after batch.",
    points=0.5,
    hidden="It works for inputs of other sizes than the ones you have seen.",
    needs=["test_output", "test_final_states"],
)
