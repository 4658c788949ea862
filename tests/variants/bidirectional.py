"""Right and wrong answers to the tasks of 08_bidirectional."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("08_bidirectional")

SPLIT, UNFLATTEN, VECTOR, ENDS, BILSTM = SOLUTIONS.values()
HALVES = "output[..., :hidden_size], output[..., hidden_size:]"
STATES = "h_n.reshape(num_layers, num_directions, batch_size, hidden_size)"
TOP = "unflatten_state(h_n, num_layers, 2)[-1]"
JOINED = "torch.cat([forward, backward], dim=1)"
TAKEN = "torch.cat([forward[:, -1], backward[:, 0]], dim=1)"
TURNED = "torch.cat([forward, backward.flip(1)], dim=2)"
FINAL = "(torch.cat([h_fwd, h_bwd]), torch.cat([c_fwd, c_bwd]))"
BWD = "self.bwd = nn.LSTM(input_size, hidden_size, batch_first=True)"


def split(body: str) -> str:
    return f"\ndef split_directions(output, hidden_size):\n    {body}\n"


def unflatten(body: str) -> str:
    return f"\ndef unflatten_state(h_n, num_layers, num_directions):\n    {body}\n"


def vector(body: str) -> str:
    return f"\ndef sentence_vector(h_n, num_layers):\n    {body}\n"


def ends(body: str) -> str:
    return f"\ndef ends_from_output(output, hidden_size):\n    {body}\n"


CORRECT = right_answers_of("08_bidirectional")

WRONG = {
    "split_directions": {
        "the forward half turned round": (
            "values",
            edit(SPLIT, (":hidden_size],", ":hidden_size].flip(1),")),
        ),
        "reshape to two blocks": (
            "values",
            split(
                "B, T, _ = output.shape\n    return tuple(output.reshape(2, B, T, hidden_size))",
            ),
        ),
        "turned round in the batch": ("values", edit(SPLIT, ("hidden_size:]", "hidden_size:].flip(0)"))),
        "halves of the batch": ("shape", edit(SPLIT, (HALVES, "output.chunk(2)"))),
        "hidden_size is the whole width": (
            "shape",
            edit(SPLIT, (HALVES, "output[..., :hidden_size // 2], output[..., hidden_size // 2:]")),
        ),
        "time first": ("shape", edit(SPLIT, (HALVES, "[h.transpose(0, 1) for h in output.chunk(2, -1)]"))),
        "squeeze": ("generality", edit(SPLIT, (HALVES, "[h.squeeze() for h in output.chunk(2, -1)]"))),
        "flat view": (
            "generality",
            split("return output.view(-1, output.shape[-1]).view(output.shape).split(hidden_size, -1)"),
        ),
        "nothing for a single step": (
            "generality",
            edit(SPLIT, ("return ", "output = output if 1 < output.shape[1] else output * 0\n    return ")),
        ),
        "one half through data": ("gradient", edit(SPLIT, ("hidden_size:]", "hidden_size:].data"))),
        "no gradients": ("gradient", "@torch.no_grad()" + SPLIT),
        "float": ("dtype", edit(SPLIT, ("return ", "output = output.float()\n    return "))),
        "a default buffer": (
            "dtype",
            split(
                "backward = torch.zeros(*output.shape[:2], hidden_size)\n    backward[:] = output[..., hidden_size:]\n    return output[..., :hidden_size], backward"
            ),
        ),
        "the output overwritten": (
            "mutation",
            edit(
                SPLIT,
                (
                    "return " + HALVES,
                    "f, b = output[..., :hidden_size].clone(), output[..., hidden_size:].clone()\n    output.zero_()\n    return f, b",
                ),
            ),
        ),
        "one half overwritten": (
            "mutation",
            edit(
                SPLIT,
                (
                    "return ",
                    "whole, output = output, output.clone()\n    whole[..., hidden_size:] = 0\n    return ",
                ),
            ),
        ),
    },
    "unflatten_state": {
        "layers in reverse": ("values", edit(UNFLATTEN, (STATES, STATES + ".flip(0)"))),
        "batch turned round": ("values", edit(UNFLATTEN, (STATES, STATES + ".flip(2)"))),
        "the first layer everywhere": (
            "values",
            unflatten("return h_n[:num_directions].expand(num_layers, num_directions, *h_n.shape[1:])"),
        ),
        "both directions from one": (
            "values",
            unflatten("return torch.stack([h_n[::num_directions]] * num_directions, 1)"),
        ),
        "the two halves stacked": (
            "values",
            unflatten(
                "if num_directions == 1:\n        return h_n.unsqueeze(1)\n    return torch.stack([h_n[:num_layers], h_n[num_layers:]], dim=1)"
            ),
        ),
        "a reshape through the batch": (
            "values",
            edit(
                UNFLATTEN,
                (STATES, "h_n.transpose(0, 1).reshape(num_layers, num_directions, batch_size, hidden_size)"),
            ),
        ),
        "batch before directions": ("shape", edit(UNFLATTEN, (STATES, STATES + ".transpose(1, 2)"))),
        "directions joined": (
            "shape",
            edit(UNFLATTEN, (STATES, STATES + ".transpose(1, 2).reshape(num_layers, batch_size, -1)")),
        ),
        "the top layer only": ("shape", edit(UNFLATTEN, (STATES, STATES + "[-1]"))),
        "a list of layers": ("shape", edit(UNFLATTEN, (STATES, "list(h_n.split(num_directions))"))),
        "returned as it came": ("shape", unflatten("return h_n")),
        "always two directions": (
            "generality",
            edit(
                UNFLATTEN,
                (
                    STATES,
                    "h_n.reshape(-1, 2, batch_size, hidden_size) if num_layers * 2 == len(h_n) else h_n",
                ),
            ),
        ),
        "three layers always": (
            "generality",
            edit(UNFLATTEN, (STATES, "h_n.reshape(3, num_directions, batch_size, hidden_size)")),
        ),
        "squeeze": ("generality", edit(UNFLATTEN, (STATES, STATES + ".squeeze()"))),
        "detached": ("gradient", edit(UNFLATTEN, (STATES, STATES + ".detach()"))),
        "rebuilt from numbers": (
            "gradient",
            edit(UNFLATTEN, (STATES, f"torch.tensor({STATES}.tolist(), dtype=h_n.dtype)")),
        ),
        "only the forward states keep their graph": (
            "gradient",
            unflatten(
                "if num_directions == 1:\n        return h_n[:, None]\n    return torch.stack([h_n[0::2], h_n[1::2].detach()], 1)"
            ),
        ),
        "float": ("dtype", edit(UNFLATTEN, (STATES, STATES + ".float()"))),
        "a default buffer": (
            "dtype",
            edit(
                UNFLATTEN,
                (
                    "return " + STATES,
                    f"out = torch.zeros(num_layers, num_directions, batch_size, hidden_size)\n    out[:] = {STATES}\n    return out",
                ),
            ),
        ),
        "the states cleared": (
            "mutation",
            edit(UNFLATTEN, ("return " + STATES, f"out = {STATES}.clone()\n    h_n.zero_()\n    return out")),
        ),
    },
    "sentence_vector": {
        "the second layer": ("values", edit(VECTOR, ("[-1]", "[min(1, num_layers - 1)]"))),
        "h_n[-1] twice": ("values", vector("return torch.cat([h_n[-1], h_n[-1]], dim=1)")),
        "h_n[0] and h_n[-1]": ("values", vector("return torch.cat([h_n[0], h_n[-1]], dim=1)")),
        "all forward layers before all backward ones": (
            "values",
            vector("return torch.cat([h_n[num_layers - 1], h_n[2 * num_layers - 1]], dim=1)"),
        ),
        "reshape without moving the batch": (
            "values",
            vector("return h_n[-2:].reshape(h_n.shape[1], -1)"),
        ),
        "the mean in both halves": (
            "values",
            edit(VECTOR, (JOINED, "((forward + backward) / 2).repeat(1, 2)")),
        ),
        "h_n[-1] only": ("shape", vector("return h_n[-1]")),
        "joined along the batch": ("shape", edit(VECTOR, ("dim=1", "dim=0"))),
        "all layers": ("shape", vector("return h_n.transpose(0, 1).flatten(1)")),
        "hidden before batch": ("shape", edit(VECTOR, (JOINED, JOINED + ".T"))),
        "three layers always": ("generality", vector("return torch.cat([h_n[4], h_n[5]], dim=1)")),
        "one layer is another case": (
            "generality",
            edit(VECTOR, (TOP, f"{TOP} if num_layers > 1 else h_n.flip(0)")),
        ),
        "squeeze": (
            "generality",
            edit(VECTOR, (JOINED, JOINED + ".squeeze(0)")),
        ),
        "view": (
            "generality",
            edit(VECTOR, ("    forward,", "    h_n = h_n.view(-1).view(h_n.shape)\n    forward,")),
        ),
        "detached": ("gradient", edit(VECTOR, (JOINED, JOINED + ".detach()"))),
        "no gradients": ("gradient", "@torch.no_grad()" + VECTOR),
        "float": ("dtype", edit(VECTOR, (JOINED, JOINED + ".float()"))),
        "a default buffer": (
            "dtype",
            edit(
                VECTOR,
                (
                    "return " + JOINED,
                    "out = torch.zeros(h_n.shape[1], 2 * h_n.shape[2])\n    out[:] = torch.cat([forward, backward], dim=1)\n    return out",
                ),
            ),
        ),
        "a buffer on the CPU": (
            "device",
            edit(
                VECTOR,
                (
                    "return " + JOINED,
                    "out = torch.zeros(h_n.shape[1], 2 * h_n.shape[2], dtype=h_n.dtype)\n    out[:] = torch.cat([forward, backward], dim=1)\n    return out",
                ),
            ),
        ),
        "brought to the CPU": ("device", edit(VECTOR, (JOINED, JOINED + ".cpu()"))),
        "the states cleared": (
            "mutation",
            edit(VECTOR, ("return " + JOINED, f"out = {JOINED}\n    h_n.zero_()\n    return out")),
        ),
        "the lower layers cleared": (
            "mutation",
            edit(VECTOR, ("return ", "h_n[0] = 0 if num_layers > 1 else h_n[0]\n    return ")),
        ),
    },
    "ends_from_output": {
        "the last step": ("values", ends("return output[:, -1]")),
        "the first step": ("values", ends("return output[:, 0]")),
        "the mean over time": ("values", ends("return output.mean(dim=1)")),
        "the largest over time": ("values", ends("return output.amax(dim=1)")),
        "the last step of forward twice": (
            "values",
            edit(ENDS, ("backward[:, 0]", "forward[:, -1]")),
        ),
        "one step early": ("values", edit(ENDS, ("[:, -1]", "[:, -2 if forward.shape[1] > 1 else -1]"))),
        "one step late": (
            "values",
            edit(ENDS, ("backward[:, 0]", "backward[:, min(1, backward.shape[1] - 1)]")),
        ),
        "reshaped together": (
            "values",
            edit(ENDS, (TAKEN, "torch.stack([forward[:, -1], backward[:, 0]]).reshape(len(output), -1)")),
        ),
        "a sequence instead of a step": ("shape", ends("return output[-1]")),
        "joined along the batch": ("shape", edit(ENDS, ("dim=1)", "dim=0)"))),
        "at most thirteen steps": ("generality", edit(ENDS, ("forward[:, -1]", "forward[:, :13][:, -1]"))),
        "two steps at least": (
            "generality",
            edit(ENDS, ("backward[:, 0]", "backward[:, -backward.shape[1]] * (backward.shape[1] > 1)")),
        ),
        "flat view": (
            "generality",
            edit(ENDS, ("    forward,", "    output = output.view(-1).view(output.shape)\n    forward,")),
        ),
        "copied without their graph": (
            "gradient",
            edit(ENDS, (TAKEN, f"torch.empty_like({TAKEN}).copy_({TAKEN}.detach())")),
        ),
        "a buffer on the CPU": (
            "device",
            ends(
                "out = torch.empty(len(output), 2 * hidden_size, dtype=output.dtype)\n    out[:, :hidden_size] = output[:, -1, :hidden_size]\n    out[:, hidden_size:] = output[:, 0, hidden_size:]\n    return out"
            ),
        ),
        "float": ("dtype", edit(ENDS, (TAKEN, TAKEN + ".float()"))),
        "double": ("dtype", edit(ENDS, (TAKEN, TAKEN + ".double()"))),
        "a default buffer": (
            "dtype",
            ends(
                "out = torch.empty(len(output), 2 * hidden_size)\n    out[:, :hidden_size] = output[:, -1, :hidden_size]\n    out[:, hidden_size:] = output[:, 0, hidden_size:]\n    return out"
            ),
        ),
        "written into the output": (
            "mutation",
            ends("output[:, 0, :hidden_size] = output[:, -1, :hidden_size].clone()\n    return output[:, 0]"),
        ),
        "the output cleared": (
            "mutation",
            edit(ENDS, ("return " + TAKEN, f"out = {TAKEN}\n    output.zero_()\n    return out")),
        ),
    },
    "BiLSTM": {
        "features turned round": ("values", edit(BILSTM, ("backward.flip(1)", "backward.flip(2)"))),
        "h_n from the last step": (
            "values",
            edit(
                BILSTM,
                (
                    "torch.cat([h_fwd, h_bwd])",
                    "torch.stack([output[:, -1, :h_fwd.shape[2]], output[:, -1, h_fwd.shape[2]:]])",
                ),
            ),
        ),
        "states start at one": (
            "values",
            edit(
                BILSTM,
                ("self.fwd(x)", "self.fwd(x, (torch.ones(1, len(x), self.fwd.hidden_size).to(x),) * 2)"),
            ),
        ),
        "states side by side": (
            "shape",
            edit(BILSTM, (FINAL, "(torch.cat([h_fwd, h_bwd], 2), torch.cat([c_fwd, c_bwd], 2))")),
        ),
        "forward states only": ("shape", edit(BILSTM, (FINAL, "(h_fwd, c_fwd)"))),
        "in a list": (
            "registration",
            edit(
                BILSTM,
                (BWD, "pass"),
                (
                    "self.fwd = nn.LSTM(input_size, hidden_size, batch_first=True)",
                    "self.both = [nn.LSTM(input_size, hidden_size, batch_first=True) for _ in range(2)]",
                ),
                ("self.fwd(x)", "self.both[0](x)"),
                ("self.bwd(x.flip(1))", "self.both[1](x.flip(1))"),
            ),
        ),
        "other names": (
            "registration",
            BILSTM.replace("self.fwd", "self.forward_lstm").replace("self.bwd", "self.backward_lstm"),
        ),
        "a layer too many": (
            "registration",
            edit(BILSTM, (BWD, BWD + "\n        self.fc = nn.Linear(2 * hidden_size, 1)")),
        ),
        "frozen": (
            "registration",
            edit(BILSTM, (BWD, BWD + "\n        self.bwd.requires_grad_(False)")),
        ),
        "two layers each": (
            "registration",
            edit(
                BILSTM,
                (BWD, BWD.replace("hidden_size,", "hidden_size, 2,")),
                (FINAL, "(torch.cat([h_fwd, h_bwd[-1:]]), torch.cat([c_fwd, c_bwd[-1:]]))"),
            ),
        ),
        "no biases": (
            "registration",
            edit(BILSTM, (BWD, BWD.replace("batch_first=True", "batch_first=True, bias=False"))),
        ),
        "torch's own, in one module": (
            "from-scratch",
            """
class BiLSTM(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.lstm(x)
""",
        ),
        "torch's own, inherited": (
            "from-scratch",
            """
class BiLSTM(nn.LSTM):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size, 1, True, True, 0.0, True)
""",
        ),
        "torch's own, made at each call from both weights": (
            "from-scratch",
            edit(
                BILSTM,
                (
                    "forward, (h_fwd, c_fwd) = self.fwd(x)",
                    "both = nn.LSTM(x.shape[2], self.fwd.hidden_size, 1, True, True, 0.0, True, dtype=x.dtype)\n        named = dict(self.fwd.named_parameters()) | {n + '_reverse': p for n, p in self.bwd.named_parameters()}\n        return torch.func.functional_call(both, named, (x,))\n        forward, (h_fwd, c_fwd) = self.fwd(x)",
                ),
            ),
        ),
        "torch.lstm on both weights": (
            "from-scratch",
            edit(
                BILSTM,
                (
                    "forward, (h_fwd, c_fwd) = self.fwd(x)",
                    "zero = x.new_zeros(2, len(x), self.fwd.hidden_size)\n        o, h, c = torch.lstm(x, (zero, zero), [*self.fwd.parameters(), *self.bwd.parameters()], True, 1, 0.0, False, True, True)\n        return o, (h, c)\n        forward, (h_fwd, c_fwd) = self.fwd(x)",
                ),
            ),
        ),
        "squeeze": ("generality", edit(BILSTM, (TURNED, TURNED + ".squeeze(1)"))),
        "flat view": (
            "generality",
            edit(
                BILSTM,
                ("def forward(self, x):", "def forward(self, x):\n        x = x.view(-1).view(x.shape)"),
            ),
        ),
        "the first batch's size is kept": (
            "generality",
            edit(
                BILSTM,
                ("super().__init__()", "super().__init__()\n        self.zero = None"),
                (
                    "def forward(self, x):",
                    "def forward(self, x):\n        if self.zero is None:\n            self.zero = x.new_zeros(1, len(x), self.fwd.hidden_size)",
                ),
                ("self.bwd(x.flip(1))", "self.bwd(x.flip(1), (self.zero, self.zero))"),
            ),
        ),
        "the state is carried to the next call": (
            "generality",
            edit(
                BILSTM,
                ("super().__init__()", "super().__init__()\n        self.state = None"),
                (
                    "self.fwd(x)",
                    "self.fwd(x, self.state if self.state is not None and self.state[0].shape[1] == len(x) else None)",
                ),
                (
                    "        return",
                    "        self.state = (h_fwd[:, :3].detach(), c_fwd[:, :3].detach())\n        return",
                ),
            ),
        ),
        "the backward half detached": (
            "gradient",
            edit(BILSTM, ("backward.flip(1)", "backward.flip(1).detach()")),
        ),
        "the states detached": (
            "gradient",
            edit(BILSTM, ("torch.cat([c_fwd, c_bwd])", "torch.cat([c_fwd, c_bwd]).detach()")),
        ),
        "the input through data": ("gradient", edit(BILSTM, ("x.flip(1)", "x.data.flip(1)"))),
        "no gradients": (
            "gradient",
            edit(BILSTM, ("    def forward", "    @torch.no_grad()\n    def forward")),
        ),
        "zero states on the CPU": (
            "device",
            edit(
                BILSTM,
                (
                    "self.fwd(x)",
                    "self.fwd(x, (torch.zeros(1, len(x), self.fwd.hidden_size, dtype=x.dtype),) * 2)",
                ),
            ),
        ),
        "an output on the CPU": (
            "device",
            edit(
                BILSTM,
                (
                    "return output,",
                    "whole = torch.empty(output.shape, dtype=x.dtype)\n        whole[:] = output\n        return whole,",
                ),
            ),
        ),
        "zero states of the default dtype": (
            "dtype",
            edit(BILSTM, ("self.fwd(x)", "self.fwd(x, (torch.zeros(1, len(x), self.fwd.hidden_size),) * 2)")),
        ),
        "the input turned round in place": (
            "mutation",
            edit(
                BILSTM,
                ("self.bwd(x.flip(1))", "self.bwd(x.flip(1))\n        x.detach().copy_(x.flip(1))"),
            ),
        ),
        "the input cleared": (
            "mutation",
            edit(BILSTM, ("        return", "        x.detach().zero_()\n        return")),
        ),
    },
}
