"""`claims`: eight common claims about recurrent networks, each judged true or false.

Which answers are right is found out at grading only: a check that said so in the notebook could be asked
again and again until all of them are.
"""

from typing import Any

import torch

from autograder.checking import NotWritten, fail, points, rule, teaching_only
from autograder.exercises.shapes.given import spoken

SECTIONS = {
    "layers_see_all_timesteps": "A layer for each step?",
    "num_layers_equals_seq_len": "A layer for each step?",
    "h_n_holds_every_timestep": "The idea: a grid of states",
    "output_holds_every_layer": "The idea: a grid of states",
    "batch_first_changes_h_n": "You might think: batch_first changes the layout of everything",
    "output_last_equals_top_h_n": "By hand: a grid of twelve numbers",
    "lstm_has_extra_cell_state": "Three kinds of network",
    "lstm_has_four_times_rnn_parameters": "The cell state, and what else?",
}
"""The section of the notebook that shows what is true of each claim."""


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
    return {claim: answer_of(claims.get(claim)) for claim in SECTIONS}


@teaching_only
@points(0)
@rule("shape")
def test_all_answered(submission, sizes, draw):
    """Every claim is answered with True or False; which answers are right is judged at grading only."""
    answers = answers_in(submission)
    told = submission.claims.attribute()
    if all(told.get(claim) is None for claim in answers):
        raise NotWritten("Not written yet: no claim is answered.")
    still_open = [claim for claim, answer in answers.items() if answer is None]
    if still_open:
        first = still_open[0]
        seen = f" (`{first}` is {spoken(told[first])})" if told.get(first) is not None else ""
        names = ", ".join(f"`{claim}`" for claim in still_open)
        unknown = [name for name in told if name not in answers]
        if unknown:
            fail(f"There is no claim `{unknown[0]}`. Still open: {names}.")
        fail(
            f"{len(answers) - len(still_open)} of {len(answers)} claims are answered. Neither `True` "
            f"nor `False`: {names}{seen}. An open claim "
            "earns nothing and costs nothing; a wrong answer costs as much as a right one earns."
        )
