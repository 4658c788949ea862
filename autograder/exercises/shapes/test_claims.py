"""`claims`: eight common claims about recurrent networks, each judged true or false.

Which answers are right is found out at grading only: a check that said so in the notebook could be asked
again and again until all of them are.
"""

from typing import Any

import torch

from autograder.checking import fail, hidden, points, rule
from autograder.exercises.shapes.given import spoken

READ = {
    "layers_see_all_timesteps": (True, "You might think: layer 0 reads step 0, layer 1 reads step 1"),
    "num_layers_equals_seq_len": (False, "You might think: layer 0 reads step 0, layer 1 reads step 1"),
    "h_n_holds_every_timestep": (False, "The idea: a grid of states"),
    "output_holds_every_layer": (False, "The idea: a grid of states"),
    "batch_first_changes_h_n": (False, "You might think: batch_first turns everything round"),
    "output_last_equals_top_h_n": (True, "By hand: a grid of twelve numbers"),
    "lstm_has_extra_cell_state": (True, "Three kinds of network"),
    "lstm_has_four_times_rnn_parameters": (True, "You might think: the cell state is all that an LSTM adds"),
}
"""What is true, and the section of the notebook that shows it."""


def answer_of(value: Any) -> bool | None:
    """A claim's answer; 0 and 1 and a single truth value in a tensor count, everything else is no answer."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.dtype == torch.bool:
        return bool(value)
    return bool(value) if isinstance(value, (bool, int, float)) and value in (0, 1) else None


def answers_in(submission) -> dict[str, bool | None]:
    """The answer to each of the eight claims, or a failure that says what `claims` is instead."""
    claims = submission.claims.attribute()
    if not isinstance(claims, dict):
        fail(f"`claims` is {spoken(claims)}, not a dict with an answer for each claim.")
    return {claim: answer_of(claims.get(claim)) for claim in READ}


@points(0)
@rule("shape")
def test_all_answered(submission, sizes, draw):
    """Every claim is answered with True or False; which answers are right is judged at grading."""
    answers = answers_in(submission)
    told = submission.claims.attribute()
    if all(told.get(claim) is None for claim in answers):
        fail("Not written yet: no claim is answered, so the cell still raises NotImplementedError.")
    still_open = [claim for claim, answer in answers.items() if answer is None]
    if still_open:
        first = still_open[0]
        seen = f" (`{first}` is {spoken(told[first])})" if told.get(first) is not None else ""
        fail(
            f"{len(answers) - len(still_open)} of {len(answers)} claims are answered. Neither `True` nor "
            f"`False`: {', '.join(f'`{claim}`' for claim in still_open)}"
            f"{seen}. An open claim earns nothing and costs nothing, a wrong answer costs what a right one "
            "earns."
        )


@points(3)
@rule("values")
@hidden("Every claim is judged rightly. A wrong answer costs what a right one earns.")
def test_judged_rightly(submission, sizes, draw):
    """All eight claims are judged rightly."""
    answers = answers_in(submission)
    right = [claim for claim, answer in answers.items() if answer is READ[claim][0]]
    wrong = [claim for claim, answer in answers.items() if answer is (not READ[claim][0])]
    if len(right) < len(answers):
        first = next(claim for claim in answers if claim not in right)
        fail(
            f"{len(right)} of {len(answers)} claims are judged rightly, {len(wrong)} wrongly. The first to "
            f"look at again is `{first}`: read the section “{READ[first][1]}”.",
            earned=max(0, len(right) - len(wrong)) / len(answers),
        )
