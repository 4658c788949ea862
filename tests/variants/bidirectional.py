"""Right and wrong answers to the tasks of 08_bidirectional."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("08_bidirectional")

SPLIT, UNFLATTEN, VECTOR, ENDS, BILSTM = SOLUTIONS.values()
HALVES = "output[..., :hidden_size], output[..., hidden_size:]"
STATES = "h_n.reshape(num_layers, num_directions, batch_size, hidden_size)"
JOINED = "torch.cat([forward, backward], dim=1)"
TAKEN = "torch.cat([forward[:, -1], backward[:, 0]], dim=1)"
TURNED = "torch.cat([forward, backward.flip(1)], dim=2)"
FINAL = "(torch.cat([h_fwd, h_bwd]), torch.cat([c_fwd, c_bwd]))"
BWD = "self.bwd = nn.LSTM(input_size, hidden_size, batch_first=True)"


def split(body: str) -> str:
    return f"\ndef split_directions(output, hidden_size):\n    {body}\n"


def unflatten(body: str) -> str:
    return f"\ndef unflatten_state(h_n, num_layers, num_directions):\n    {body}\n"


CORRECT = right_answers_of("08_bidirectional")

WRONG = {
    "split_directions": {
        "time first": ("shape", edit(SPLIT, (HALVES, "[h.transpose(0, 1) for h in output.chunk(2, -1)]"))),
        "no gradients": ("gradient", "@torch.no_grad()" + SPLIT),
        "a default buffer": (
            "dtype",
            split(
                "backward = torch.zeros(*output.shape[:2], hidden_size)\n    backward[:] = output[..., hidden_size:]\n    return output[..., :hidden_size], backward"
            ),
        ),
    },
    "unflatten_state": {
        "batch before directions": ("shape", edit(UNFLATTEN, (STATES, STATES + ".transpose(1, 2)"))),
        "the top layer only": ("shape", edit(UNFLATTEN, (STATES, STATES + "[-1]"))),
        "returned as it came": ("shape", unflatten("return h_n")),
        "only the forward states keep their graph": (
            "gradient",
            unflatten(
                "if num_directions == 1:\n        return h_n[:, None]\n    return torch.stack([h_n[0::2], h_n[1::2].detach()], 1)"
            ),
        ),
        "float": ("dtype", edit(UNFLATTEN, (STATES, STATES + ".float()"))),
    },
    "sentence_vector": {
        "hidden before batch": ("shape", edit(VECTOR, (JOINED, JOINED + ".T"))),
        "view": (
            "generality",
            edit(VECTOR, ("    forward,", "    h_n = h_n.view(-1).view(h_n.shape)\n    forward,")),
        ),
        "float": ("dtype", edit(VECTOR, (JOINED, JOINED + ".float()"))),
        "brought to the CPU": ("device", edit(VECTOR, (JOINED, JOINED + ".cpu()"))),
    },
    "ends_from_output": {
        "float": ("dtype", edit(ENDS, (TAKEN, TAKEN + ".float()"))),
    },
    "BiLSTM": {
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
        "squeeze": ("generality", edit(BILSTM, (TURNED, TURNED + ".squeeze(1)"))),
        "flat view": (
            "generality",
            edit(
                BILSTM,
                ("def forward(self, x):", "def forward(self, x):\n        x = x.view(-1).view(x.shape)"),
            ),
        ),
        "no gradients": (
            "gradient",
            edit(BILSTM, ("    def forward", "    @torch.no_grad()\n    def forward")),
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
    },
}
