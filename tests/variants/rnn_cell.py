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
        "state ignored": ("values", edit(CELL, ("h @ w_hh.T", "0 * h @ w_hh.T"))),
        "nothing is returned": ("shape", edit(CELL, ("return", "h ="))),
        "text is returned": ("shape", edit(CELL, ("return ", "return str("), ("b_hh)\n", "b_hh))\n"))),
        "a numpy array is returned": ("shape", edit(CELL, ("b_hh)\n", "b_hh).detach().numpy()\n"))),
        "one number": ("shape", edit(CELL, ("b_hh)\n", "b_hh).mean()\n"))),
        "a dict is returned": (
            "shape",
            edit(CELL, ("return ", "return dict(h_next="), ("b_hh)\n", "b_hh))\n")),
        ),
        "the states transposed": ("shape", edit(CELL, ("b_hh)\n", "b_hh).T\n"))),
        "view on the input": ("generality", edit(CELL, ("x @", "x.view(-1).view(x.shape) @"))),
        "transposed when D equals H": (
            "generality",
            edit(CELL, ("x @ w_ih.T", "(x @ w_ih if w_ih.shape[0] == w_ih.shape[1] else x @ w_ih.T)")),
        ),
        "weight read through data": ("gradient", edit(CELL, ("w_hh.T", "w_hh.data.T"))),
        "no gradients at all": ("gradient", "@torch.no_grad()" + CELL),
        "rebuilt with torch.tensor": (
            "gradient",
            edit(CELL, ("return ", "return torch.tensor("), ("b_hh)\n", "b_hh).tolist(), dtype=x.dtype)\n")),
        ),
        "a fixed float result": ("dtype", edit(CELL, ("b_hh)\n", "b_hh).float()\n"))),
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
        "zeros of the default dtype": (
            "dtype",
            edit(
                CELL,
                ("return", "out = torch.zeros(h.shape)\n    out[:] ="),
                ("b_hh)\n", "b_hh)\n    return out\n"),
            ),
        ),
        "the input is scaled in place and back": (
            "mutation",
            edit(CELL, ("return", "x.mul_(2); x = x / 2\n    return")),
        ),
        "weights transposed in place": ("mutation", edit(CELL, ("x @ w_ih.T", "x @ w_ih.t_()"))),
        "nn.RNNCell with its parameters replaced": (
            "from-scratch",
            FROM_TORCH.format(
                "torch.func.functional_call(nn.RNNCell(x.shape[1], h.shape[1], dtype=x.dtype), "
                "dict(weight_ih=w_ih, weight_hh=w_hh, bias_ih=b_ih, bias_hh=b_hh), (x, h))"
            ),
        ),
        "getattr with joined text": (
            "from-scratch",
            FROM_TORCH.format("getattr(torch, 'rnn_' + 'tanh_cell')(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "exec": (
            "from-scratch",
            FROM_TORCH.format("eval('torch.rnn_tanh_' + 'cell(x, h, w_ih, w_hh, b_ih, b_hh)')"),
        ),
        "torch.ops": (
            "from-scratch",
            FROM_TORCH.format("torch.ops.aten.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "torch._VF under another name": (
            "from-scratch",
            "from torch import _VF as vf\n"
            + FROM_TORCH.format("vf.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "vars": (
            "from-scratch",
            FROM_TORCH.format("vars(torch)['rnn_tanh_cell'](x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "a partial made elsewhere in the cell": (
            "from-scratch",
            "import functools\nstep = functools.partial(torch.rnn_tanh_cell)\n"
            + FROM_TORCH.format("step(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "unpacked elsewhere in the cell": (
            "from-scratch",
            "step, _ = torch.rnn_tanh_cell, 0\n" + FROM_TORCH.format("step(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
        "an attribute of the function": (
            "from-scratch",
            FROM_TORCH.format("rnn_cell.step(x, h, w_ih, w_hh, b_ih, b_hh)")
            + "rnn_cell.step = torch.rnn_tanh_cell\n",
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
        "h_n is the first state": ("values", edit(LAYER, ("dim=1), h", "dim=1), output[0]"))),
        "states before each step": (
            "values",
            edit(
                LAYER,
                ("        h = rnn", "        output.append(h)\n        h = rnn"),
                ("(h)\n    return", "(h) if 0 else 0\n    return"),
            ),
        ),
        "no bias": (
            "values",
            edit(
                LAYER,
                ("w_ih, w_hh, b_ih, b_hh)\n        output", "w_ih, w_hh, 0 * b_ih, b_hh)\n        output"),
            ),
        ),
        "cat then reshape": (
            "values",
            edit(LAYER, ("torch.stack(output, dim=1)", "torch.cat(output).reshape(*x.shape[:2], -1)")),
        ),
        "only the last step": ("shape", edit(LAYER, ("torch.stack(output, dim=1)", "h"))),
        "loop over the batch dimension": (
            "shape",
            edit(LAYER, ("range(x.shape[1])", "range(min(x.shape[:2]))")),
        ),
        "at most twenty steps": (
            "generality",
            edit(LAYER, ("range(x.shape[1])", "range(min(x.shape[1], 20))")),
        ),
        "squeeze": ("generality", edit(LAYER, ("x[:, t], h", "x[:, t].squeeze(), h"))),
        "view": (
            "generality",
            edit(LAYER, ("h = h_0", "h = h_0\n    x = x.view(x.shape[0] * x.shape[1], -1).view(x.shape)")),
        ),
        "one step detached": (
            "gradient",
            edit(LAYER, ("x[:, t], h,", "x[:, t], (h.detach() if t == 1 else h),")),
        ),
        "output through data": ("gradient", edit(LAYER, ("append(h)", "append(h.data)"))),
        "output in a default buffer": (
            "dtype",
            edit(
                LAYER,
                ("output = []", "output = torch.zeros(*x.shape[:2], h.shape[1])"),
                ("output.append(h)", "output[:, t] = h"),
                ("torch.stack(output, dim=1)", "output"),
            ),
        ),
        "output converted to float": ("dtype", edit(LAYER, ("dim=1)", "dim=1).float()"))),
        "state written back into h_0": (
            "mutation",
            edit(LAYER, ("append(h)", "append(h.clone()); h_0.copy_(h)")),
        ),
        "output written into x": ("mutation", edit(LAYER, ("append(h)", "append(h); x[:, t] = 0"))),
        "h_0 in place": ("mutation", edit(LAYER, ("    return", "    h_0.zero_()\n    return"))),
        "a default argument that remembers": (
            "shape",  # of the sizes that the check before it had
            edit(LAYER, ("b_ih, b_hh):", "b_ih, b_hh, output=[]):"), ("    output = []\n", "")),
        ),
        "torch.rnn_tanh": (
            "from-scratch",
            "def rnn_layer(x, h_0, *w):\n"
            "    o, h = torch.rnn_tanh(x, h_0[None], list(w), True, 1, 0.0, False, False, True)\n    return o, h[0]\n",
        ),
        "nn.RNN by a hidden road": (
            "from-scratch",
            "import importlib\n"
            "def rnn_layer(x, h_0, *w):\n"
            "    kind = vars(importlib.import_module('torch.nn.modules.rnn'))['R' + 'NN']\n"
            "    rnn = kind(x.shape[2], h_0.shape[1], batch_first=True, dtype=x.dtype)\n"
            "    o, h = torch.func.functional_call(rnn, dict(zip(dict(rnn.named_parameters()), w)), (x, h_0[None]))\n"
            "    return o, h[0]\n",
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
        "only layer 0 is carried": (
            "values",
            edit(
                STEPWISE,
                (
                    "state = h_0",
                    "state = torch.zeros(rnn.num_layers, x.shape[0], rnn.hidden_size).to(x) if h_0 is None else h_0.clone()",
                ),
                (
                    "step, state = rnn(x[:, t : t + 1], state)",
                    "step, new = rnn(x[:, t : t + 1], state.clone())\n        state[0] = new[0]",
                ),
            ),
        ),
        "the state is not carried": (
            "values",
            edit(STEPWISE, ("step, state =", "step, last ="), ("dim=1), state", "dim=1), last")),
        ),
        "h_n of the first step": (
            "values",
            edit(
                STEPWISE,
                ("append(step)", "append(step); first = state if t == 0 else first"),
                ("dim=1), state", "dim=1), first"),
            ),
        ),
        "h_n is the top layer everywhere": (
            "values",
            edit(STEPWISE, ("dim=1), state", "dim=1), state[-1:].expand_as(state)")),
        ),
        "output of the bottom layer": (
            "values",
            edit(STEPWISE, ("append(step)", "append(state[0][:, None])")),
        ),
        "cat along the batch": ("shape", edit(STEPWISE, ("dim=1", "dim=0"))),
        "only the last output": ("shape", edit(STEPWISE, ("torch.cat(output, dim=1)", "step"))),
        "one call too many": (
            "from-scratch",
            edit(STEPWISE, ("    return", "    rnn(x[:, -1:])\n    return")),
        ),
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
        "the state of the last call is kept": (
            "values",
            edit(
                STEPWISE,
                ("state = h_0", "state = run_stepwise.kept if h_0 is None else h_0"),
                ("    return", "    run_stepwise.kept = state.detach()\n    return"),
            )
            + "run_stepwise.kept = None\n",
        ),
        "two layers at least": (
            "generality",
            edit(
                STEPWISE,
                ("state = h_0", "state = h_0 if h_0 is None else torch.stack([h_0[0], h_0[1], *h_0[2:]])"),
            ),
        ),
        "view": (
            "generality",
            edit(STEPWISE, ("state = h_0", "state = h_0\n    x = x.view(-1, x.shape[2]).view(x.shape)")),
        ),
        "detached": (
            "gradient",
            edit(STEPWISE, ("t + 1], state)", "t + 1], state if state is None else state.detach())")),
        ),
        "detached after the first step": (
            "gradient",
            edit(STEPWISE, ("append(step)", "append(step); state = state.detach() if t == 0 else state")),
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + STEPWISE),
        "x scaled in place": ("mutation", edit(STEPWISE, ("    return", "    x.mul_(0)\n    return"))),
        "weights zeroed afterwards": (
            "mutation",
            edit(
                STEPWISE,
                ("    return", "    if h_0 is not None:\n        rnn.bias_hh_l0.data.zero_()\n    return"),
            ),
        ),
    },
    "stacked_rnn": {
        "every layer reads x": (
            "values",
            edit(
                STACK,
                ("h_n = rnn_layer(layer_input,", "h_n = rnn_layer(x if layer == 0 else layer_input * 0,"),
            ),
        ),
        "every layer starts from zeros": ("values", edit(STACK, ("h_0[layer]", "0 * h_0[layer]"))),
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
        "own random weights": (
            "values",
            edit(
                STACK,
                (
                    "rnn_layer(layer_input, h_0[layer], *weights)",
                    "rnn_layer(layer_input, h_0[layer], *[torch.rand_like(w) for w in weights])",
                ),
            ),
        ),
        "biases swapped for weights' sum": (
            "values",
            edit(STACK, ("*weights)", "weights[0], weights[1], weights[2], weights[2])")),
        ),
        "output of the first layer": (
            "values",
            edit(
                STACK,
                (
                    "final_states.append(h_n)",
                    "final_states.append(h_n); first = layer_input if layer == 0 else first",
                ),
                ("return layer_input", "return first"),
            ),
        ),
        "h_n batch first": (
            "shape",
            edit(STACK, ("torch.stack(final_states)", "torch.stack(final_states, 1)")),
        ),
        "squeeze": ("generality", edit(STACK, ("return layer_input,", "return layer_input.squeeze(1),"))),
        "view": ("generality", edit(STACK, ("layer_input = x", "layer_input = x.view(-1).view(x.shape)"))),
        "weights through data": ("gradient", edit(STACK, ('_l{layer}")', '_l{layer}").data'))),
        "detached between layers": (
            "gradient",
            edit(
                STACK,
                ("    return", "    layer_input = layer_input * 1\n    return"),
                ("rnn_layer(layer_input,", "rnn_layer(layer_input.detach() if layer else layer_input,"),
            ),
        ),
        "results in float": ("dtype", edit(STACK, ("return layer_input,", "return layer_input.float(),"))),
        "final states written into h_0": (
            "mutation",
            edit(STACK, ("append(h_n)", "append(h_n); h_0[layer] = h_n")),
        ),
        "the input cleared": ("mutation", edit(STACK, ("    return", "    x.zero_()\n    return"))),
        "weights touched": (
            "mutation",
            edit(STACK, ("    return", "    rnn.weight_hh_l0.data.zero_()\n    return")),
        ),
        "its forward is called": (
            "from-scratch",
            "def stacked_rnn(rnn, x, h_0):\n    return rnn.forward(x, h_0)\n",
        ),
        "the class's forward is called": (
            "from-scratch",
            "def stacked_rnn(rnn, x, h_0):\n    return type(rnn).forward(rnn, x, h_0)\n",
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
