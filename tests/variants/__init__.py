"""Answers to every task, as students write them: right ones in many styles, wrong ones with one fault each.

A wrong one is here if no known mistake in `solutions/mistakes` has the same fault, or if it is a whole answer.
`SOLUTIONS[task]` is one right answer; `CORRECT[task][name]` others; `WRONG[task][name]` is the rule
that is broken and the source.
"""

from tests.variants import (
    bidirectional,
    gradients,
    language_model,
    lstm_cell,
    lstm_layer,
    many_to_one,
    ragged_batches,
    rnn_cell,
    seq2seq,
    shapes,
    stacking,
    start,
    state,
)

NOTEBOOKS = {
    "start": start,
    "shapes": shapes,
    "rnn_cell": rnn_cell,
    "lstm_cell": lstm_cell,
    "lstm_layer": lstm_layer,
    "stacking": stacking,
    "state": state,
    "many_to_one": many_to_one,
    "bidirectional": bidirectional,
    "ragged_batches": ragged_batches,
    "seq2seq": seq2seq,
    "gradients": gradients,
    "language_model": language_model,
}
