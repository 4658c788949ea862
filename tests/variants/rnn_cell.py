"""Right and wrong answers to the tasks of 02_rnn_cell."""

from tests.variants.edits import edit

SOLUTIONS = {
    "rnn_cell": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
""",
    "rnn_layer": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    h = h_0
    output = []
    for t in range(x.shape[1]):
        h = rnn_cell(x[:, t], h, w_ih, w_hh, b_ih, b_hh)
        output.append(h)
    return torch.stack(output, dim=1), h
""",
    "run_stepwise": """
def run_stepwise(rnn, x, h_0=None):
    state = h_0
    output = []
    for t in range(x.shape[1]):
        step, state = rnn(x[:, t : t + 1], state)
        output.append(step)
    return torch.cat(output, dim=1), state
""",
    "stacked_rnn": """
def stacked_rnn(rnn, x, h_0):
    layer_input = x
    final_states = []
    for layer in range(rnn.num_layers):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(rnn, f"{name}_l{layer}") for name in names]
        layer_input, h_n = rnn_layer(layer_input, h_0[layer], *weights)
        final_states.append(h_n)
    return layer_input, torch.stack(final_states)
""",
}

CELL, LAYER, STEPWISE, STACK = SOLUTIONS.values()

CORRECT = {
    "rnn_cell": {
        "linear": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return F.linear(x, w_ih, b_ih).add(F.linear(h, w_hh, b_hh)).tanh()
""",
        "einsum, other names, a helper": """
def affine(weight, bias, values):
    return torch.einsum("oi,bi->bo", weight, values) + bias


def rnn_cell(inputs, state, W, U, b, d):
    return torch.tanh(affine(W, b, inputs) + affine(U, d, state))
""",
        "one fused product": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    joined = torch.cat((x, h), dim=-1) @ torch.cat((w_ih, w_hh), dim=1).t()
    return (joined + (b_ih + b_hh).unsqueeze(0)).tanh()
""",
        "addmm": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    from_input = torch.addmm(b_ih, x, w_ih.t())
    return torch.tanh(torch.addmm(from_input + b_hh, h, w_hh.t()))
""",
        "weight times column, a transposed result": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    total = w_ih @ x.T + w_hh @ h.T + b_ih[:, None] + b_hh[:, None]
    return torch.tanh(total).T
""",
        "rows of a preallocated result": """
def rnn_cell(x: torch.Tensor, h: torch.Tensor, w_ih, w_hh, b_ih, b_hh) -> torch.Tensor:
    result = h.new_empty(h.shape)
    for row in range(len(x)):
        result[row] = torch.tanh(w_ih @ x[row] + b_ih + w_hh @ h[row] + b_hh)
    return result
""",
        "tanh by exponentials": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    z = x.matmul(w_ih.transpose(0, 1)) + h.matmul(w_hh.transpose(0, 1)) + b_ih + b_hh
    return 1 - 2 / (torch.exp(2 * z) + 1)
""",
        "broadcast products": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh, *, nonlinearity=torch.tanh):
    a = (x.unsqueeze(1) * w_ih).sum(-1)
    b = (h.unsqueeze(1) * w_hh).sum(-1)
    return nonlinearity(a + b + b_ih + b_hh)
""",
        "in place on its own result": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    total = torch.mm(x, w_ih.T)
    total += h @ w_hh.T
    total += b_ih
    total.add_(b_hh)
    return total.tanh_()
""",
        "torchscript": """
@torch.jit.script
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(F.linear(x, w_ih, b_ih) + F.linear(h, w_hh, b_hh))
""",
        "prints, warnings, assertions": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    import warnings
    print("x", x.shape)
    warnings.warn("a warning")
    assert x.shape[0] == h.shape[0]
    w = torch.nn.Parameter(w_ih) if False else w_ih
    return torch.tanh(x @ w.mT + h @ w_hh.mT + b_ih + b_hh)
""",
        "a sanity comparison below, with the same names": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    cell = x @ w_ih.T + b_ih
    out = torch.tanh(cell + h @ w_hh.T + b_hh)
    return out

cell = nn.RNNCell(3, 5)
x, h = torch.randn(2, 3), torch.randn(2, 5)
out = cell(x, h)
print(torch.allclose(out, rnn_cell(x, h, *cell.parameters()), atol=1e-6))

def test_it():
    assert isinstance(nn.RNN(3, 5), nn.RNN)
    return torch.rnn_tanh_cell
""",
        "torch under another name, a type of its own": """
import torch as t
from torch.nn import functional as fn, RNNCell

Tensor = t.Tensor

def rnn_cell(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> Tensor:
    '''As nn.RNNCell and torch.rnn_tanh_cell.'''
    import torch as tt
    return tt.tanh(fn.linear(x, w_ih, b_ih) + fn.linear(h, w_hh, b_hh))  # nn.RNNCell(...)
""",
        "off by 1e-7 of itself": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh) * (1 + 1e-7)
""",
        "an earlier try with torch's own above it": """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)


def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
""",
    },
    "rnn_layer": {
        "preallocated output": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    B, T, _ = x.shape
    out = x.new_empty(B, T, h_0.size(-1))
    h = h_0
    for t in range(T):
        h = rnn_cell(x[:, t, :], h, w_ih, w_hh, b_ih, b_hh)
        out[:, t] = h
    return out, h
""",
        "products hoisted out of the loop, unbind": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    h, states = h_0, []
    for step in F.linear(x, w_ih, b_ih + b_hh).unbind(1):
        states += [torch.tanh(step + h @ w_hh.t())]
        h = states[-1]
    return [torch.stack(states, 1), states[-1]]
""",
        "time first, then permuted: not contiguous": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    states = [h_0]
    for xt in x.transpose(0, 1):
        states.append(rnn_cell(xt, states[-1], w_ih, w_hh, b_ih, b_hh))
    output = torch.stack(states[1:]).permute(1, 0, 2)
    return output, output[:, -1]
""",
        "cat of single steps, chunks": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    h, output = h_0, None
    for step in x.chunk(x.size(1), dim=1):
        h = rnn_cell(step.squeeze(1), h, w_ih, w_hh, b_ih, b_hh)
        output = h[:, None] if output is None else torch.cat([output, h[:, None]], dim=1)
    return output, h
""",
        "recursion and a named tuple": """
from collections import namedtuple
Result = namedtuple("Result", "output h_n")


def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    first = rnn_cell(x[:, 0], h_0, w_ih, w_hh, b_ih, b_hh)
    if x.shape[1] == 1:
        return Result(first.unsqueeze(1), first)
    rest, last = rnn_layer(x[:, 1:], first, w_ih, w_hh, b_ih, b_hh)
    return Result(torch.cat((first.unsqueeze(1), rest), 1), last)
""",
        "copies of every step, own cell": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    hidden = h_0.clone()
    hs = []
    for t in range(x.shape[1]):
        hidden = torch.tanh(torch.addmm(b_ih, x[:, t], w_ih.T) + torch.addmm(b_hh, hidden, w_hh.T))
        hs.append(hidden.clone())
    return torch.stack(hs, dim=1).contiguous(), hidden
""",
        "a slot of one buffer a step": """
def rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh):
    steps = torch.zeros(x.shape[1], *h_0.shape, dtype=x.dtype, device=x.device)
    for t in range(x.shape[1]):
        before = steps[t - 1].clone() if t else h_0
        steps[t] = rnn_cell(x[:, t], before, w_ih, w_hh, b_ih, b_hh)
    return steps.swapaxes(0, 1), steps[-1].clone()
""",
    },
    "run_stepwise": {
        "unsqueeze and stack": """
def run_stepwise(rnn, x, h_0=None):
    outs = []
    h = h_0
    for t in range(x.size(1)):
        o, h = rnn(x[:, t].unsqueeze(1), h)
        outs.append(o[:, 0])
    return torch.stack(outs, dim=1), h
""",
        "zeros of x's dtype, keywords": """
def run_stepwise(rnn, x, h_0=None):
    if h_0 is None:
        h_0 = torch.zeros(rnn.num_layers, x.shape[0], rnn.hidden_size, dtype=x.dtype, device=x.device)
    state, outs = h_0, ()
    for step in x.split(1, dim=1):
        o, state = rnn(input=step, hx=state)
        outs += (o,)
    return [torch.cat(outs, 1), state]
""",
        "preallocated": """
def run_stepwise(rnn, x, h_0=None):
    out = x.new_zeros(x.shape[0], x.shape[1], rnn.hidden_size)
    for t in range(x.shape[1]):
        y, h_0 = rnn(x[:, t : t + 1, :], h_0)
        out[:, t : t + 1] = y
    return out, h_0
""",
        "forward by name, isinstance, type": """
def run_stepwise(rnn: nn.RNN, x, h_0=None):
    assert isinstance(rnn, nn.RNN) and type(rnn) is nn.RNN and rnn.batch_first
    y, outs = None, []
    for t in range(x.shape[1]):
        y, h_0 = rnn.forward(x[:, [t]], h_0)
        outs.append(y)
    return torch.hstack(outs), h_0
""",
        "the top state as the output": """
def run_stepwise(rnn, x, h_0=None):
    tops = []
    for part in x.chunk(x.shape[1], dim=1):
        _, h_0 = rnn(part.contiguous(), h_0) if h_0 is not None else rnn(part)
        tops.append(h_0[-1])
    return torch.stack(tops, 1), h_0
""",
        "new_zeros, time first": """
def run_stepwise(rnn, x, h_0=None, *, verbose=False):
    L, H = rnn.num_layers, rnn.hidden_size
    h = x.new_zeros((L, len(x), H)) if h_0 is None else h_0.clone()
    out = torch.empty(x.size(1), x.size(0), H).to(x)
    for t, step in enumerate(x.transpose(0, 1)):
        one, h = rnn(step[:, None], h)
        out[t] = one.squeeze(1)
    return out.transpose(0, 1), h
""",
    },
    "stacked_rnn": {
        "all_weights": """
def stacked_rnn(rnn, x, h_0):
    finals = []
    for h, weights in zip(h_0, rnn.all_weights):
        x, last = rnn_layer(x, h, *weights)
        finals.append(last)
    return x, torch.stack(finals, dim=0)
""",
        "parameters in fours, preallocated h_n": """
def stacked_rnn(rnn: nn.RNN, x, h_0):
    assert type(rnn) == nn.RNN
    flat = list(rnn.parameters())
    h_n = torch.empty_like(h_0)
    for layer in range(rnn.num_layers):
        x, h_n[layer] = rnn_layer(x, h_0[layer], *flat[4 * layer : 4 * layer + 4])
    return x, h_n
""",
        "time outside, layers inside, a list of states": """
def stacked_rnn(rnn, x, h_0):
    states = list(h_0.unbind(0))
    output = []
    for t in range(x.shape[1]):
        below = x[:, t]
        for layer, weights in enumerate(rnn.all_weights):
            states[layer] = below = rnn_cell(below, states[layer], *weights)
        output.append(below)
    return torch.stack(output, 1), torch.stack(states)
""",
        "named parameters": """
def stacked_rnn(rnn, x, h_0):
    named = dict(rnn.named_parameters())
    last = ()
    for k in range(h_0.shape[0]):
        x, h = rnn_layer(
            x, h_0[k], named[f"weight_ih_l{k}"], named[f"weight_hh_l{k}"], named[f"bias_ih_l{k}"], named[f"bias_hh_l{k}"]
        )
        last += (h[None],)
    return [x, torch.cat(last)]
""",
        "own modules that are not recurrent": """
class Step(nn.Module):
    def __init__(self, w_ih, w_hh, b_ih, b_hh):
        super().__init__()
        self.w_ih, self.w_hh, self.b = w_ih, w_hh, b_ih + b_hh

    def forward(self, x, h):
        return torch.tanh(F.linear(x, self.w_ih) + F.linear(h, self.w_hh) + self.b)


def stacked_rnn(rnn, x, h_0):
    finals = []
    for k in range(rnn.num_layers):
        step = Step(*(getattr(rnn, f"{n}_l{k}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))
        h, out = h_0[k], []
        for t in range(x.shape[1]):
            h = step(x[:, t], h)
            out.append(h)
        x = torch.stack(out, 1)
        finals.append(h)
    return x, torch.stack(finals)
""",
        "recursion over layers": """
def stacked_rnn(rnn, x, h_0):
    def run(x, layer):
        if layer == rnn.num_layers:
            return x, []
        out, h = rnn_layer(x, h_0[layer], *rnn.all_weights[layer])
        top, rest = run(out, layer + 1)
        return top, [h] + rest

    output, finals = run(x, 0)
    return output, torch.stack(finals)

rnn = nn.RNN(3, 5, 2, batch_first=True)
print((stacked_rnn(rnn, torch.zeros(1, 2, 3), torch.zeros(2, 1, 5))[0] - rnn(torch.zeros(1, 2, 3))[0]).abs().max())
""",
    },
}

FROM_TORCH = """
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return {}
"""

WRONG = {
    "rnn_cell": {
        "no tanh": ("values", edit(CELL, ("torch.tanh(", "("))),
        "sigmoid": ("values", edit(CELL, ("torch.tanh", "torch.sigmoid"))),
        "b_hh forgotten": ("values", edit(CELL, (" + b_hh)", ")"))),
        "b_ih twice": ("values", edit(CELL, (" + b_hh)", " + b_ih)"))),
        "recurrent matrix transposed": ("values", edit(CELL, ("w_hh.T", "w_hh"))),
        "tanh of the input part only": (
            "values",
            edit(CELL, ("+ b_ih + h @ w_hh.T + b_hh)", "+ b_ih) + h @ w_hh.T + b_hh")),
        ),
        "state ignored": ("values", edit(CELL, ("h @ w_hh.T", "0 * h @ w_hh.T"))),
        "input matrix not transposed": ("shape", edit(CELL, ("w_ih.T", "w_ih"))),
        "a pair is returned": (
            "shape",
            edit(CELL, ("return ", "h = "), ("b_hh)\n", "b_hh)\n    return h, h\n")),
        ),
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
        "squeeze": ("generality", edit(CELL, ("b_hh)\n", "b_hh).squeeze()\n"))),
        "transposed when D equals H": (
            "generality",
            edit(CELL, ("x @ w_ih.T", "(x @ w_ih if w_ih.shape[0] == w_ih.shape[1] else x @ w_ih.T)")),
        ),
        "state detached": ("gradient", edit(CELL, ("h @", "h.detach() @"))),
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
        "the state is written into": (
            "mutation",
            edit(CELL, ("return ", "h[:] = "), ("b_hh)\n", "b_hh)\n    return h\n")),
        ),
        "the input is scaled in place and back": (
            "mutation",
            edit(CELL, ("return", "x.mul_(2); x = x / 2\n    return")),
        ),
        "weights transposed in place": ("mutation", edit(CELL, ("x @ w_ih.T", "x @ w_ih.t_()"))),
        "bias summed in place": (
            "mutation",
            edit(CELL, ("return", "b_ih += b_hh\n    return"), (" + b_hh)", ")")),
        ),
        "torch.rnn_tanh_cell": (
            "from-scratch",
            FROM_TORCH.format("torch.rnn_tanh_cell(x, h, w_ih, w_hh, b_ih, b_hh)"),
        ),
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
        "state not carried": ("values", edit(LAYER, ("x[:, t], h,", "x[:, t], h_0,"))),
        "read backwards": ("values", edit(LAYER, ("range(x.shape[1])", "reversed(range(x.shape[1]))"))),
        "h_n is the first state": ("values", edit(LAYER, ("dim=1), h", "dim=1), output[0]"))),
        "states before each step": (
            "values",
            edit(
                LAYER,
                ("        h = rnn", "        output.append(h)\n        h = rnn"),
                ("(h)\n    return", "(h) if 0 else 0\n    return"),
            ),
        ),
        "zeros in place of h_0": ("values", edit(LAYER, ("h = h_0", "h = torch.zeros_like(h_0)"))),
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
        "the same buffer in every place": (
            "values",
            edit(LAYER, ("h = h_0", "h = h_0.clone()"), ("h = rnn", "h[:] = rnn")),
        ),
        "stacked time first": ("shape", edit(LAYER, ("dim=1", "dim=0"))),
        "cat along time": ("shape", edit(LAYER, ("torch.stack", "torch.cat"))),
        "only the last step": ("shape", edit(LAYER, ("torch.stack(output, dim=1)", "h"))),
        "a list of steps": ("shape", edit(LAYER, ("torch.stack(output, dim=1)", "output"))),
        "output only": ("shape", edit(LAYER, (", h\n", "\n"))),
        "loop over the batch dimension": (
            "shape",
            edit(LAYER, ("range(x.shape[1])", "range(min(x.shape[:2]))")),
        ),
        "layers dimension on h_n": ("shape", edit(LAYER, ("dim=1), h", "dim=1), h.unsqueeze(0)"))),
        "at most ten steps": ("generality", edit(LAYER, ("range(x.shape[1])", "range(min(x.shape[1], 11))"))),
        "squeeze": ("generality", edit(LAYER, ("x[:, t], h", "x[:, t].squeeze(), h"))),
        "view": (
            "generality",
            edit(LAYER, ("h = h_0", "h = h_0\n    x = x.view(x.shape[0] * x.shape[1], -1).view(x.shape)")),
        ),
        "detached between steps": ("gradient", edit(LAYER, ("x[:, t], h,", "x[:, t], h.detach(),"))),
        "one step detached": (
            "gradient",
            edit(LAYER, ("x[:, t], h,", "x[:, t], (h.detach() if t == 1 else h),")),
        ),
        "initial state detached": ("gradient", edit(LAYER, ("h = h_0", "h = h_0.detach()"))),
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
            "values",
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
        "h_0 ignored": ("values", edit(STEPWISE, ("state = h_0", "state = None"))),
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
        "h_n is the top layer": ("shape", edit(STEPWISE, ("dim=1), state", "dim=1), state[-1]"))),
        "h_n batch first": ("shape", edit(STEPWISE, ("dim=1), state", "dim=1), state.transpose(0, 1)"))),
        "stacked with its extra dimension": ("shape", edit(STEPWISE, ("torch.cat", "torch.stack"))),
        "cat along the batch": ("shape", edit(STEPWISE, ("dim=1", "dim=0"))),
        "only the last output": ("shape", edit(STEPWISE, ("torch.cat(output, dim=1)", "step"))),
        "the time dimension is dropped": ("shape", edit(STEPWISE, ("t : t + 1", "t"))),
        "one call for everything": (
            "from-scratch",
            "def run_stepwise(rnn, x, h_0=None):\n    return rnn(x, h_0)\n",
        ),
        "growing prefixes": (
            "from-scratch",
            edit(
                STEPWISE,
                ("step, state = rnn(x[:, t : t + 1], state)", "step, state = rnn(x[:, : t + 1], h_0)"),
                ("append(step)", "append(step[:, -1:])"),
            ),
        ),
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
        "squeeze": (
            "generality",
            edit(STEPWISE, ("append(step)", "append(step.squeeze())"), ("torch.cat", "torch.stack")),
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
        "zeros of the default dtype": (
            "dtype",
            edit(
                STEPWISE,
                (
                    "state = h_0",
                    "state = torch.zeros(rnn.num_layers, x.shape[0], rnn.hidden_size) if h_0 is None else h_0",
                ),
            ),
        ),
        "output in float": ("dtype", edit(STEPWISE, ("dim=1)", "dim=1).float()"))),
        "h_0 written into": (
            "mutation",
            edit(STEPWISE, ("    return", "    if h_0 is not None:\n        h_0.copy_(state)\n    return")),
        ),
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
        "every layer starts from h_0[0]": ("values", edit(STACK, ("h_0[layer]", "h_0[0]"))),
        "every layer starts from zeros": ("values", edit(STACK, ("h_0[layer]", "0 * h_0[layer]"))),
        "the last state for all layers": (
            "values",
            edit(STACK, ("torch.stack(final_states)", "torch.stack([h_n] * rnn.num_layers)")),
        ),
        "states in reverse": (
            "values",
            edit(STACK, ("torch.stack(final_states)", "torch.stack(final_states[::-1])")),
        ),
        "weights of layer 1 in every upper layer": (
            "values",
            edit(STACK, ("_l{layer}", "_l{min(layer, 1)}")),
        ),
        "new random layers": (
            "from-scratch",
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
        "h_n of the top layer": ("shape", edit(STACK, ("torch.stack(final_states)", "h_n"))),
        "h_n as a list": ("shape", edit(STACK, ("torch.stack(final_states)", "final_states"))),
        "h_n cat": ("shape", edit(STACK, ("torch.stack(final_states)", "torch.cat(final_states)"))),
        "h_n batch first": (
            "shape",
            edit(STACK, ("torch.stack(final_states)", "torch.stack(final_states, 1)")),
        ),
        "three layers always": ("generality", edit(STACK, ("range(rnn.num_layers)", "range(3)"))),
        "squeeze": ("generality", edit(STACK, ("return layer_input,", "return layer_input.squeeze(1),"))),
        "view": ("generality", edit(STACK, ("layer_input = x", "layer_input = x.view(-1).view(x.shape)"))),
        "weights from state_dict": (
            "gradient",
            edit(STACK, ('getattr(rnn, f"{name}_l{layer}")', 'rnn.state_dict()[f"{name}_l{layer}"]')),
        ),
        "weights through data": ("gradient", edit(STACK, ('_l{layer}")', '_l{layer}").data'))),
        "detached between layers": (
            "gradient",
            edit(
                STACK,
                ("    return", "    layer_input = layer_input * 1\n    return"),
                ("rnn_layer(layer_input,", "rnn_layer(layer_input.detach() if layer else layer_input,"),
            ),
        ),
        "h_n detached": ("gradient", edit(STACK, ("append(h_n)", "append(h_n.detach())"))),
        "h_n in a default buffer": (
            "dtype",
            edit(
                STACK,
                ("final_states = []", "final_states = torch.zeros(h_0.shape)"),
                ("final_states.append(h_n)", "final_states[layer] = h_n"),
                ("torch.stack(final_states)", "final_states"),
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
        "the RNN is called": ("from-scratch", "def stacked_rnn(rnn, x, h_0):\n    return rnn(x, h_0)\n"),
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
