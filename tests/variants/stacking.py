"""Right and wrong answers to the tasks of 05_stacking."""

from tests.variants.edits import edit
from tests.variants.kept import cells_of, right_answers_of, solutions_of

GIVEN = next(cell["source"] for cell in cells_of("05_stacking") if cell["id"] == "given-layer")
"""What the notebook gives to its tasks: a correct `LSTMLayer`, to be run before the answers."""

SOLUTIONS = solutions_of("05_stacking")

STACK, MULTI, COPY, COUNT = SOLUTIONS.values()

INIT = STACK[: STACK.index("    def forward")]


CORRECT = right_answers_of("05_stacking")

BORROWED = """
class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        self.layers = nn.LSTM(input_size, hidden_size, num_layers, dropout=dropout, batch_first=True)

    def forward(self, x, state=None):
        return self.layers(x, state)
"""
LENT = """
    def forward(self, x, state=None):
        L, H = len(self.layers), self.layers[0].hidden_size
        state = (x.new_zeros(L, x.shape[0], H),) * 2 if state is None else tuple(state)
        flat = []
        for layer in self.layers:
            flat += [torch.cat([getattr(layer, k + g) for g in "ifgo"], -1).T for k in ("W_x", "W_h", "b_")]
            flat += [torch.zeros_like(flat[-1])]
        output, h_n, c_n = torch.lstm(x, state, flat, True, L, self.dropout.p, self.training, False, True)
        return output, (h_n, c_n)
"""


def both(name: str, rule: str, *changes: tuple[str, str]) -> tuple[dict, dict]:
    """One fault in the stack and in the stack with a head."""
    return {name: (rule, edit(STACK, *changes))}, {name: (rule, edit(MULTI, *changes))}


FAULTS = [
    both("state is needed", "values", ("None if state is None else ", "")),
    both(
        "a Sequential of another name",
        "registration",
        ("self.layers = nn.ModuleList(", "self.layers, self.stack = [], nn.ModuleList("),
        ("enumerate(self.layers)", "enumerate(self.stack)"),
    ),
    both(
        "layers made in forward",
        "registration",
        (
            "self.layers = nn.ModuleList(LSTMLayer(width, hidden_size) for width in widths)",
            "self.widths, self.H = widths, hidden_size",
        ),
        ("enumerate(self.layers)", "enumerate([LSTMLayer(width, self.H).to(x) for width in self.widths])"),
    ),
    both("every step's states", "shape", ("hidden[:, -1]", "hidden"), ("cells[:, -1]", "cells")),
    both(
        "batch squeezed away",
        "generality",
        ("torch.stack(h_n), torch.stack(c_n)", "torch.stack(h_n).squeeze(1), torch.stack(c_n).squeeze(1)"),
    ),
    both(
        "detached first states",
        "gradient",
        ("(state[0][k], state[1][k])", "(state[0][k].detach(), state[1][k].detach())"),
    ),
    both(
        "final states in a buffer on the CPU",
        "device",
        (
            "torch.stack(c_n))",
            "torch.zeros(len(c_n), *c_n[0].shape, dtype=x.dtype).copy_(torch.stack(c_n)))",
        ),
    ),
    both("float results", "dtype", ("torch.stack(c_n))", "torch.stack(c_n).float())")),
]

WRONG = {
    "StackedLSTM": {name: fault for stack, _ in FAULTS for name, fault in stack.items()}
    | {
        "all layers in output": (
            "shape",
            edit(
                STACK,
                (
                    "            h_n.append",
                    "            every = hidden if k == 0 else torch.cat((every, hidden), 2)\n            h_n.append",
                ),
                ("return hidden,", "return every,"),
            ),
        ),
        "the same numbers on every call": (
            "dropout",
            edit(
                STACK,
                (
                    "                hidden = self",
                    "                torch.manual_seed(k)\n                hidden = self",
                ),
            ),
        ),
        "masks on the CPU": (
            "device",
            edit(
                STACK,
                ("self.dropout(hidden)", "hidden * self.dropout(torch.ones(hidden.shape, dtype=x.dtype))"),
            ),
        ),
        "nn.LSTM": ("from-scratch", BORROWED),
        "torch.lstm": (
            "from-scratch",
            INIT + LENT,
        ),
        "no module": (
            "shape",
            edit(
                STACK,
                ("class StackedLSTM(nn.Module):", "class StackedLSTM:"),
                ("super().__init__()", "self.training = False"),
                ("    def forward", "    def __call__"),
            ),
        ),
    },
    "MultiLayerLSTM": {name: fault for _, multi in FAULTS for name, fault in multi.items()}
    | {
        "one layer too many": ("registration", edit(MULTI, ("(num_layers - 1)", "num_layers"))),
        "final states side by side": (
            "shape",
            edit(MULTI, ("torch.stack(h_n), torch.stack(c_n)", "torch.cat(h_n), torch.cat(c_n)")),
        ),
        "the top layer's state only": (
            "shape",
            edit(MULTI, ("torch.stack(h_n), torch.stack(c_n)", "h_n[-1], c_n[-1]")),
        ),
        "not nested": (
            "shape",
            edit(MULTI, ("(torch.stack(h_n), torch.stack(c_n))", "torch.stack(h_n), torch.stack(c_n)")),
        ),
        "one mask for all time steps between layers": (
            "dropout",
            edit(
                MULTI,
                (
                    "    hidden = self.dropout(hidden)",
                    "    hidden = hidden * self.dropout(torch.ones_like(hidden[:, :1]))",
                ),
            ),
        ),
        "dropout in the last gap only": (
            "dropout",
            edit(MULTI, ("if k > 0:", "if 0 < k == len(self.layers) - 1:")),
        ),
    },
    "copy_from_torch": {
        "plain tensors": (
            "registration",
            edit(
                COPY,
                (
                    'getattr(layer, f"b_{gate}").copy_(b_ih[rows] + b_hh[rows])',
                    'delattr(layer, f"b_{gate}")\n                setattr(layer, f"b_{gate}", nn.Buffer(b_ih[rows] + b_hh[rows]))',
                ),
            ),
        ),
        "shared weights": (
            "mutation",
            edit(
                COPY,
                (
                    'getattr(layer, f"W_h{gate}").copy_(w_hh[rows].T)',
                    'getattr(layer, f"W_h{gate}").data = w_hh.data[rows].T',
                ),
            ),
        ),
    },
    "lstm_parameter_count": {
        "a float": ("shape", edit(COUNT, ("return first", "return 1.0 * first"))),
        "a tensor": (
            "shape",
            edit(
                COUNT,
                (
                    "return first + (num_layers - 1) * other",
                    "return torch.tensor(first + (num_layers - 1) * other)",
                ),
            ),
        ),
        "text": (
            "shape",
            edit(
                COUNT,
                ("return first + (num_layers - 1) * other", "return f'{first + (num_layers - 1) * other:,}'"),
            ),
        ),
        "a tuple": (
            "shape",
            edit(
                COUNT, ("return first + (num_layers - 1) * other", "return first, (num_layers - 1) * other")
            ),
        ),
    },
}
