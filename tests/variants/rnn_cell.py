"""Right and wrong answers to the tasks of 02_rnn_cell."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("02_rnn_cell")

CELL, LAYER, STEPWISE, STACK = SOLUTIONS.values()

CORRECT = right_answers_of("02_rnn_cell")

FROM_TORCH = """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return {}
"""

WRONG = {
    "rnn_cell": {
        "nothing is returned": ("shape", edit(CELL, ("return", "h ="))),
        "text is returned": ("shape", edit(CELL, ("return ", "return str("), ("b_hh)\n", "b_hh))\n"))),
        "a numpy array is returned": ("shape", edit(CELL, ("b_hh)\n", "b_hh).detach().numpy()\n"))),
        "a dict is returned": (
            "shape",
            edit(CELL, ("return ", "return dict(h_next="), ("b_hh)\n", "b_hh))\n")),
        ),
        "rebuilt with torch.tensor": (
            "gradient",
            edit(CELL, ("return ", "return torch.tensor("), ("b_hh)\n", "b_hh).tolist(), dtype=x.dtype)\n")),
        ),
        "computed in float32": (
            "dtype",
            edit(
                CELL,
                (
                    "    return",
                    "    kept = x.dtype\n    x, h, w_ih, w_hh, b_ih, b_hh = (v.float() for v in (x, h, w_ih, w_hh, b_ih, b_hh))\n    return",
                ),
                ("b_hh)\n", "b_hh).to(kept)\n"),
            ),
        ),
        "nn.RNNCell with its parameters replaced": (
            "from-scratch",
            FROM_TORCH.format(
                "torch.func.functional_call(nn.RNNCell(x.shape[1], h.shape[1], dtype=x.dtype), "
                "dict(weight_ih=w_ih, weight_hh=w_hh, bias_ih=b_ih, bias_hh=b_hh), (x, h))"
            ),
        ),
        "a partial made elsewhere in the cell": (
            "from-scratch",
            "import functools\nstep = functools.partial(torch.rnn_tanh_cell)\n"
            + FROM_TORCH.format("step(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "a torchscript helper": (
            "from-scratch",
            "@torch.jit.script\ndef step(x, h, w_ih, w_hh, b_ih, b_hh):\n"
            "    return torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)\n"
            + FROM_TORCH.format("step(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "a whole RNN over one step": (
            "from-scratch",
            FROM_TORCH.format(
                "torch.rnn_tanh(x[:, None], h[None], [w_ih, w_hh, b_ih, b_hh], True, 1, 0.0, False, False, True)[1][0]"
            ),
        ),
    },
    "rnn_layer": {
        "loop over the batch dimension": (
            "shape",
            edit(LAYER, ("range(x.shape[1])", "range(min(x.shape[:2]))")),
        ),
        "output through data": ("gradient", edit(LAYER, ("append(h)", "append(h.data)"))),
        "output converted to float": ("dtype", edit(LAYER, ("dim=1)", "dim=1).float()"))),
        "a default argument that remembers": (
            "shape",  # of the sizes that the check before it had
            edit(LAYER, ("b_ih, b_hh):", "b_ih, b_hh, output=[]):"), ("    output = []\n", "")),
        ),
        "steps by nn.RNNCell": (
            "from-scratch",
            edit(
                LAYER,
                ("h = h_0", "h, cell = h_0, nn.RNNCell(x.shape[2], h_0.shape[1])"),
                ("rnn_cell(x[:, t], h,", "torch.rnn_tanh_cell(x[:, t], h,"),
            ),
        ),
    },
    "run_stepwise": {
        "only the last output": ("shape", edit(STEPWISE, ("torch.cat(output, dim=1)", "step"))),
        "one call a sequence too": (
            "from-scratch",
            edit(
                STEPWISE,
                (
                    "step, state = rnn(x[:, t : t + 1], state)",
                    "parts = [rnn(x[b : b + 1, t : t + 1], None if state is None else state[:, b : b + 1].contiguous()) for b in range(len(x))]\n        step, state = torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts], 1)",
                ),
            ),
        ),
        "h_0 is needed": ("values", edit(STEPWISE, ("state = h_0", "state = h_0.clone()"))),
    },
    "stacked_rnn": {
        "new random layers": (
            "values",
            edit(
                STACK,
                (
                    'weights = [getattr(rnn, f"{name}_l{layer}") for name in names]',
                    "weights = nn.RNN(layer_input.shape[2], rnn.hidden_size).to(x).parameters()",
                ),
            ),
        ),
        "results in float": ("dtype", edit(STACK, ("return layer_input,", "return layer_input.float(),"))),
        "its forward is called": (
            "from-scratch",
            "def stacked_rnn(rnn, x, h_0):\n    return rnn.forward(x, h_0)\n",
        ),
        "a deep copy is called": (
            "from-scratch",
            "import copy\ndef stacked_rnn(rnn, x, h_0):\n    return copy.deepcopy(rnn)(x, h_0)\n",
        ),
        "torch.rnn_tanh on its flat weights": (
            "from-scratch",
            "def stacked_rnn(rnn, x, h_0):\n"
            "    return torch._VF.rnn_tanh(x, h_0, rnn._flat_weights, True, rnn.num_layers, 0.0, False, False, True)\n",
        ),
    },
}
