"""Checks of `LSTMCell` for grading only."""

from autograder.checking import USUAL, case, expect, hidden, needs, points, reference, rule
from autograder.exercises.lstm_cell.test_LSTMCell import task

next_state = reference("reference_LSTMCell:next_state")


@points(0.5)
@rule("generality")
@hidden("Fed its own state, step after step, the cell stays right.")
@needs("test_matches_torch")
def test_chain_of_steps(submission, sizes, draw):
    """Fed its own state, step after step, it stays equal to nn.LSTMCell, even from a large state."""
    cell = task.prepare(submission, USUAL, draw)
    state = (draw("B H"), 200 * draw("B H"))
    for step in range(sizes.T + 2):
        x = draw("B D")
        with case(f"at step {step} of a chain"):
            wanted = next_state(cell.parameters, x, state)
            state = cell.target(x, state)
            expect(state, wanted, **task.form, sizes=sizes)
        state = tuple(part.to(x.dtype) for part in state)  # the dtype is another check's rule
