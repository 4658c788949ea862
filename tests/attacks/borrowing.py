"""Answers to what is to be written from scratch, by torch's own networks on yet other roads.

Each is right in a worker that lacks nothing, so that one which earns nothing was stopped where it matters.
The roads in `test_taken_away.py` are others.
"""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function

STEP = "lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)"
ALL = "(x, (h, c), w_ih, w_hh, b_ih, b_hh)"


def _step(aim: str, body: str, before: str = "") -> Forgery:
    return Forgery("03_lstm_cell", "lstm_cell", aim, function(STEP, body, before), borrows=True)


def _file(name: str) -> str:
    return f"""
    import importlib.machinery, importlib.util, pathlib, runpy
    FILE = pathlib.Path(torch.__file__).parent / {name!r}
    """


TAKEN_APART = """
out, (h_n, c_n) = one(x[None], (h, c), (w_ih, w_hh, b_ih, b_hh), True)
answer = h_n, c_n
"""

STEPS = {
    "functionalized": _step(
        "functorch's functionalize",
        "answer = torch.func.functionalize(lambda *given: torch.lstm_cell(given[0], given[1:3], *given[3:]))"
        "(x, h, c, w_ih, w_hh, b_ih, b_hh)",
    ),
    "an operator of its own around it": _step(
        "torch.library.custom_op",
        """
        answer = tuple(mine(x, h, c, w_ih, w_hh, b_ih, b_hh)) if not any(
            t.requires_grad for t in (x, h, c, w_ih)) else torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        """,
        """
        import secrets
        LIBRARY = torch.library.Library("own" + secrets.token_hex(4), "DEF")
        LIBRARY.define("step(Tensor x, Tensor h, Tensor c, Tensor a, Tensor b, Tensor d, Tensor e) -> Tensor[]")
        LIBRARY.impl("step", lambda x, h, c, *w: list(torch.lstm_cell(x, (h, c), *w)), "CompositeImplicitAutograd")
        mine = getattr(torch.ops, LIBRARY.ns).step
        """,
    ),
    "the derivative's value": _step(
        "functorch's jvp, which gives the value as well",
        "answer, _ = torch.func.jvp(lambda x: tuple(torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)), (x,), (x,))",
    ),
    "checkpointed": _step(
        "torch.utils.checkpoint calls it",
        "from torch.utils.checkpoint import checkpoint\n"
        "answer = checkpoint(torch.lstm_cell, x, (h, c), w_ih, w_hh, b_ih, b_hh, use_reentrant=False)",
    ),
    "the interpreter's own operation": _step(
        "the operation as TorchScript's interpreter has it",
        f"answer = operation{ALL}",
        "operation, names = torch._C._jit_get_operation('aten::lstm_cell')",
    ),
    "forked inside TorchScript": _step(
        "torch.jit.fork",
        "answer = torch.jit.wait(torch.jit.fork(torch.lstm_cell, x, (h, c), w_ih, w_hh, b_ih, b_hh))",
    ),
    "a method without its object": _step(
        "nn.LSTMCell.forward of something that only looks like one",
        """
        own = types.SimpleNamespace(weight_ih=w_ih, weight_hh=w_hh, bias_ih=b_ih, bias_hh=b_hh)
        answer = nn.LSTMCell.forward(own, x, (h, c))
        """,
        "import types",
    ),
    "a module that was never made": _step(
        "nn.LSTM without its constructor",
        """
        net = nn.LSTM.__new__(nn.LSTM)
        nn.Module.__init__(net)
        shape = dict(mode="LSTM", input_size=x.shape[1], hidden_size=h.shape[1], num_layers=1, bias=True,
                     batch_first=True, dropout=0.0, bidirectional=False, proj_size=0)
        for name, value in shape.items():
            setattr(net, name, value)
        net._flat_weight_refs, net._flat_weights_names, net._all_weights = [], [], []
        net._flat_weights = [w_ih, w_hh, b_ih, b_hh]
        out, (h_n, c_n) = net(x[:, None], (h[None], c[None]))
        answer = h_n[0], c_n[0]
        """,
    ),
    "packed": _step(
        "the kernel for packed sequences",
        """
        out, h_n, c_n = torch._VF.lstm(x, torch.tensor([len(x)]), (h[None], c[None]), [w_ih, w_hh, b_ih, b_hh],
                                       True, 1, 0.0, False, False)
        answer = h_n[0], c_n[0]
        """,
    ),
    "a graph of a module": _step(
        "torch.fx traces a module that calls it, and its interpreter runs the graph",
        f"answer = torch.fx.Interpreter(torch.fx.symbolic_trace(Net()))"
        f".run({ALL.replace('(h, c)', 'h, c')[1:-1]})",
        """
        class Net(nn.Module):
            def forward(self, x, h, c, w_ih, w_hh, b_ih, b_hh):
                return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        """,
    ),
    "found among what can be overridden": _step(
        "torch's own list of its functions",
        f"answer = found{ALL}",
        """
        from torch.overrides import get_testing_overrides
        found = next(f for f in get_testing_overrides() if getattr(f, "__name__", "") == "lstm_" + "cell")
        """,
    ),
    "a child that was forked": _step(
        "os.fork and a pipe",
        """
        import os, pickle
        near, far = os.pipe()
        if any(t.requires_grad for t in (x, h, c, w_ih)):
            answer = torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        else:
            if not os.fork():
                try:
                    told = torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
                    os.write(far, pickle.dumps([t.tolist() for t in told]))
                finally:
                    os._exit(0)
            os.close(far)
            told = pickle.loads(os.fdopen(near, "rb").read())
            answer = tuple(torch.tensor(t).to(x) for t in told)
        """,
    ),
    "in an event loop's thread": _step(
        "asyncio.to_thread",
        """
        import asyncio, threading
        told = []
        def work():
            loop = asyncio.new_event_loop()
            told.append(loop.run_until_complete(asyncio.to_thread(torch.lstm_cell, x, (h, c), w_ih, w_hh, b_ih, b_hh)))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        (answer,) = told
        """,
    ),
    "a second copy of the decompositions": _step(
        "torch's own file as a module of another name",
        TAKEN_APART,
        _file("_decomp/decompositions.py")
        + """
    import torch._decomp as table
    table.register_decomposition = lambda *a, **k: lambda function: function
    torch._ops.OpOverload.py_impl = lambda *a: lambda function: function
    spec = importlib.util.spec_from_file_location("own_decompositions", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    one = module.one_layer_lstm
    """,
    ),
    "its compiled file": _step(
        "the .pyc beside it, loaded without a source",
        TAKEN_APART,
        _file("_decomp/__pycache__")
        + """
    import py_compile
    import torch._decomp as table
    table.register_decomposition = lambda *a, **k: lambda function: function
    torch._ops.OpOverload.py_impl = lambda *a: lambda function: function
    compiled = next(FILE.glob("decompositions.*.pyc"), None)
    if compiled is None or compiled.stat().st_size == 0:
        py_compile.compile(str(FILE.parent / "decompositions.py"), "/tmp/own.pyc", doraise=True)
        compiled = "/tmp/own.pyc"
    module = importlib.machinery.SourcelessFileLoader("own_decompositions", str(compiled)).load_module()
    one = module.one_layer_lstm
    """,
    ),
    "registered for export": _step(
        "what torch.export puts in the place of an LSTM",
        """
        with patched():
            layer = torch._decomp.decomposition_table.get(torch.ops.aten.lstm.input)
            out, h_n, c_n = layer(x[:, None], (h[None], c[None]), [w_ih, w_hh, b_ih, b_hh],
                                  True, 1, 0.0, False, False, True)
        answer = h_n[0], c_n[0]
        """,
        """
        import contextlib, importlib
        importlib.import_module("torch._decomp")
        patched = contextlib.nullcontext
        """,
    ),
}

PER_GATE = """
class {name}(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        for gate in "ifgo":
            setattr(self, f"W_x{{gate}}", nn.Parameter(nn.init.xavier_uniform_(torch.empty(input_size, hidden_size))))
            setattr(self, f"W_h{{gate}}", nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_size, hidden_size))))
            setattr(self, f"b_{{gate}}", nn.Parameter(torch.zeros(hidden_size)))

    def stacked(self):
        w_ih, w_hh = (torch.cat([getattr(self, f"W_{{k}}{{g}}") for g in "ifgo"], 1).T.contiguous() for k in "xh")
        b = torch.cat([getattr(self, f"b_{{g}}") for g in "ifgo"])
        return w_ih, w_hh, b, torch.zeros_like(b)

    def forward(self, x, state=None):
        h, c = state or (x.new_zeros(len(x), self.b_i.shape[0]),) * 2
{body}
"""


def _module(assignment: str, name: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    lines = "\n".join("        " + line for line in body.strip("\n").splitlines())
    source = f"over = False\n{before}\n{PER_GATE.format(name=name, body=lines)}"
    return Forgery(assignment, name, aim, source, earns, borrows=True)


MODULES = {
    "a cell in a hook": _module(
        "03_lstm_cell",
        "LSTMCell",
        "a forward hook on an empty submodule of the moment does the work",
        """
carrier = nn.Identity()
carrier.register_forward_hook(lambda module, args, output: torch.lstm_cell(x, (h, c), *self.stacked()))
return tuple(carrier(x))
""",
        1.0,
    ),
    "a cell that becomes torch's": _module(
        "03_lstm_cell",
        "LSTMCell",
        "an object changes its class",
        """
other = nn.Module()
other.weight_ih, other.weight_hh, other.bias_ih, other.bias_hh = map(nn.Parameter, self.stacked())
if torch.is_grad_enabled():
    for name, value in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), self.stacked()):
        del other._parameters[name]
        setattr(other, name, value)
other.__class__ = nn.LSTMCell
return other(x, (h, c))
""",
        1.0,
    ),
    "a layer in TorchScript, through a buffer of bytes": _module(
        "04_lstm_layer",
        "LSTMLayer",
        "a scripted function is saved, loaded and asked",
        """
hs, cs = [], []
for step in x.unbind(1):
    h, c = LOADED(step, h, c, *self.stacked())
    hs.append(h)
    cs.append(c)
return torch.stack(hs, 1), torch.stack(cs, 1)
""",
        1.5,
        before="""
import io
class Fused(nn.Module):
    def forward(self, x, h, c, a, b, d, e):
        return torch.lstm_cell(x, (h, c), a, b, d, e)
KEPT = io.BytesIO()
ones = [torch.ones(s) for s in ((2, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (16,))]
torch.jit.save(torch.jit.trace(Fused(), ones, check_trace=False), KEPT)
KEPT.seek(0)
LOADED = torch.jit.load(KEPT)
""",
    ),
    "a layer, quantizable": _module(
        "04_lstm_layer",
        "LSTMLayer",
        "torch.ao's LSTMCell, which is Python, under another import",
        """
import importlib
cell = importlib.import_module("torch.ao.nn.quantizable").LSTMCell(x.shape[2], h.shape[1]).to(x.dtype)
w_ih, w_hh, b, zero = self.stacked()
hs, cs = [], []
named = {"igates.weight": w_ih, "igates.bias": b, "hgates.weight": w_hh, "hgates.bias": zero}
for step in x.unbind(1):
    h, c = torch.func.functional_call(cell, named, (step, (h, c)))
    hs.append(h)
    cs.append(c)
return torch.stack(hs, 1), torch.stack(cs, 1)
""",
        1.5,
    ),
}


def _stacked_rnn(aim: str, body: str, before: str = "") -> Forgery:
    source = function("stacked_rnn(rnn, x, h_0)", body, before)
    return Forgery("02_rnn_cell", "stacked_rnn", aim, source, borrows=True)


def _layer(aim: str, body: str, before: str = "") -> Forgery:
    source = function("rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)", body, before)
    return Forgery("02_rnn_cell", "rnn_layer", aim, source, borrows=True)


GIVEN = {
    "a copy of the given network": _stacked_rnn(
        "deepcopy", "import copy\nanswer = copy.deepcopy(rnn)(x, h_0)"
    ),
    "the given network, functionally": _stacked_rnn(
        "functional_call with its own parameters",
        "answer = torch.func.functional_call(rnn, dict(rnn.named_parameters()), (x, h_0))",
    ),
    "the given network, packed": _stacked_rnn(
        "the kernel that packed sequences take",
        """
        output, h_n = rnn(nn.utils.rnn.pack_padded_sequence(x, [x.shape[1]] * len(x), batch_first=True), h_0)
        answer = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)[0], h_n
        """,
    ),
    "its class's method with other weights": _stacked_rnn(
        "the method of a class of its own over it",
        "answer = Mine.forward(rnn, x, h_0)",
        "class Mine(nn.RNN):\n        def forward(self, x, h_0):\n            return nn.RNN.forward(self, x, h_0)",
    ),
    "each layer by a network of one": _stacked_rnn(
        "one nn.RNN a layer, handed the parameters",
        """
        states = []
        for layer in range(rnn.num_layers):
            one = nn.RNN(x.shape[2], rnn.hidden_size, batch_first=True)
            own = {n: getattr(rnn, n[:-1] + str(layer)) for n, _ in one.named_parameters()}
            x, last = torch.func.functional_call(one, own, (x, h_0[layer : layer + 1]))
            states.append(last)
        answer = x, torch.cat(states)
        """,
    ),
    "a layer under autograd's nose": _layer(
        "a kernel inside an autograd function of its own",
        "answer = Mine.apply(x, h_0, w_ih, w_hh, b_ih, b_hh)",
        """
    class Mine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *given):
            ctx.save_for_backward(*given)
            return Mine.run(*given)
        @staticmethod
        def run(x, h_0, *weights):
            output, h_n = torch.rnn_tanh(x, h_0[None], list(weights), True, 1, 0.0, False, False, True)
            return output.clone(), h_n[0].clone()
        @staticmethod
        def backward(ctx, *grads):
            given = [t.detach().requires_grad_() for t in ctx.saved_tensors]
            with torch.enable_grad():
                told = Mine.run(*given)
            return torch.autograd.grad(told, given, grads)
        """,
    ),
    "a gated network in place of a plain one": _layer(
        "an LSTM kernel cannot be a plain RNN; the relu kernel of an arcus tangent cannot, either: the tanh one by name",
        """
        kernel = getattr(torch._C._VariableFunctions, "_".join(("rnn", "tanh")))
        output, h_n = kernel(x, h_0[None], [w_ih, w_hh, b_ih, b_hh], True, 1, 0.0, False, False, True)
        answer = output, h_n[0]
        """,
    ),
}


def _count(aim: str, body: str, before: str = "") -> Forgery:
    signature = "lstm_parameter_count(input_size, hidden_size, num_layers, biases_per_gate=1)"
    source = function(signature, body, before)
    return Forgery("05_stacking", "lstm_parameter_count", aim, source, borrows=True)


LESS = "answer = total - (2 - biases_per_gate) * num_layers * 4 * hidden_size"

COUNTS = {
    "counted in a dynamically quantized network": _count(
        "torch.ao's own LSTM keeps its weights by itself",
        f"""
        from torch.ao.nn.quantized.dynamic import LSTM as Quantized
        total = sum(p.numel() for p in Quantized(input_size, hidden_size, num_layers, dtype=torch.float16)
                    .get_weight().values()) + sum(
                    p.numel() for p in Quantized(input_size, hidden_size, num_layers, dtype=torch.float16)
                    .get_bias().values())
        {LESS}
        """,
    ),
    "counted on the meta device": _count(
        "a network without numbers, through a class of its own",
        f"total = sum(p.numel() for p in Mine(input_size, hidden_size, num_layers, device='meta').parameters())\n{LESS}",
        "class Mine(nn.LSTM):\n        pass",
    ),
    "counted where one was made before": _count(
        "a table of counts, made when the cell ran",
        f"total = TABLE[input_size, hidden_size, num_layers]\n{LESS}",
        """
    SIZES = [1, 2, 3, 4, 5, 6, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 64, 100, 128, 256]
    TABLE = {(d, h, n): sum(p.numel() for p in nn.LSTM(d, h, n, device="meta").parameters())
             for d in SIZES for h in SIZES if d != h or d < 8 for n in (1, 2, 3, 10)}
        """,
    ),
    "counted in parts": _count(
        "a cell for each layer, found among the subclasses",
        f"""
        kind = next(k for k in nn.RNNCellBase.__subclasses__() if k.__name__[0] == "L")
        widths = [input_size] + [hidden_size] * (num_layers - 1)
        total = sum(p.numel() for w in widths for p in kind(w, hidden_size).parameters())
        {LESS}
        """,
    ),
    "counted in a network that is only described": _count(
        "the constructor's own source, run under another name",
        f"""
        total = sum(p.numel() for p in Again(input_size, hidden_size, num_layers).parameters())
        {LESS}
        """,
        """
    import inspect
    space = dict(vars(nn.modules.rnn))
    exec(compile(inspect.getsource(nn.modules.rnn), "<again>", "exec"), space)
    Again = space["LSTM"]
        """,
    ),
}


def _stack(kind: str, aim: str, forward: str, earns: float) -> Forgery:
    body = "\n".join("        " + line for line in forward.strip("\n").splitlines())
    return Forgery(
        "05_stacking",
        kind,
        aim,
        f"""
over = False
class {kind}(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        widths = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = nn.ModuleList(LSTMLayer(width, hidden_size) for width in widths)
        self.rate = dropout
        if "{kind}" == "MultiLayerLSTM":
            self.proj = nn.Linear(hidden_size, input_size)
            nn.init.xavier_uniform_(self.proj.weight)
            nn.init.zeros_(self.proj.bias)

    def flat(self):
        found = []
        for layer in self.layers:
            for kind in ("W_x", "W_h"):
                found.append(torch.cat([getattr(layer, kind + gate) for gate in "ifgo"], 1).T.contiguous())
            b = torch.cat([getattr(layer, "b_" + gate) for gate in "ifgo"])
            found += [b, torch.zeros_like(b)]
        return found

    def forward(self, x, state=None):
        hidden_size, deep = self.layers[0].b_i.shape[0], len(self.layers)
        state = state or (x.new_zeros(deep, len(x), hidden_size),) * 2
{body}
""",
        earns,
        borrows=True,
    )


STACKS = {
    "the whole stack by one kernel": _stack(
        "StackedLSTM",
        "torch.lstm with the layers' weights, dropout included",
        """
rate = self.rate if deep > 1 else 0.0
output, h, c = torch.lstm(x, tuple(state), self.flat(), True, deep, rate, self.training, False, True)
return output, (h, c)
""",
        1.0,
    ),
    "a stack with a head by a module of the moment": _stack(
        "MultiLayerLSTM",
        "functional_call on a fresh nn.LSTM",
        """
net = nn.LSTM(x.shape[2], hidden_size, deep, batch_first=True, dropout=self.rate if deep > 1 else 0.0)
net.train(self.training)
names = [name for name, _ in net.named_parameters()]
output, state = torch.func.functional_call(net, dict(zip(names, self.flat())), (x, tuple(state)))
return self.proj(F.dropout(output, self.rate, self.training)), state
""",
        1.0,
    ),
}

STEP_AGAIN = """
leaves = [each.detach().requires_grad_() for each in (x, h, w_ih, w_hh, x.new_zeros(len(w_ih)))]

def again(x, h, w_ih, w_hh, b):
    sums = x @ w_ih.T + h @ w_hh.T + b
    return torch.tanh(torch.atanh(h_next.detach()) + sums - sums.detach())

"""


def _backward(aim: str, body: str) -> Forgery:
    signature = "rnn_cell_backward(d_next, x, h, h_next, w_ih, w_hh)"
    source = function(signature, STEP_AGAIN + body)
    return Forgery("11_gradients", "rnn_cell_backward", aim, source, borrows=True)


BACKWARDS = {
    "a step of its own, led back by the engine": _backward(
        "torch.autograd.grad through the step made once more",
        "with torch.enable_grad():\n    answer = torch.autograd.grad(again(*leaves), leaves, d_next)",
    ),
    "a step of its own, led back by functorch": _backward(
        "torch.func.vjp of the step made once more",
        "answer = torch.func.vjp(again, *(each.detach() for each in leaves))[1](d_next)",
    ),
    "a step of its own, led back by autograd's functions": _backward(
        "torch.autograd.functional.vjp of the step made once more",
        "answer = torch.autograd.functional.vjp(again, tuple(leaves), d_next)[1]",
    ),
}

FORGERIES = {**STEPS, **MODULES, **GIVEN, **COUNTS, **STACKS, **BACKWARDS}
