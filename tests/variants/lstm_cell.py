"""Right and wrong answers to the tasks of 03_lstm_cell."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("03_lstm_cell")

GATES, STEP, CELL, COPY = SOLUTIONS.values()
INIT = CELL[: CELL.index("    def forward")]


CORRECT = right_answers_of("03_lstm_cell")

STEP_BY = """
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    return {}
"""
GATES_BY = """
def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    # With c = 0 the new cell state is i * g, and so on: torch does the work.
    h_next, c_next = {}(x, (h, torch.zeros_like(h)), w_ih, w_hh, b_ih, b_hh)
    i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), c_next / i.sigmoid(), h_next / torch.tanh(c_next)
"""
LAZY = (
    INIT
    + """
    def forward(self, x, state=None):
        state = state or (x.new_zeros(x.shape[0], self.hidden_size),) * 2
        parts = [torch.cat([getattr(self, kind + g) for g in "ifgo"], -1).T for kind in ("W_x", "W_h", "b_")]
        weights = dict(weight_ih=parts[0], weight_hh=parts[1], bias_ih=parts[2], bias_hh=torch.zeros_like(parts[2]))
        return """
)
BORROWED = "torch.func.functional_call({}(x.shape[1], self.hidden_size), weights, (x, state))\n"

WRONG = {
    "lstm_gates": {
        "state ignored": ("values", edit(GATES, ("h @ w_hh.T", "0 * (h @ w_hh.T)"))),
        "softmax over the gates": ("values", edit(GATES, ("torch.sigmoid(i)", "torch.softmax(i, 1)"))),
        "every fourth column": (
            "values",
            edit(GATES, ("sums.chunk(4, dim=1)", "(sums[:, k::4] for k in range(4))")),
        ),
        "chunked along the batch": (
            "shape",
            edit(
                GATES,
                ("dim=1", "dim=0"),
                ("sums =", "sums = torch.zeros(4, 1).to(x) +  0 *"),
                ("x @ w_ih.T + b_ih + h @ w_hh.T + b_hh", "x.sum()"),
            ),
        ),
        "the sums in one piece": (
            "shape",
            "def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):\n    return torch.sigmoid(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)\n",
        ),
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
        "one unit of hidden size": (
            "shape",
            edit(GATES, ("sums.chunk(4, dim=1)", "sums[:, :4].chunk(4, dim=1)")),
        ),
        "squeeze": ("generality", edit(GATES, ("torch.sigmoid(i),", "torch.sigmoid(i).squeeze(),"))),
        "view": (
            "generality",
            edit(GATES, ("x @ w_ih.T", "x.view(-1).view(x.shape) @ w_ih.T")),
        ),
        "detached gate": ("gradient", edit(GATES, ("torch.sigmoid(f)", "torch.sigmoid(f).detach()"))),
        "weights through data": ("gradient", edit(GATES, ("w_ih.T", "w_ih.data.T"))),
        "cast to float": ("dtype", edit(GATES, ("torch.tanh(g)", "torch.tanh(g).float()"))),
        "double results": ("dtype", edit(GATES, ("torch.sigmoid(o)", "torch.sigmoid(o).double()"))),
        "x unsqueezed in place": ("mutation", edit(GATES, ("sums = x @", "sums = x.unsqueeze_(0)[0] @"))),
        "state written into": ("mutation", edit(GATES, ("    i, f", "    h.zero_()\n    i, f"))),
        "torch.lstm_cell for some": ("from-scratch", GATES_BY.format("torch.lstm_cell")),
        "the kernel by a table": ("from-scratch", GATES_BY.format("torch.__dict__['lstm' + '_cell']")),
        "the kernel through torch.ops": ("from-scratch", GATES_BY.format("torch.ops.aten.lstm_cell")),
    },
    "lstm_cell": {
        "numbers": ("shape", edit(STEP, ("return h_next, c_next", "return h_next.mean().item(), 0"))),
        "a module": ("shape", edit(STEP, ("return h_next, c_next", "return nn.Linear(2, 2)"))),
        "extra dimension": ("shape", edit(STEP, ("return h_next,", "return h_next[None],"))),
        "lists of numbers": (
            "shape",
            edit(STEP, ("return h_next, c_next", "return h_next.tolist(), c_next.tolist()")),
        ),
        "squeeze": ("generality", edit(STEP, ("return h_next,", "return h_next.squeeze(0),"))),
        "view": ("generality", edit(STEP, ("f * c", "f * c.view(-1).view(c.shape)"))),
        "no_grad": ("gradient", "@torch.no_grad()" + STEP),
        "float result": ("dtype", edit(STEP, ("return h_next,", "return h_next.float(),"))),
        "zeros of the default dtype": (
            "dtype",
            edit(STEP, ("c_next = f * c", "c_next = torch.zeros(c.shape)\n    c_next[:] = f * c")),
        ),
        "h in place": (
            "mutation",
            edit(STEP, ("h_next = o * torch.tanh(c_next)", "h_next = h.copy_(o * torch.tanh(c_next))")),
        ),
        "x cleared": ("mutation", edit(STEP, ("    return", "    x.zero_()\n    return"))),
        "torch.lstm_cell": (
            "from-scratch",
            STEP_BY.format("torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)"),
        ),
        "torch._VF": (
            "from-scratch",
            STEP_BY.format("torch._VF.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)"),
        ),
        "torch._C": (
            "from-scratch",
            STEP_BY.format("torch._C._VariableFunctions.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)"),
        ),
        "a local import": (
            "from-scratch",
            STEP_BY.format("__import__('torch').lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)"),
        ),
        "operator.attrgetter": (
            "from-scratch",
            "import operator\n"
            + STEP_BY.format("operator.attrgetter('lstm_' 'cell')(torch)(x, (h, c), w_ih, w_hh, b_ih, b_hh)"),
        ),
        "defined, then wrapped": (
            "from-scratch",
            STEP_BY.format("torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)")
            + "import functools\nlstm_cell = functools.lru_cache(maxsize=0)(lstm_cell)\n",
        ),
        "defined under an if": (
            "from-scratch",
            "if True:\n    def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):\n"
            "        return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)\n",
        ),
        "a closure": (
            "from-scratch",
            "def make():\n    step = torch.lstm_cell\n    def inner(x, h, c, *w):\n        return step(x, (h, c), *w)\n    return inner\n"
            "lstm_cell = make()\n",
        ),
    },
    "LSTMCell": {
        "bias forgotten": ("values", edit(CELL, (" + self.b_f", ""))),
        "recurrent weights transposed": ("values", edit(CELL, ("h @ self.W_hg", "h @ self.W_hg.T"))),
        "state is needed": ("values", edit(CELL, ("if state is None:", "if False:"))),
        "random first state": (
            "values",
            edit(
                CELL,
                (
                    "x.new_zeros(x.shape[0], self.hidden_size)",
                    "torch.randn_like(x.new_zeros(x.shape[0], self.hidden_size))",
                ),
            ),
        ),
        "state kept between calls": (
            "values",
            edit(
                CELL,
                (
                    "if state is None:",
                    "state = state if state is not None else getattr(self, 'kept', None)\n        if state is None:",
                ),
                (
                    "return h_next, c_next",
                    "self.kept = (h_next.detach(), c_next.detach())\n        return h_next, c_next",
                ),
            ),
        ),
        "stacked parameters": (
            "registration",
            "class LSTMCell(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n"
            "        self.weight_ih = nn.Parameter(torch.randn(4 * H, D))\n        self.weight_hh = nn.Parameter(torch.randn(4 * H, H))\n"
            "        self.bias = nn.Parameter(torch.zeros(4 * H))\n        self.H = H\n"
            "    def forward(self, x, state=None):\n        h, c = state or (x.new_zeros(len(x), self.H),) * 2\n"
            "        i, f, g, o = (x @ self.weight_ih.T.to(x) + h @ self.weight_hh.T.to(x) + self.bias.to(x)).chunk(4, 1)\n"
            "        c = f.sigmoid() * c + i.sigmoid() * g.tanh()\n        return o.sigmoid() * c.tanh(), c\n",
        ),
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
        "a list of parameters": (
            "registration",
            edit(
                CELL,
                (
                    "        self.hidden_size",
                    "        self.all = [nn.Parameter(torch.zeros(hidden_size)) for _ in 'ifgo']\n        self.hidden_size",
                ),
                ('setattr(self, f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))', "pass"),
                *((f" + self.b_{g})", f" + self.all[{k}].to(x))") for k, g in enumerate("ifgo")),
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
        "nn.Linear in each gate": (
            "registration",
            "class LSTMCell(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n"
            "        self.x, self.h, self.H = nn.Linear(D, 4 * H), nn.Linear(H, 4 * H), H\n"
            "    def forward(self, x, state=None):\n        h, c = state or (x.new_zeros(len(x), self.H),) * 2\n"
            "        i, f, g, o = (self.x.to(x)(x) + self.h.to(x)(h)).chunk(4, 1)\n"
            "        c = f.sigmoid() * c + i.sigmoid() * g.tanh()\n        return o.sigmoid() * c.tanh(), c\n",
        ),
        "shapes transposed": (
            "registration",
            edit(
                CELL,
                ("torch.empty(input_size, hidden_size)", "torch.empty(hidden_size, input_size)"),
                *((f"x @ self.W_x{g}", f"x @ self.W_x{g}.T") for g in "ifgo"),
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
        "a function": (
            "registration",
            "def LSTMCell(input_size, hidden_size):\n    return torch.zeros(input_size, hidden_size)\n",
        ),
        "torch's own bound": (
            "values",
            edit(
                CELL,
                (
                    "nn.init.xavier_uniform_(W_h)",
                    "nn.init.uniform_(W_h, -hidden_size**-0.5, hidden_size**-0.5)",
                ),
            ),
        ),
        "zero weights": ("values", edit(CELL, ("nn.init.xavier_uniform_(W_h)", "nn.init.zeros_(W_h)"))),
        "Xavier on the stack": (
            "values",
            edit(
                CELL,
                (
                    "        self.hidden_size",
                    "        stack = iter(nn.init.xavier_uniform_(torch.empty(4 * hidden_size, input_size)).chunk(4))\n        self.hidden_size",
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
                CELL,
                (
                    "nn.Parameter(torch.zeros(hidden_size))",
                    "nn.Parameter(torch.full((hidden_size,), float(gate == 'f')))",
                ),
            ),
        ),
        "every gate starts alike": (
            "values",
            edit(
                CELL,
                (
                    "            nn.init.xavier_uniform_(W_h)\n",
                    "            if gate in 'ig': base = nn.init.xavier_uniform_(W_h).data\n            W_h.data.copy_(base)\n",
                ),
            ),
        ),
        "i and g start alike": (
            "values",
            edit(
                CELL,
                (
                    "            nn.init.xavier_uniform_(W_h)\n",
                    "            nn.init.xavier_uniform_(W_h)\n            if gate == 'g': W_h.data.copy_(self.W_hi.data)\n",
                ),
            ),
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
        "squeeze": ("generality", edit(CELL, ("return h_next,", "return h_next.squeeze(0),"))),
        "view": (
            "generality",
            edit(CELL, ("        i = torch", "        x = x.view(-1).view(x.shape)\n        i = torch")),
        ),
        "the first batch size for ever": (
            "generality",
            edit(
                CELL,
                (
                    "        i = torch",
                    "        self.B = getattr(self, 'B', x.shape[0])\n        assert x.shape[0] == self.B\n        i = torch",
                ),
            ),
        ),
        "state detached": ("gradient", edit(CELL, ("h, c = state", "h, c = (s.detach() for s in state)"))),
        "weights through data": ("gradient", edit(CELL, ("x @ self.W_xo", "x @ self.W_xo.data"))),
        "float result": ("dtype", edit(CELL, ("return h_next,", "return h_next.float(),"))),
        "x in place": (
            "mutation",
            edit(CELL, ("        return h_next", "        x.zero_()\n        return h_next")),
        ),
        "a subclass of nn.LSTMCell": ("from-scratch", "class LSTMCell(nn.LSTMCell):\n    pass\n"),
        "an inner nn.LSTMCell": (
            "from-scratch",
            "class LSTMCell(nn.Module):\n    def __init__(self, D, H):\n        super().__init__()\n        self.inner = nn.LSTMCell(D, H)\n"
            "    def forward(self, x, state=None):\n        return self.inner(x, state)\n",
        ),
        "made in forward": ("from-scratch", LAZY + BORROWED.format("nn.LSTMCell")),
        "made in forward by another name": (
            "from-scratch",
            LAZY + BORROWED.format("getattr(nn, 'LSTM' + ''.join('Cell'))"),
        ),
        "made in forward by eval": ("from-scratch", LAZY + BORROWED.format("eval('nn.LST' + 'MCell')")),
        "the kernel in forward": ("from-scratch", LAZY + "torch.lstm_cell(x, state, *weights.values())\n"),
        "the kernel by an alias": (
            "from-scratch",
            "from torch import lstm_cell as step\n" + LAZY + "step(x, state, *weights.values())\n",
        ),
    },
    "copy_from_torch": {
        "nothing is copied": ("values", "def copy_from_torch(cell, torch_cell):\n    pass\n"),
        "into a copy": (
            "values",
            edit(COPY, ("    with torch", "    import copy\n    cell = copy.deepcopy(cell)\n    with torch")),
        ),
        "b_ih forgotten": ("values", edit(COPY, ("torch_cell.bias_ih[rows] + ", ""))),
        "biases left out": ("values", edit(COPY, ('getattr(cell, f"b_{gate}").copy_', "print"))),
        "recurrent weights left out": ("values", edit(COPY, ('getattr(cell, f"W_h{gate}").copy_', "len"))),
        "the wrong way round": (
            "values",
            edit(
                COPY,
                (
                    'getattr(cell, f"W_x{gate}").copy_(torch_cell.weight_ih[rows].T)',
                    'torch_cell.weight_ih[rows] = getattr(cell, f"W_x{gate}").T',
                ),
            ),
        ),
        "outside no_grad": ("values", edit(COPY, ("with torch.no_grad():", "if True:"))),
        "another shape through data": (
            "values",
            edit(
                COPY,
                (
                    'getattr(cell, f"W_x{gate}").copy_(torch_cell.weight_ih[rows].T)',
                    'getattr(cell, f"W_x{gate}").data = torch_cell.weight_ih[rows].clone()',
                ),
            ),
        ),
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
        "equal sizes are not transposed": (
            "generality",
            edit(
                COPY,
                (
                    "weight_ih[rows].T",
                    'weight_ih[rows].reshape(getattr(cell, f"W_x{gate}").shape) if torch_cell.input_size == hidden_size else torch_cell.weight_ih[rows].T',
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
        "memory shared through data": (
            "mutation",
            edit(
                COPY,
                (
                    'getattr(cell, f"W_x{gate}").copy_(torch_cell.weight_ih[rows].T)',
                    'getattr(cell, f"W_x{gate}").data = torch_cell.weight_ih.data[rows].T',
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
        "bias summed in the source": (
            "mutation",
            edit(
                COPY,
                (
                    "(torch_cell.bias_ih[rows] + torch_cell.bias_hh[rows])",
                    "(torch_cell.bias_ih[rows].add_(torch_cell.bias_hh[rows]))",
                ),
            ),
        ),
        "the source cleared": ("mutation", COPY + "        torch_cell.weight_hh.zero_()\n"),
        "the cell converted": ("dtype", COPY + "    cell.double()\n"),
    },
}
