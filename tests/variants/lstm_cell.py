"""Right and wrong answers to the tasks of 03_lstm_cell."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("03_lstm_cell")

GATES, STEP, CELL, COPY = SOLUTIONS.values()


CORRECT = right_answers_of("03_lstm_cell")

GATES_BY = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    # With c = 0 the new cell state is i * g, and so on: torch does the work.
    h_next, c_next = {}(x, (h, torch.zeros_like(h)), w_ih, w_hh, b_ih, b_hh)
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), c_next / i.sigmoid(), h_next / torch.tanh(c_next)
"""

WRONG = {
    "lstm_gates": {
        "three gates": ("shape", edit(GATES, (", torch.sigmoid(o)\n", "\n"))),
        "a dict": (
            "shape",
            edit(
                GATES,
                (
                    "return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)",
                    "return dict(i=i, f=f, g=g, o=o)",
                ),
            ),
        ),
        "one of them None": (
            "shape",
            edit(GATES, ("torch.tanh(g), torch.sigmoid(o)", "torch.tanh(g), None")),
        ),
        "nested": (
            "shape",
            edit(
                GATES,
                (
                    "return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)",
                    "return (i, f), (g, o)",
                ),
            ),
        ),
        "view": (
            "generality",
            edit(GATES, ("x @ w_ih.T", "x.view(-1).view(x.shape) @ w_ih.T")),
        ),
        "detached gate": ("gradient", edit(GATES, ("torch.sigmoid(f)", "torch.sigmoid(f).detach()"))),
        "cast to float": ("dtype", edit(GATES, ("torch.tanh(g)", "torch.tanh(g).float()"))),
        "x unsqueezed in place": ("mutation", edit(GATES, ("sums = x @", "sums = x.unsqueeze_(0)[0] @"))),
        "torch.lstm_cell for some": ("from-scratch", GATES_BY.format("torch.lstm_cell")),
    },
    "lstm_cell": {
        "a module": ("shape", edit(STEP, ("return h_next, c_next", "return nn.Linear(2, 2)"))),
        "extra dimension": ("shape", edit(STEP, ("return h_next,", "return h_next[None],"))),
        "lists of numbers": (
            "shape",
            edit(STEP, ("return h_next, c_next", "return h_next.tolist(), c_next.tolist()")),
        ),
        "view": ("generality", edit(STEP, ("f * c", "f * c.view(-1).view(c.shape)"))),
        "h in place": (
            "mutation",
            edit(STEP, ("h_next = o * torch.tanh(c_next)", "h_next = h.copy_(o * torch.tanh(c_next))")),
        ),
    },
    "LSTMCell": {
        "state is needed": ("values", edit(CELL, ("if state is None:", "if False:"))),
        "plain tensors": (
            "registration",
            edit(
                CELL,
                (
                    "W_x = nn.Parameter(torch.empty(input_size, hidden_size))",
                    "W_x = torch.empty(input_size, hidden_size)",
                ),
            ),
        ),
        "a saved buffer more": (
            "registration",
            edit(
                CELL,
                (
                    "        self.hidden_size",
                    "        self.register_buffer('start', torch.zeros(1))\n        self.hidden_size",
                ),
            ),
        ),
        "a parameter more": (
            "registration",
            edit(
                CELL,
                (
                    "        self.hidden_size",
                    "        self.h_0 = nn.Parameter(torch.zeros(hidden_size))\n        self.hidden_size",
                ),
            ),
        ),
        "one parameter for all gates": (
            "registration",
            edit(
                CELL,
                (
                    '        for gate in "ifgo":\n            W_x = nn.Parameter(torch.empty(input_size, hidden_size))\n',
                    '        W_x = nn.Parameter(torch.empty(input_size, hidden_size))\n        for gate in "ifgo":\n',
                ),
            ),
        ),
        "no nn.Module": (
            "registration",
            edit(CELL, ("(nn.Module)", ""), ("        super().__init__()\n", "")),
        ),
        "the same seed every time": (
            "values",
            edit(
                CELL,
                (
                    "            nn.init.xavier_uniform_(W_h)\n",
                    "            torch.manual_seed(0)\n            nn.init.xavier_uniform_(W_h)\n",
                ),
            ),
        ),
        "view": (
            "generality",
            edit(CELL, ("        i = torch", "        x = x.view(-1).view(x.shape)\n        i = torch")),
        ),
        "float result": ("dtype", edit(CELL, ("return h_next,", "return h_next.float(),"))),
    },
    "copy_from_torch": {
        "parameters deleted": (
            "values",
            edit(
                COPY,
                (
                    'getattr(cell, f"W_x{gate}").copy_(torch_cell.weight_ih[rows].T)',
                    'delattr(cell, f"W_x{gate}"); setattr(cell, f"W_x{gate}", torch_cell.weight_ih[rows].T)',
                ),
            ),
        ),
        "no longer parameters": (
            "registration",
            edit(
                COPY,
                (
                    '            getattr(cell, f"b_{gate}").copy_(torch_cell.bias_ih[rows] + torch_cell.bias_hh[rows])',
                    '            b = torch_cell.bias_ih[rows] + torch_cell.bias_hh[rows]\n            delattr(cell, f"b_{gate}")\n            cell.register_buffer(f"b_{gate}", b)',
                ),
            ),
        ),
        "frozen parameters in place": (
            "registration",
            edit(
                COPY,
                (
                    'getattr(cell, f"b_{gate}").copy_(torch_cell.bias_ih[rows] + torch_cell.bias_hh[rows])',
                    'setattr(cell, f"b_{gate}", nn.Parameter(torch_cell.bias_ih[rows] + torch_cell.bias_hh[rows], False))',
                ),
            ),
        ),
        "a new parameter in place of the old one": (
            "registration",
            edit(
                COPY,
                (
                    'getattr(cell, f"W_h{gate}").copy_(torch_cell.weight_hh[rows].T)',
                    'setattr(cell, f"W_h{gate}", nn.Parameter(torch_cell.weight_hh[rows].T.clone()))',
                ),
            ),
        ),
    },
}
