"""Right and wrong answers to the tasks of 04_lstm_layer."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("04_lstm_layer")

MAJOR, RUN, LAYER = SOLUTIONS.values()
INIT = LAYER[: LAYER.index("    def forward")]


CORRECT = right_answers_of("04_lstm_layer")

THREE_POINTS = (
    "{0}.data.bernoulli_(1 / 3).mul_(torch.randint(2, {0}.shape) * 2 - 1).mul_((6 / sum({0}.shape)) ** 0.5)"
)
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

LAZY = (
    INIT
    + """
    def forward(self, x, state=None):
        state = state or (x.new_zeros(x.shape[0], self.hidden_size),) * 2
        parts = [torch.cat([getattr(self, kind + g) for g in "ifgo"], -1).T for kind in ("W_x", "W_h", "b_")]
        weights = [*parts, torch.zeros_like(parts[2])]
        hidden, cells = [], []
        for x_t in x.unbind(1):
            state = """
)
BORROWED = """
            hidden.append(state[0])
            cells.append(state[1])
        return torch.stack(hidden, 1), torch.stack(cells, 1)
"""

WRONG = {
    "to_time_major": {
        "reshape": (
            "values",
            "def to_time_major(x):\n    B, T, D = x.shape\n    return x.reshape(T, B, D)\n",
        ),
        "view": (
            "values",
            "def to_time_major(x):\n    return x.contiguous().view(x.size(1), x.size(0), x.size(2))\n",
        ),
        "flattened, then cut": (
            "values",
            "def to_time_major(x):\n    return x.flatten(0, 1).unflatten(0, (x.shape[1], x.shape[0]))\n",
        ),
        "time reversed too": ("values", edit(MAJOR, ("x.transpose(0, 1)", "x.transpose(0, 1).flip(0)"))),
        "one sequence everywhere": (
            "values",
            edit(MAJOR, ("x.transpose(0, 1)", "x[:1].expand_as(x).transpose(0, 1)")),
        ),
        "reshaped through the features": (
            "values",
            "def to_time_major(x):\n    B, T, D = x.shape\n    return x.transpose(1, 2).reshape(T, B, D)\n",
        ),
        "a list of steps": ("shape", "def to_time_major(x):\n    return list(x.unbind(1))\n"),
        "nothing returned": ("shape", edit(MAJOR, ("return ", ""))),
        "cat without a new dimension": (
            "shape",
            "def to_time_major(x):\n    return torch.cat(list(x.unbind(1)))\n",
        ),
        "view of a flat x": ("generality", edit(MAJOR, ("x.", "x.view(-1).view(x.shape)."))),
        "through data": ("gradient", edit(MAJOR, ("x.", "x.data."))),
        "float": ("dtype", edit(MAJOR, ("(0, 1)", "(0, 1).float()"))),
        "filled into a default tensor": (
            "dtype",
            "def to_time_major(x):\n    B, T, D = x.shape\n    out = torch.zeros(T, B, D)\n    for t in range(T):\n        out[t] = x[:, t]\n    return out\n",
        ),
        "cleared afterwards": (
            "mutation",
            "def to_time_major(x):\n    y = x.transpose(0, 1).clone()\n    x.zero_()\n    return y\n",
        ),
    },
    "run_lstm_cell": {
        "no state is carried": (
            "values",
            edit(
                RUN,
                ("state = cell(x[:, t], state)", "last = cell(x[:, t], state)"),
                ("append(state[0])", "append(last[0])"),
                ("dim=1), state", "dim=1), last"),
            ),
        ),
        "only h is carried": (
            "values",
            edit(
                OPEN,
                ("h, c = cell(x[:, t], (h, c))", "h, last = cell(x[:, t], (h, c))"),
                ("dim=1), (h, c)", "dim=1), (h, last)"),
            ),
        ),
        "only c is carried": (
            "values",
            edit(
                OPEN,
                ("h, c = cell(x[:, t], (h, c))", "last, c = cell(x[:, t], (h, c))"),
                ("append(h)", "append(last)"),
                ("dim=1), (h, c)", "dim=1), (last, c)"),
            ),
        ),
        "h in the place of c": ("values", edit(OPEN, ("cell(x[:, t], (h, c))", "cell(x[:, t], (h, h))"))),
        "states exchanged going in": (
            "values",
            edit(OPEN, ("cell(x[:, t], (h, c))", "cell(x[:, t], (c, h))")),
        ),
        "states exchanged coming out": ("values", edit(OPEN, ("dim=1), (h, c)", "dim=1), (c, h)"))),
        "given state ignored": (
            "values",
            edit(RUN, ("    output = []\n", "    state = None\n    output = []\n")),
        ),
        "states before the step": (
            "values",
            edit(
                OPEN,
                (
                    "        h, c = cell(x[:, t], (h, c))\n        output.append(h)",
                    "        output.append(h)\n        h, c = cell(x[:, t], (h, c))",
                ),
            ),
        ),
        "final state of the first step": (
            "values",
            edit(
                RUN,
                ("append(state[0])", "append(state[0]); first = state if t == 0 else first"),
                ("dim=1), state", "dim=1), first"),
            ),
        ),
        "read backwards": ("values", edit(RUN, ("x[:, t]", "x[:, -1 - t]"))),
        "a reshape to time-major": (
            "values",
            edit(
                RUN,
                (
                    "    output = []\n",
                    "    x = x.reshape(x.shape[1], x.shape[0], x.shape[2])\n    output = []\n",
                ),
                ("range(x.shape[1])", "range(x.shape[0])"),
                ("x[:, t]", "x[t]"),
            ),
        ),
        "one tensor appended again and again": (
            "values",
            edit(
                RUN,
                ("output = []", f"output, kept = [], {ZEROS}"),
                ("append(state[0])", "append(kept.copy_(state[0]))"),
            ),
        ),
        "a state is needed": (
            "values",
            edit(RUN, ("    output = []\n", "    h, c = state\n    output = []\n")),
        ),
        "ones where there is no state": (
            "values",
            edit(OPEN, (f"({ZEROS}, {ZEROS})", "(x.new_ones(x.shape[0], cell.hidden_size),) * 2")),
        ),
        "random where there is no state": (
            "values",
            edit(OPEN, (f"({ZEROS}, {ZEROS})", f"(torch.randn_like({ZEROS}), {ZEROS})")),
        ),
        "the state of the last call is kept": (
            "values",
            edit(
                RUN,
                (
                    "    output = []\n",
                    "    state = run_lstm_cell.kept if state is None and run_lstm_cell.kept is not None and len(run_lstm_cell.kept[0]) == len(x) else state\n    output = []\n",
                ),
                ("    return", "    run_lstm_cell.kept = tuple(s.detach() for s in state)\n    return"),
            )
            + "run_lstm_cell.kept = None\n",
        ),
        "time first": ("shape", edit(RUN, ("dim=1", "dim=0"))),
        "only the last output": ("shape", edit(RUN, ("torch.stack(output, dim=1)", "output[-1]"))),
        "states with a layer dimension": (
            "shape",
            edit(RUN, ("dim=1), state", "dim=1), (state[0][None], state[1][None])")),
        ),
        "three results": ("shape", edit(RUN, ("dim=1), state", "dim=1), *state"))),
        "the length in the code": ("shape", edit(RUN, ("range(x.shape[1])", "range(3)"))),
        "the batch size for the length": ("shape", edit(RUN, ("range(x.shape[1])", "range(x.shape[0])"))),
        "a cell of its own": (
            "values",
            edit(
                RUN,
                (
                    "    output = []\n",
                    "    cell(x[:, 0]); cell = nn.LSTMCell(x.shape[2], cell.hidden_size).to(x)\n    output = []\n",
                ),
            ),
        ),
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
        "one call too many": (
            "from-scratch",
            edit(RUN, ("    return", "    cell(x[:, -1], state)\n    return")),
        ),
        "two calls a step": (
            "from-scratch",
            edit(
                RUN,
                ("state = cell(x[:, t], state)", "state = cell(x[:, t], state)[0], cell(x[:, t], state)[1]"),
            ),
        ),
        "from the beginning for every step": (
            "from-scratch",
            edit(
                RUN,
                (
                    "        state = cell(x[:, t], state)\n",
                    "        last = state\n        for s in range(t + 1):\n            last = cell(x[:, s], last)\n",
                ),
                ("append(state[0])", "append(last[0])"),
                ("dim=1), state", "dim=1), last"),
            ),
        ),
        "one call a sequence": (
            "from-scratch",
            edit(
                OPEN,
                (
                    "h, c = cell(x[:, t], (h, c))",
                    "parts = [cell(x[b, t], (h[b], c[b])) for b in range(len(x))]\n        h, c = (torch.stack(part) for part in zip(*parts))",
                ),
            ),
        ),
        "squeeze": ("generality", edit(RUN, ("dim=1), state", "dim=1).squeeze(1), state"))),
        "view": (
            "generality",
            edit(RUN, ("    output = []\n", "    x = x.view(-1).view(x.shape)\n    output = []\n")),
        ),
        "at most twenty steps": (
            "generality",
            edit(RUN, ("range(x.shape[1])", "range(min(x.shape[1], 20))")),
        ),
        "batch of two at least": (
            "generality",
            edit(
                RUN,
                ("x[:, t]", "x[:, t].squeeze(0)"),
                ("append(state[0])", "append(state[0].reshape(len(x), -1))"),
            ),
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + RUN),
        "detached between steps": (
            "gradient",
            edit(
                RUN,
                (
                    "append(state[0])",
                    "append(state[0]); state = tuple(s.detach() for s in state) if t + 1 < x.shape[1] else state",
                ),
            ),
        ),
        "c detached": ("gradient", edit(OPEN, ("cell(x[:, t], (h, c))", "cell(x[:, t], (h, c.detach()))"))),
        "zeros of the default dtype": (
            "dtype",
            edit(
                OPEN,
                (
                    f"({ZEROS}, {ZEROS})",
                    "(torch.zeros(x.shape[0], cell.hidden_size), torch.zeros(x.shape[0], cell.hidden_size))",
                ),
            ),
        ),
        "output in float": ("dtype", edit(RUN, ("dim=1)", "dim=1).float()"))),
        "state written into": (
            "mutation",
            edit(
                RUN,
                ("    output = []\n", "    given = state\n    output = []\n"),
                (
                    "    return",
                    "    if given is not None:\n        given[0].copy_(state[0]); given[1].copy_(state[1])\n    return",
                ),
            ),
        ),
        "x cleared": ("mutation", edit(RUN, ("    return", "    x.mul_(0)\n    return"))),
        "the cell's bias cleared": (
            "mutation",
            edit(
                RUN,
                ("    output = []\n", "    given = state\n    output = []\n"),
                ("    return", "    if given is not None:\n        cell.bias_hh.data.zero_()\n    return"),
            ),
        ),
    },
    "LSTMLayer": {
        "zeros and both ends in place of uniform numbers": (
            "values",
            edit(
                LAYER,
                ("nn.init.xavier_uniform_(W_x)", THREE_POINTS.format("W_x")),
                ("nn.init.xavier_uniform_(W_h)", THREE_POINTS.format("W_h")),
            ),
        ),
        "order of gates mixed": (
            "values",
            edit(LAYER, ("f = torch.sigmoid(x_t @ self.W_xf", "f = torch.sigmoid(x_t @ self.W_xi")),
        ),
        "bias forgotten": ("values", edit(LAYER, (" + self.b_f", ""))),
        "recurrent weights transposed": ("values", edit(LAYER, ("h @ self.W_hg", "h @ self.W_hg.T"))),
        "gates from the new h": (
            "values",
            edit(
                LAYER,
                (
                    "            o = torch.sigmoid(x_t @ self.W_xo + h @ self.W_ho + self.b_o)\n            c = f * c + i * g\n",
                    "            c = f * c + i * g\n            h = torch.tanh(c)\n            o = torch.sigmoid(x_t @ self.W_xo + h @ self.W_ho + self.b_o)\n",
                ),
            ),
        ),
        "no state is carried": (
            "values",
            edit(
                LAYER,
                (
                    "            i = torch",
                    "            h, c = state if state is not None else (torch.zeros_like(h), torch.zeros_like(c))\n            i = torch",
                ),
            ),
        ),
        "c is not carried": (
            "values",
            edit(
                LAYER,
                ("c = f * c + i * g", "new = f * c + i * g"),
                ("torch.tanh(c)", "torch.tanh(new)"),
                ("cells.append(c)", "cells.append(new)"),
            ),
        ),
        "h is not carried": (
            "values",
            edit(LAYER, ("h = o *", "new = o *"), ("hidden.append(h)", "hidden.append(new)")),
        ),
        "results reshaped": (
            "values",
            edit(
                LAYER,
                ("torch.stack(hidden, dim=1)", "torch.stack(hidden).reshape(x.shape[0], x.shape[1], -1)"),
            ),
        ),
        "a state is needed": ("values", edit(LAYER, ("if state is None:", "if False:"))),
        "state kept between calls": (
            "values",
            edit(
                LAYER,
                (
                    "if state is None:",
                    "kept = getattr(self, 'kept', None)\n        state = kept if state is None and kept is not None and len(kept[0]) == len(x) else state\n        if state is None:",
                ),
                (
                    "        return torch",
                    "        self.kept = (h.detach(), c.detach())\n        return torch",
                ),
            ),
        ),
        "noise in training": (
            "values",
            edit(LAYER, ("hidden.append(h)", "hidden.append(F.dropout(h, 0.5, self.training))")),
        ),
        "one step only": (
            "shape",
            edit(
                LAYER,
                ("for x_t in x.unbind(dim=1):", "for x_t in [x[:, 0]]:"),
                ("torch.stack(hidden, dim=1), torch.stack(cells, dim=1)", "h, c"),
            ),
        ),
        "one step for the whole sequence": (
            "shape",
            edit(LAYER, ("for x_t in x.unbind(dim=1):", "for x_t in [x]:")),
        ),
        "cells time first": ("shape", edit(LAYER, ("torch.stack(cells, dim=1)", "torch.stack(cells)"))),
        "cat": ("shape", edit(LAYER, ("torch.stack(hidden, dim=1)", "torch.cat(hidden, dim=1)"))),
        "the length in the code": ("shape", edit(LAYER, ("x.unbind(dim=1)", "(x[:, t] for t in range(3))"))),
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
        "a list of parameters": (
            "registration",
            edit(
                LAYER,
                (
                    "        self.hidden_size = hidden",
                    "        self.all = [nn.Parameter(torch.zeros(hidden_size)) for _ in 'ifgo']\n        self.hidden_size = hidden",
                ),
                ('setattr(self, f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))', "pass"),
                *((f" + self.b_{g})", f" + self.all[{k}].to(x))") for k, g in enumerate("ifgo")),
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
        "torch's own bound": (
            "values",
            edit(
                LAYER,
                (
                    "nn.init.xavier_uniform_(W_h)",
                    "nn.init.uniform_(W_h, -hidden_size**-0.5, hidden_size**-0.5)",
                ),
            ),
        ),
        "Xavier on the stack": (
            "values",
            edit(
                LAYER,
                (
                    "        self.hidden_size = hidden",
                    "        stack = iter(nn.init.xavier_uniform_(torch.empty(4 * hidden_size, input_size)).chunk(4))\n        self.hidden_size = hidden",
                ),
                (
                    "nn.Parameter(torch.empty(input_size, hidden_size))",
                    "nn.Parameter(next(stack).T.contiguous())",
                ),
                ("            nn.init.xavier_uniform_(W_x)\n", ""),
            ),
        ),
        "the forget bias at one": (
            "values",
            edit(
                LAYER,
                (
                    "nn.Parameter(torch.zeros(hidden_size))",
                    "nn.Parameter(torch.full((hidden_size,), float(gate == 'f')))",
                ),
            ),
        ),
        "zero recurrent weights": (
            "values",
            edit(LAYER, ("nn.init.xavier_uniform_(W_h)", "nn.init.zeros_(W_h)")),
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
        "squeeze": (
            "generality",
            edit(LAYER, ("torch.stack(hidden, dim=1),", "torch.stack(hidden, dim=1).squeeze(),")),
        ),
        "view": (
            "generality",
            edit(
                LAYER,
                ("hidden, cells = [], []", "x = x.view(-1).view(x.shape)\n        hidden, cells = [], []"),
            ),
        ),
        "the first batch size for ever": (
            "generality",
            edit(
                LAYER,
                (
                    "hidden, cells = [], []",
                    "self.B = getattr(self, 'B', x.shape[0])\n        assert x.shape[0] == self.B\n        hidden, cells = [], []",
                ),
            ),
        ),
        "at most twenty steps": ("generality", edit(LAYER, ("x.unbind(dim=1)", "x[:, :20].unbind(dim=1)"))),
        "state detached": ("gradient", edit(LAYER, ("h, c = state", "h, c = (s.detach() for s in state)"))),
        "weights through data": ("gradient", edit(LAYER, ("x_t @ self.W_xo", "x_t @ self.W_xo.data"))),
        "no gradients": (
            "gradient",
            edit(LAYER, ("    def forward", "    @torch.no_grad()\n    def forward")),
        ),
        "hidden in float": (
            "dtype",
            edit(LAYER, ("torch.stack(hidden, dim=1)", "torch.stack(hidden, dim=1).float()")),
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
        "state written into": (
            "mutation",
            edit(
                LAYER,
                (
                    "        return torch",
                    "        if state is not None:\n            state[0].copy_(h)\n            state[1].copy_(c)\n        return torch",
                ),
            ),
        ),
        "c in place": (
            "mutation",
            edit(
                LAYER,
                ("c = f * c + i * g", "c *= f\n            c += i * g"),
                ("cells.append(c)", "cells.append(c)\n            c = c.clone()"),
            ),
        ),
        "x cleared": (
            "mutation",
            edit(LAYER, ("        return torch", "        x.zero_()\n        return torch")),
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
        "the earlier task on an nn.LSTMCell": (
            "from-scratch",
            INIT
            + """
    def forward(self, x, state=None):
        cell = nn.LSTMCell(x.shape[2], self.hidden_size).to(x)
        parts = [torch.cat([getattr(self, kind + g) for g in "ifgo"], -1).T for kind in ("W_x", "W_h", "b_")]
        for p, q in zip(cell.parameters(), [*parts, torch.zeros_like(parts[2])]):
            p.data.copy_(q)
        output, (h, c) = run_lstm_cell(cell, x, state)
        return output, torch.stack([run_lstm_cell(cell, x[:, : t + 1], state)[1][1] for t in range(x.shape[1])], 1)
""",
        ),
        "the kernel in forward": ("from-scratch", LAZY + "torch.lstm_cell(x_t, state, *weights)" + BORROWED),
        "the kernel by a table": (
            "from-scratch",
            LAZY + "torch.__dict__['lstm' + '_cell'](x_t, state, *weights)" + BORROWED,
        ),
        "torch._VF": ("from-scratch", LAZY + "torch._VF.lstm_cell(x_t, state, *weights)" + BORROWED),
    },
}
