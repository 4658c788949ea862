"""Right and wrong answers to the tasks of 04_lstm_layer."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("04_lstm_layer")

MAJOR, RUN, LAYER = SOLUTIONS.values()
INIT = LAYER[: LAYER.index("    def forward")]


CORRECT = right_answers_of("04_lstm_layer")

ZEROS = "x.new_zeros(x.shape[0], cell.hidden_size)"
OPEN = edit(
    RUN,
    (
        "    output = []\n",
        f"    h, c = state if state is not None else ({ZEROS}, {ZEROS})\n    output = []\n",
    ),
    ("state = cell(x[:, t], state)", "h, c = cell(x[:, t], (h, c))"),
    ("append(state[0])", "append(h)"),
    ("dim=1), state", "dim=1), (h, c)"),
)
"""The same loop with both states as names of their own."""

BORROWED = """
            hidden.append(state[0])
            cells.append(state[1])
        return torch.stack(hidden, 1), torch.stack(cells, 1)
"""

WRONG = {
    "to_time_major": {
        "view of a flat x": ("generality", edit(MAJOR, ("x.", "x.view(-1).view(x.shape)."))),
    },
    "run_lstm_cell": {
        "a state is needed": (
            "values",
            edit(RUN, ("    output = []\n", "    h, c = state\n    output = []\n")),
        ),
        "only the last output": ("shape", edit(RUN, ("torch.stack(output, dim=1)", "output[-1]"))),
        "an nn.LSTM with the cell's weights": (
            "from-scratch",
            f"""
def run_lstm_cell(cell, x, state=None):
    h, c = state if state is not None else ({ZEROS}, {ZEROS})
    output, h, c = torch.lstm(x, (h[None], c[None]), list(cell.parameters()), True, 1, 0.0, False, False, True)
    return output, (h[0], c[0])
""",
        ),
        "the kernel a step": (
            "from-scratch",
            edit(OPEN, ("cell(x[:, t], (h, c))", "torch.lstm_cell(x[:, t], (h, c), *cell.parameters())")),
        ),
        "view": (
            "generality",
            edit(RUN, ("    output = []\n", "    x = x.view(-1).view(x.shape)\n    output = []\n")),
        ),
    },
    "LSTMLayer": {
        "a state is needed": ("values", edit(LAYER, ("if state is None:", "if False:"))),
        "cells time first": ("shape", edit(LAYER, ("torch.stack(cells, dim=1)", "torch.stack(cells)"))),
        "cat": ("shape", edit(LAYER, ("torch.stack(hidden, dim=1)", "torch.cat(hidden, dim=1)"))),
        "h and c as two arguments": (
            "shape",
            edit(
                LAYER,
                (
                    "def forward(self, x, state=None):\n        if state is None:",
                    "def forward(self, x, h=None, c=None):\n        if h is None:",
                ),
                ("        else:\n            h, c = state\n", ""),
            ),
        ),
        "stacked parameters": (
            "registration",
            "class LSTMLayer(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n"
            "        self.weight_ih = nn.Parameter(torch.randn(4 * H, D))\n        self.weight_hh = nn.Parameter(torch.randn(4 * H, H))\n"
            "        self.bias = nn.Parameter(torch.zeros(4 * H))\n        self.H = H\n"
            "    def forward(self, x, state=None):\n        h, c = state or (x.new_zeros(len(x), self.H),) * 2\n        hs, cs = [], []\n"
            "        for x_t in x.unbind(1):\n            i, f, g, o = (x_t @ self.weight_ih.T + h @ self.weight_hh.T + self.bias).chunk(4, 1)\n"
            "            c = f.sigmoid() * c + i.sigmoid() * g.tanh()\n            h = o.sigmoid() * c.tanh()\n            hs.append(h)\n            cs.append(c)\n"
            "        return torch.stack(hs, 1), torch.stack(cs, 1)\n",
        ),
        "an inner cell of its own": (
            "registration",
            INIT.replace("LSTMLayer", "Cell") + "    def forward(self, x, h, c):\n"
            "        i, f, o = (torch.sigmoid(x @ getattr(self, 'W_x' + k) + h @ getattr(self, 'W_h' + k) + getattr(self, 'b_' + k)) for k in 'ifo')\n"
            "        c = f * c + i * torch.tanh(x @ self.W_xg + h @ self.W_hg + self.b_g)\n        return o * torch.tanh(c), c\n\n"
            "class LSTMLayer(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n        self.cell, self.H = Cell(D, H), H\n"
            "    def forward(self, x, state=None):\n        h, c = state or (x.new_zeros(len(x), self.H),) * 2\n        hs, cs = [], []\n"
            "        for x_t in x.unbind(1):\n            h, c = self.cell(x_t, h, c)\n            hs.append(h)\n            cs.append(c)\n"
            "        return torch.stack(hs, 1), torch.stack(cs, 1)\n",
        ),
        "plain tensors": (
            "registration",
            edit(
                LAYER,
                (
                    "W_x = nn.Parameter(torch.empty(input_size, hidden_size))",
                    "W_x = torch.empty(input_size, hidden_size)",
                ),
            ),
        ),
        "a learned first state": (
            "registration",
            edit(
                LAYER,
                (
                    "        self.hidden_size = hidden",
                    "        self.h_0 = nn.Parameter(torch.zeros(hidden_size))\n        self.hidden_size = hidden",
                ),
            ),
        ),
        "shapes transposed": (
            "registration",
            edit(
                LAYER,
                ("torch.empty(input_size, hidden_size)", "torch.empty(hidden_size, input_size)"),
                *((f"x_t @ self.W_x{g}", f"x_t @ self.W_x{g}.T") for g in "ifgo"),
            ),
        ),
        "frozen": (
            "registration",
            edit(
                LAYER,
                (
                    "nn.Parameter(torch.zeros(hidden_size))",
                    "nn.Parameter(torch.zeros(hidden_size), requires_grad=False)",
                ),
            ),
        ),
        "no nn.Module": (
            "registration",
            edit(LAYER, ("(nn.Module)", ""), ("        super().__init__()\n", "")),
        ),
        "the same seed every time": (
            "values",
            edit(
                LAYER,
                (
                    "            nn.init.xavier_uniform_(W_h)\n",
                    "            torch.manual_seed(0)\n            nn.init.xavier_uniform_(W_h)\n",
                ),
            ),
        ),
        "view": (
            "generality",
            edit(
                LAYER,
                ("hidden, cells = [], []", "x = x.view(-1).view(x.shape)\n        hidden, cells = [], []"),
            ),
        ),
        "weights through data": ("gradient", edit(LAYER, ("x_t @ self.W_xo", "x_t @ self.W_xo.data"))),
        "no gradients": (
            "gradient",
            edit(LAYER, ("    def forward", "    @torch.no_grad()\n    def forward")),
        ),
        "filled into default tensors": (
            "dtype",
            edit(
                LAYER,
                (
                    "hidden, cells = [], []",
                    "cells = torch.zeros(x.shape[0], x.shape[1], self.hidden_size)\n        hidden = []",
                ),
                ("cells.append(c)", "cells[:, len(hidden) - 1] = c"),
                ("torch.stack(cells, dim=1)", "cells"),
            ),
        ),
        "a subclass of nn.LSTM": (
            "from-scratch",
            "class LSTMLayer(nn.LSTM):\n    def __init__(self, D, H):\n        super().__init__(D, H, batch_first=True)\n"
            "    def forward(self, x, state=None):\n        output, _ = super().forward(x, None if state is None else tuple(s[None] for s in state))\n        return output, output\n",
        ),
        "an inner nn.LSTMCell": (
            "from-scratch",
            "class LSTMLayer(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n        self.cell = nn.LSTMCell(D, H)\n"
            "    def forward(self, x, state=None):\n        hidden, cells = [], []\n        for x_t in x.unbind(1):\n            state = self.cell(x_t, state)"
            + BORROWED,
        ),
    },
}
