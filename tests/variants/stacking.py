"""Right and wrong answers to the tasks of 05_stacking."""

from tests.variants.edits import edit
from tests.variants.kept import cells_of, right_answers_of, solutions_of

GIVEN = next(cell["source"] for cell in cells_of("05_stacking") if cell["id"] == "given-layer")
"""What the notebook gives to its tasks: a correct `LSTMLayer`, to be run before the answers."""

SOLUTIONS = solutions_of("05_stacking")

STACK, MULTI, COPY, COUNT = SOLUTIONS.values()

INIT = STACK[: STACK.index("    def forward")]
MULTI_INIT = MULTI[: MULTI.index("    def forward")]

SHARING = """
class MultiLayerLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        stack = StackedLSTM(input_size, hidden_size, num_layers, dropout)
        self.layers, self.dropout = stack.layers, nn.Dropout(dropout)
        self.proj = nn.Linear(hidden_size, input_size)
        with torch.no_grad():
            bound = (6 / (input_size + hidden_size)) ** 0.5
            self.proj.weight.uniform_(-bound, bound)
            self.proj.bias.zero_()

    def forward(self, x, state=None):
        output, last = StackedLSTM.forward(self, x, state)
        return self.proj(self.dropout(output)), last
"""

CORRECT = right_answers_of("05_stacking")

BORROWED = """
class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        self.{name} = nn.{kind}(input_size, hidden_size, num_layers, dropout=dropout, batch_first=True)

    def forward(self, x, state=None):
        return self.{name}(x, state)
"""
LENT = """
    def forward(self, x, state=None):
        L, H = len(self.layers), self.layers[0].hidden_size
        state = (x.new_zeros(L, x.shape[0], H),) * 2 if state is None else tuple(state)
        flat = []
        for layer in self.layers:
            flat += [torch.cat([getattr(layer, k + g) for g in "ifgo"], -1).T for k in ("W_x", "W_h", "b_")]
            flat += [torch.zeros_like(flat[-1])]
        output, h_n, c_n = {kernel}(x, state, flat, True, L, {dropout}, self.training, False, True)
        return {head}, (h_n, c_n)
"""
NO_DROP = ("            if k > 0:\n                hidden = self.dropout(hidden)\n", "")


def both(name: str, rule: str, *changes: tuple[str, str]) -> tuple[dict, dict]:
    """One fault in the stack and in the stack with a head."""
    return {name: (rule, edit(STACK, *changes))}, {name: (rule, edit(MULTI, *changes))}


FAULTS = [
    both(
        "the memory goes up",
        "values",
        (
            "            hidden, cells = layer(hidden, start)\n",
            "            hidden, cells = layer(hidden if k == 0 else cells, start)\n",
        ),
        NO_DROP,
    ),
    both("state ignored", "values", ("None if state is None else (state[0][k], state[1][k])", "None")),
    both(
        "the states in reverse",
        "values",
        ("(state[0][k], state[1][k])", "(state[0][-1 - k], state[1][-1 - k])"),
    ),
    both("h_n of the first step", "values", ("hidden[:, -1]", "hidden[:, 0]")),
    both(
        "the state of the layer below",
        "values",
        (
            "None if state is None else (state[0][k], state[1][k])",
            "(None if state is None else (state[0][k], state[1][k])) if k == 0 else (h_n[-1], c_n[-1])",
        ),
    ),
    both("state is needed", "values", ("None if state is None else ", "")),
    both(
        "state kept between calls",
        "values",
        (
            "        h_n, c_n = [], []\n",
            "        state = state if state is not None else getattr(self, 'kept', None)\n        h_n, c_n = [], []\n",
        ),
        (
            "            h_n.append",
            "            self.kept = None if k < len(self.layers) - 1 else (torch.stack([*h_n, hidden[:, -1]]).detach(), torch.stack([*c_n, cells[:, -1]]).detach())\n            h_n.append",
        ),
    ),
    both(
        "a residual around the upper layers",
        "values",
        (
            "            h_n.append",
            "            hidden = hidden + hidden.detach() * 0.5 if k else hidden\n            h_n.append",
        ),
    ),
    both(
        "a Sequential of another name",
        "registration",
        ("self.layers = nn.ModuleList(", "self.layers, self.stack = [], nn.ModuleList("),
        ("enumerate(self.layers)", "enumerate(self.stack)"),
    ),
    both(
        "every layer as wide as x",
        "registration",
        ("[hidden_size] * (num_layers - 1)", "[input_size] * (num_layers - 1)"),
    ),
    both(
        "a saved counter",
        "registration",
        (
            "        self.dropout = ",
            '        self.register_buffer("calls", torch.zeros(()))\n        self.dropout = ',
        ),
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
        "batch first states",
        "shape",
        ("torch.stack(h_n), torch.stack(c_n)", "torch.stack(h_n, 1), torch.stack(c_n, 1)"),
    ),
    both(
        "batch squeezed away",
        "generality",
        ("torch.stack(h_n), torch.stack(c_n)", "torch.stack(h_n).squeeze(1), torch.stack(c_n).squeeze(1)"),
    ),
    both("three layers at most", "generality", ("enumerate(self.layers)", "enumerate(self.layers[:3])")),
    both(
        "detached between layers",
        "gradient",
        ("layer(hidden, start)", "layer(hidden.detach() if k == 1 else hidden, start)"),
    ),
    both("detached input", "gradient", ("hidden = x", "hidden = x.detach()")),
    both(
        "detached first states",
        "gradient",
        ("(state[0][k], state[1][k])", "(state[0][k].detach(), state[1][k].detach())"),
    ),
    both(
        "float32 zero states",
        "dtype",
        (
            "        h_n, c_n = [], []\n",
            "        if state is None:\n            zeros = torch.zeros(len(self.layers), x.shape[0], self.layers[0].hidden_size)\n            state = (zeros, zeros)\n        h_n, c_n = [], []\n",
        ),
    ),
    both(
        "zero states on the CPU",
        "device",
        (
            "        h_n, c_n = [], []\n",
            "        if state is None:\n            zeros = torch.zeros(len(self.layers), len(x), self.layers[0].hidden_size, dtype=x.dtype)\n            state = (zeros, zeros)\n        h_n, c_n = [], []\n",
        ),
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
    both(
        "state written into",
        "mutation",
        (
            "            h_n.append",
            "            if state is not None:\n                with torch.no_grad():\n                    state[0][k] = hidden[:, -1]\n            h_n.append",
        ),
    ),
    both("x written into", "mutation", ("        return ", "        x.zero_()\n        return ")),
    both("dropout after the first layer only", "dropout", ("if k > 0:", "if k == 2:")),
    both(
        "dropout that eval does not reach",
        "dropout",
        (
            "self.dropout = nn.Dropout(dropout)",
            "self.drops = [nn.Dropout(dropout)]\n        self.dropout = lambda h: self.drops[0](h)",
        ),
    ),
    both(
        "not scaled",
        "dropout",
        (
            "hidden = self.dropout(hidden)\n",
            "hidden = self.dropout(hidden) * ((1 - self.dropout.p) if self.training else 1)\n",
        ),
    ),
    both(
        "scaled in evaluation instead",
        "dropout",
        ("hidden = self.dropout(hidden)\n", "hidden = self.dropout(hidden) * (1 - self.dropout.p)\n"),
    ),
    both("p keeps", "dropout", ("nn.Dropout(dropout)", "nn.Dropout(1 - dropout if dropout else 0.0)")),
    both(
        "dropout on the states",
        "dropout",
        (
            "            h_n.append",
            "            hidden, cells = (hidden, cells) if k == len(self.layers) - 1 else (self.dropout(hidden), cells)\n            h_n.append",
        ),
        NO_DROP,
    ),
    both(
        "noise instead",
        "dropout",
        (
            "self.dropout(hidden)\n",
            "hidden * (1 + self.dropout.p * torch.randn_like(hidden)) if self.training else hidden\n",
        ),
    ),
    both(
        "dropout of a fixed rate", "dropout", ("nn.Dropout(dropout)", "nn.Dropout(0.5 if dropout else 0.0)")
    ),
]

WRONG = {
    "StackedLSTM": {name: fault for stack, _ in FAULTS for name, fault in stack.items()}
    | {
        "layers read backwards": (
            "values",
            edit(
                STACK, ("        return hidden,", "        hidden = hidden.flip(1)\n        return hidden,")
            ),
        ),
        "the lowest layer's output": (
            "values",
            edit(
                STACK,
                (
                    "            h_n.append",
                    "            first = hidden if k == 0 else first\n            h_n.append",
                ),
                ("return hidden,", "return first,"),
            ),
        ),
        "layers started as copies": (
            "values",
            edit(
                STACK,
                (
                    "        self.dropout",
                    "        for layer in self.layers[2:]:\n            layer.load_state_dict(self.layers[1].state_dict())\n        self.dropout",
                ),
            ),
        ),
        "weights started at normal": (
            "values",
            edit(
                STACK,
                (
                    "        self.dropout",
                    "        for p in self.parameters():\n            nn.init.normal_(p)\n        self.dropout",
                ),
            ),
        ),
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
        "dropout after every layer": (
            "dropout",
            edit(
                STACK,
                NO_DROP,
                (
                    "            c_n.append",
                    "            hidden = self.dropout(hidden)\n            c_n.append",
                ),
            ),
        ),
        "one choice for all sequences": (
            "dropout",
            edit(STACK, ("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[:1]))")),
        ),
        "whole steps dropped": (
            "dropout",
            edit(STACK, ("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[..., :1]))")),
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
        "one mask for all layers": (
            "dropout",
            edit(
                STACK,
                (
                    "            if k > 0:\n                hidden = self.dropout(hidden)",
                    "            if k > 0:\n                mask = self.dropout(torch.ones_like(hidden)) if k == 1 else mask\n                hidden = hidden * mask",
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
        "float32 masks": (
            "dtype",
            edit(
                STACK,
                (
                    "self.dropout(hidden)",
                    "hidden * self.dropout(torch.ones(hidden.shape, dtype=torch.float32))",
                ),
            ),
        ),
        "nn.LSTM": ("from-scratch", BORROWED.format(name="layers", kind="LSTM")),
        "nn.LSTM by its own name": ("from-scratch", BORROWED.format(name="lstm", kind="LSTM")),
        "torch.lstm": (
            "from-scratch",
            INIT + LENT.format(kernel="torch.lstm", dropout="self.dropout.p", head="output"),
        ),
        "the kernel by a table": (
            "from-scratch",
            INIT + LENT.format(kernel="torch.__dict__['ls' + 'tm']", dropout="self.dropout.p", head="output"),
        ),
        "layers of nn.LSTM": (
            "from-scratch",
            edit(
                STACK,
                ("LSTMLayer(width, hidden_size)", "nn.LSTM(width, hidden_size, batch_first=True)"),
                ("(state[0][k], state[1][k])", "(state[0][k : k + 1], state[1][k : k + 1])"),
                ("hidden, cells = layer(hidden, start)", "hidden, (_, last) = layer(hidden, start)"),
                ("cells[:, -1]", "last[0]"),
            ),
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
        "layer 0's state for all": (
            "values",
            edit(MULTI, ("(state[0][k], state[1][k])", "(state[0][0], state[1][0])")),
        ),
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
        "x dropped": (
            "dropout",
            edit(MULTI, ("            if k > 0:\n                hidden", "            hidden")),
        ),
        "on in evaluation": (
            "dropout",
            edit(
                MULTI,
                (
                    "                hidden = self.dropout(hidden)\n",
                    "                hidden = F.dropout(hidden, self.dropout.p)\n",
                ),
            ),
        ),
        "one mask for all calls of a size": (
            "dropout",
            """
class MultiLayerLSTM(StackedLSTM):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__(input_size, hidden_size, num_layers, dropout)
        self.proj = nn.Linear(hidden_size, input_size)
        nn.init.xavier_uniform_(self.proj.weight)
        nn.init.zeros_(self.proj.bias)
    def forward(self, x, state=None):
        out, last = super().forward(x, state)
        if self.training and self.dropout.p:
            kept = self.__dict__.setdefault("kept", {})
            if out.shape not in kept:
                kept[out.shape] = F.dropout(torch.ones_like(out), self.dropout.p).detach()
            out = out * kept[out.shape].to(out)
        return self.proj(out), last
""",
        ),
        "softmax on top": (
            "values",
            edit(MULTI, ("self.proj(self.dropout(hidden))", "self.proj(self.dropout(hidden)).softmax(-1)")),
        ),
        "the last step for all": (
            "values",
            edit(
                MULTI,
                (
                    "self.proj(self.dropout(hidden))",
                    "self.proj(self.dropout(hidden[:, -1:].expand_as(hidden)))",
                ),
            ),
        ),
        "another name for proj": ("registration", MULTI.replace("self.proj", "self.fc")),
        "the stack as a part": (
            "registration",
            SHARING.replace(
                "self.layers, self.dropout = stack.layers, nn.Dropout(dropout)",
                "self.stack, self.dropout = stack, nn.Dropout(dropout)",
            ).replace("StackedLSTM.forward(self, x, state)", "self.stack(x, state)"),
        ),
        "the last step's logits": ("shape", edit(MULTI, ("return logits,", "return logits[:, -1],"))),
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
        "the same mask between all layers": (
            "dropout",
            edit(
                MULTI,
                (
                    "                hidden = self.dropout(hidden)",
                    "                mask = self.dropout(torch.ones_like(hidden)) if k == 1 else mask\n"
                    "                hidden = hidden * mask",
                ),
            ),
        ),
        "dropout before and after proj": (
            "dropout",
            edit(MULTI, ("self.proj(self.dropout(hidden))", "self.dropout(self.proj(self.dropout(hidden)))")),
        ),
        "dropped twice before proj": (
            "dropout",
            edit(MULTI, ("self.proj(self.dropout(hidden))", "self.proj(self.dropout(self.dropout(hidden)))")),
        ),
        "one choice for all steps before proj": (
            "dropout",
            edit(
                MULTI,
                (
                    "self.proj(self.dropout(hidden))",
                    "self.proj(hidden * self.dropout(torch.ones_like(hidden[:, :1])))",
                ),
            ),
        ),
        "proj's weight through data": (
            "gradient",
            edit(
                MULTI,
                (
                    "self.proj(self.dropout(hidden))",
                    "F.linear(self.dropout(hidden), self.proj.weight.data, self.proj.bias)",
                ),
            ),
        ),
        "torch.lstm": (
            "from-scratch",
            MULTI_INIT
            + LENT.format(
                kernel="torch.lstm", dropout="self.dropout.p", head="self.proj(self.dropout(output))"
            ),
        ),
        "the kernel by a table": (
            "from-scratch",
            MULTI_INIT
            + LENT.format(
                kernel="torch.__dict__['ls' + 'tm']",
                dropout="self.dropout.p",
                head="self.proj(self.dropout(output))",
            ),
        ),
    },
    "copy_from_torch": {
        "the layer's last digit": (
            "generality",
            """
def copy_from_torch(stacked, lstm):
    with torch.no_grad():
        for name, p in lstm.named_parameters():
            kind, layer = name[:-3], stacked.layers[int(name[-1])]
            for g, part in zip("ifgo", p.chunk(4)):
                if kind == "weight_ih":
                    getattr(layer, "W_x" + g).copy_(part.T)
                elif kind == "weight_hh":
                    getattr(layer, "W_h" + g).copy_(part.T)
                elif kind == "bias_ih":
                    getattr(layer, "b_" + g).copy_(part)
                else:
                    getattr(layer, "b_" + g).add_(part)
""",
        ),
        "b_ih forgotten": ("values", edit(COPY, ("b_ih[rows] + b_hh[rows]", "b_hh[rows]"))),
        "every fourth row": (
            "values",
            edit(COPY, ("slice(block * hidden_size, (block + 1) * hidden_size)", "slice(block, None, 4)")),
        ),
        "layers in reverse": ("values", edit(COPY, ('_l{k}")', '_l{k and 3 - k}")'))),
        "biases not copied": (
            "values",
            edit(COPY, ('                getattr(layer, f"b_{gate}").copy_(b_ih[rows] + b_hh[rows])\n', "")),
        ),
        "into a copy of the stack": (
            "values",
            edit(
                COPY,
                (
                    "    hidden_size = ",
                    "    import copy\n    stacked = copy.deepcopy(stacked)\n    hidden_size = ",
                ),
            ),
        ),
        "added to what is there": ("values", COPY.replace(".copy_(", ".add_(")),
        "nothing": ("values", "def copy_from_torch(stacked, lstm):\n    return stacked\n"),
        "inside the graph": ("values", edit(COPY, ("with torch.no_grad():", "if True:"))),
        "two or three layers": (
            "generality",
            edit(COPY, ("enumerate(stacked.layers)", "enumerate(stacked.layers[:3])")),
        ),
        "two layers at least": (
            "generality",
            edit(COPY, ("    hidden_size = ", "    lstm.weight_hh_l1\n    hidden_size = ")),
        ),
        "frozen": (
            "registration",
            COPY + "    for parameter in stacked.parameters():\n        parameter.requires_grad_(False)\n",
        ),
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
        "the lstm emptied": ("mutation", COPY + "        lstm.bias_hh_l0.zero_()\n"),
        "made float32": (
            "dtype",
            COPY + "    stacked.float() if lstm.weight_hh_l0.dtype != torch.float64 else None\n",
        ),
    },
    "lstm_parameter_count": {
        "no hidden weights": (
            "values",
            edit(
                COUNT,
                (
                    "(input_size * hidden_size + hidden_size * hidden_size + biases)",
                    "(input_size * hidden_size + biases)",
                ),
            ),
        ),
        "a fixed number": (
            "values",
            "def lstm_parameter_count(input_size, hidden_size, num_layers, biases_per_gate=1):\n    return 400\n",
        ),
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
        "three layers at most": ("generality", edit(COUNT, ("(num_layers - 1)", "(min(num_layers, 3) - 1)"))),
        "two layers at least": ("generality", edit(COUNT, ("(num_layers - 1)", "(max(num_layers, 2) - 1)"))),
        "nn.LSTM built": (
            "from-scratch",
            "def lstm_parameter_count(input_size, hidden_size, num_layers, biases_per_gate=1):\n    lstm = nn.LSTM(input_size, hidden_size, num_layers)\n    return sum(p.numel() for p in lstm.parameters()) - (2 - biases_per_gate) * 4 * hidden_size * num_layers\n",
        ),
    },
}
