"""Checks of `claims` for grading only."""

import torch
from torch import nn

from autograder.checking import fail, hidden, points, rule
from autograder.exercises.shapes.test_claims import SECTIONS, answers_in


def asked_of_torch(sizes) -> dict[str, bool]:
    """The true answers, found by experiment: they are written down nowhere that a student could read."""
    rnn = nn.RNN(sizes.D, sizes.H, sizes.L, batch_first=True).double()
    lstm = nn.LSTM(sizes.D, sizes.H, sizes.L, batch_first=True).double()
    time_first = nn.RNN(sizes.D, sizes.H, sizes.L).double()
    x = torch.randn(sizes.B, sizes.T, sizes.D, dtype=torch.float64, requires_grad=True)
    output, h_n = rnn(x)
    _, state = lstm(x)
    every_layer_every_step = sizes.B * sizes.T * sizes.L * sizes.H
    (reach,) = torch.autograd.grad(h_n[-1].sum(), x)  # from the top layer back to each step of the input

    def parameters(module):
        return sum(parameter.numel() for parameter in module.parameters())

    return {
        "layers_see_all_timesteps": bool((reach.abs().sum((0, 2)) > 0).all()),
        "num_layers_equals_seq_len": rnn.num_layers == output.shape[1],
        "h_n_holds_every_timestep": h_n.numel() == every_layer_every_step,
        "output_holds_every_layer": output.numel() == every_layer_every_step,
        "batch_first_changes_h_n": time_first(x.transpose(0, 1))[1].shape != h_n.shape,
        "output_last_equals_top_h_n": torch.allclose(output[:, -1], h_n[-1]),
        "lstm_has_extra_cell_state": isinstance(state, tuple) and len(state) == 2,
        "lstm_has_four_times_rnn_parameters": parameters(lstm) == 4 * parameters(rnn),
    }


@points(3)
@rule("values")
@hidden("Every claim is judged correctly. A wrong answer costs as much as a right one earns.")
def test_judged_rightly(submission, sizes, draw):
    """All eight claims are judged correctly."""
    answers = answers_in(submission)
    truth = asked_of_torch(sizes)
    right = [claim for claim, answer in answers.items() if answer is truth[claim]]
    wrong = [claim for claim, answer in answers.items() if answer is (not truth[claim])]
    if len(right) < len(answers):
        first = next(claim for claim in answers if claim not in right)
        fail(
            f"You judged {len(right)} of the {len(answers)} claims correctly and {len(wrong)} incorrectly. "
            f"Look first at `{first}` again: read the section “{SECTIONS[first]}”.",
            earned=max(0, len(right) - len(wrong)) / len(answers),
        )
