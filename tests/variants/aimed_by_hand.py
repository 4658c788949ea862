"""Wrong answers aimed at holes in 02 to 05: right for as many steps, calls and layers as are usual."""

from tests.variants import lstm_cell, lstm_layer, rnn_cell, stacking
from tests.variants.edits import edit

AIMED = {
    "rnn_cell": {
        "rnn_layer": {
            "the graph cut every twenty steps": (
                "gradient",
                edit(
                    rnn_cell.LAYER,
                    (
                        "        h = rnn_cell",
                        "        h = h.detach() if t and t % 20 == 0 else h\n        h = rnn_cell",
                    ),
                ),
            ),
        },
        "run_stepwise": {
            "the graph cut every twenty steps": (
                "gradient",
                edit(
                    rnn_cell.STEPWISE,
                    (
                        "        output.append",
                        "        state = state.detach() if t % 20 == 19 else state\n        output.append",
                    ),
                ),
            ),
        },
        "stacked_rnn": {
            "a long sequence off the graph": (
                "gradient",
                edit(
                    rnn_cell.STACK,
                    ("layer_input = x\n", "layer_input = x.detach() if x.shape[1] > 30 else x\n"),
                ),
            ),
        },
    },
    "lstm_cell": {
        "LSTMCell": {
            "h off the graph after twelve calls": (
                "gradient",
                edit(
                    lstm_cell.CELL,
                    ("__init__()\n", "__init__()\n        self.calls = 0\n"),
                    (
                        "        i = torch",
                        "        self.calls += 1\n        h = h.detach() if self.calls > 12 else h\n        i = torch",
                    ),
                ),
            ),
        },
    },
    "lstm_layer": {
        "to_time_major": {
            "a long sequence off the graph": (
                "gradient",
                edit(lstm_layer.MAJOR, ("return x", "return (x.detach() if x.shape[1] > 99 else x)")),
            ),
        },
        "run_lstm_cell": {
            "the graph cut after 24 steps": (
                "gradient",
                edit(
                    lstm_layer.RUN,
                    (
                        "        output.append",
                        "        state = tuple(s.detach() for s in state) if t > 23 else state\n        output.append",
                    ),
                ),
            ),
        },
        "LSTMLayer": {
            "the state of one sequence forgotten in eval()": (
                "generality",
                edit(
                    lstm_layer.LAYER,
                    ("if state is None:", "if state is None or (not self.training and len(x) == 1):"),
                ),
            ),
            "h off the graph after thirty steps": (
                "gradient",
                edit(
                    lstm_layer.LAYER,
                    (
                        "            hidden.append",
                        "            h = h.detach() if len(hidden) > 30 else h\n            hidden.append",
                    ),
                ),
            ),
        },
    },
    "stacking": {
        "StackedLSTM": {
            "dropout between the first three layers alone": (
                "dropout",
                edit(stacking.STACK, ("if k > 0:", "if 0 < k < 3:")),
            ),
            "a long sequence off the graph": (
                "gradient",
                edit(
                    stacking.STACK,
                    (
                        "            h_n.append",
                        "            hidden = hidden.detach() if len(x[0]) > 30 else hidden\n            h_n.append",
                    ),
                ),
            ),
        },
    },
}
"""By notebook and task, as `WRONG` of each notebook's module."""
