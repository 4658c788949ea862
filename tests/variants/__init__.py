"""Answers to every task, as students write them: right ones in many styles, wrong ones with one fault each.

`SOLUTIONS[task]` is one right answer; `CORRECT[task][name]` others; `WRONG[task][name]` is the rule
that is broken and the source.
"""

from tests.variants import lstm_cell, rnn_cell

NOTEBOOKS = {"rnn_cell": rnn_cell, "lstm_cell": lstm_cell}
