"""Checks of `LSTMLayer` for grading only."""

from autograder.checking import USUAL, carried, case, expect, hidden, needs, points, reference, rule
from autograder.exercises.lstm_layer.test_LSTMLayer import task

all_states = reference("reference_LSTMLayer:all_states")


@points(0.5)
@rule("generality")
@hidden(
    "Stopped at some step and restarted from its own states, the layer continues as if it had never stopped."
)
@needs("test_matches_torch")
def test_goes_on_anywhere(submission, sizes, draw):
    """Stopped after any step and restarted from both states of that step, it continues in the same way."""
    here = draw.at(sizes.but(T=sizes.T + 3))
    layer = task.prepare(submission, USUAL, here)
    x, (h, c) = layer.arguments
    state = (h, 20 * c)  # as a long sequence may have counted up
    whole, wanted = layer.target(x, state), all_states(layer.parameters, x, state)
    expect(whole, wanted, **task.form, sizes=here.sizes)
    for step in (0, 2):
        rest = here.sizes.but(T=here.sizes.T - step - 1)
        state = carried([part[:, step] for part in whole], [part[:, step] for part in wanted])
        with case(f"stopped after step {step} and started again from its states there"):
            answer = layer.target(x[:, step + 1 :], state)
            expect(answer, tuple(part[:, step + 1 :] for part in wanted), **task.form, sizes=rest)
