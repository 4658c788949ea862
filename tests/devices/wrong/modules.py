"""Modules that are wrong on another device only, and do not look it."""

from tests.devices import H, V
from tests.devices.right.usual import lstm
from tests.devices.writing import makes
from tests.devices.wrong.usual import device

MODULES = {
    "a constant of the class": device(
        """
        class Model(nn.Module):
            SCALE = torch.tensor([0.5, 1.0, 2.0])
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            def forward(self, x):
                return self.fc(x * self.SCALE.to(x.dtype))
        """,
        "self.SCALE",
    ),
    "a helper that makes states": device(
        """
        def init(batch_size, size, dtype):
            return torch.zeros(batch_size, size, dtype=dtype), torch.zeros(batch_size, size, dtype=dtype)
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.LSTMCell(D, H)
            def forward(self, x):
                state = init(x.size(0), self.cell.hidden_size, x.dtype)
                for x_t in x.unbind(1):
                    state = self.cell(x_t, state)
                return state
        """,
        "return torch.zeros(batch_size",
    ),
    "a tensor caught by a closure": makes(
        """
w = torch.ones(D, H)
self.project = lambda x: x @ w.to(x.dtype)
""",
        "return self.project(x)",
        rule="device",
        line="x @ w.to",
    ),
    "a layer caught by a closure": makes(
        """
fc = nn.Linear(D, H).double()
self.project = lambda x: fc.to(x.dtype)(x)
""",
        "return self.project(x)",
        rule="device",
        line="fc.to(x.dtype)(x)",
    ),
    "a layer in a tuple": makes(
        "self.layers = nn.Linear(D, H), nn.Tanh()",
        "return self.layers[1](self.layers[0].to(x.dtype)(x))",
        rule="device",
        line="",
    ),
    "layers in a dict": makes(
        "self.gates = {k: nn.Linear(D, H) for k in 'io'}",
        "return self.gates['i'].to(x.dtype)(x) * self.gates['o'].to(x.dtype)(x)",
        rule="device",
        line="self.gates['i']",
    ),
    "parameters in a list": makes(
        "self.w = [nn.Parameter(torch.ones(D, H))]",
        "return x @ self.w[0].to(x.dtype)",
        rule="device",
        line="self.w = [",
    ),
    "a copy of a weight's data": makes(
        """
self.fc = nn.Linear(D, H)
self.before = copy.deepcopy(self.fc.weight.data)
""",
        "return F.linear(x, self.fc.weight - self.before.to(x.dtype))",
        before="import copy",
        rule="device",
        line="self.before",
    ),
    "a view of a weight kept": makes(
        """
self.w = nn.Parameter(torch.ones(D, 2 * H))
self.w_i = self.w.detach()[:, :H]
""",
        "return (x @ self.w).chunk(2, -1)[0] + x @ self.w_i.to(x.dtype)",
        rule="device",
        line="self.w_i",
    ),
    "the device when it was made": makes(
        """
self.fc, self.H = nn.Linear(D, H), H
self.device = self.fc.weight.device
""",
        "return self.fc(x) + torch.zeros(len(x), 1, self.H, device=self.device, dtype=x.dtype)",
        rule="device",
        line="device=self.device",
    ),
    "a device among the arguments": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H, device="cpu"):
                super().__init__()
                self.rnn, self.device = nn.RNN(D, H, batch_first=True).to(device), device
            def forward(self, x):
                h = torch.zeros(1, x.size(0), self.rnn.hidden_size, dtype=x.dtype).to(self.device)
                return self.rnn(x, h)
        """,
        "h = torch.zeros",
    ),
    "a device of the whole notebook": device(
        """
        DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def f(x):
            return x + torch.ones(x.shape, dtype=x.dtype, device=DEVICE)
        """,
        "torch.ones(x.shape",
        made_with=None,
    ),
    "a buffer replaced by a tensor of the CPU": makes(
        """
self.fc = nn.Linear(D, H)
self.register_buffer('mask', torch.ones(1))
""",
        """
self.mask = torch.ones(x.size(1), 1, dtype=x.dtype)
return self.fc(x * self.mask)
""",
        rule="device",
        line="self.mask = torch.ones",
    ),
    "a cache by length": device(
        """
        import functools
        @functools.lru_cache(maxsize=None)
        def decay(length):
            return torch.linspace(0, 1, length)[:, None]
        def f(x):
            return x * decay(x.shape[1]).to(x.dtype)
        """,
        "decay(x.shape[1])",
        made_with=None,
    ),
    "a traced part that wrote its device down": device(
        """
        def step(x):
            return x + torch.zeros(x.shape, device=x.device, dtype=x.dtype)
        step = torch.jit.trace(step, torch.zeros(2, 5, 3, dtype=torch.float64), check_trace=False)
        def f(x):
            return step(x.double()).to(x.dtype)
        """,
        "step(x.double())",
        made_with=None,
    ),
    "a start token of the CPU": device(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding, self.cell, self.fc = nn.Embedding(V, H), nn.GRUCell(H, H), nn.Linear(H, V)
            def forward(self, ids):
                h = self.embedding.weight.new_zeros(ids.shape[0], self.cell.hidden_size)
                token, made = torch.full((ids.shape[0],), 1), []
                for _ in range(3):
                    h = self.cell(self.embedding(token), h)
                    token = self.fc(h).argmax(-1)
                    made.append(token)
                return torch.stack(made, 1)
        """,
        "torch.full((ids.shape[0],), 1)",
        inputs="ids",
        made_with=(V, H),
    ),
    "a layer made by a functional call": makes(
        """
self.fc = nn.Linear(D, H)
self.weights = dict(self.fc.named_parameters())
self.weights = {k: p.detach().clone() for k, p in self.weights.items()}
""",
        """
weights = {k: w.to(x.dtype) for k, w in self.weights.items()}
return torch.func.functional_call(self.fc, weights, (x,))
""",
        rule="device",
        line="functional_call",
    ),
    "hooked in on the CPU": makes(
        """
self.fc = nn.Linear(D, H)
self.fc.register_forward_hook(lambda m, a, y: y + torch.ones(y.shape[-1], dtype=y.dtype))
""",
        "return self.fc(x)",
        rule="device",
        line="torch.ones(y.shape[-1]",
    ),
    "the first GPU": device(
        lstm("torch.zeros(2, B, self.H, dtype=x.dtype, device=0 if x.is_cuda else 'cpu')"), "device=0"
    ),
    "the module moved in forward": makes(
        "self.fc = nn.Linear(D, H)",
        """
if x.is_cuda:
    self.fc.cuda()
return self.fc(x)
""",
        rule="device",
        line="self.fc.cuda()",
    ),
    "the module taken to the CPU": makes(
        "self.fc = nn.Linear(D, H)",
        "return self.fc.cpu()(x.cpu()).to(x.device)",
        rule="device",
        line=".cpu()",
    ),
    "states collected on the CPU": device(
        lstm(keep="outputs.append(h.cpu())", output="torch.stack(outputs, 1).to(x.device)"), "h.cpu()"
    ),
    "to the device of something else": makes(
        "self.fc, self.anchor = nn.Linear(D, H), torch.zeros(())",
        "return self.fc(x).to(self.anchor.device).tanh().to(x.device)",
        rule="device",
        line="self.anchor.device",
    ),
    "a step of its own by numpy": device(
        """
        class Sign(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return torch.as_tensor(x.detach().double().cpu().numpy() * 2).to(x)
            @staticmethod
            def backward(ctx, grad):
                return 2 * grad
        def f(x):
            return Sign.apply(x)
        """,
        ".numpy()",
        made_with=None,
    ),
    "gradients sent over the CPU": device(
        """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x
            @staticmethod
            def backward(ctx, grad):
                return (2 * grad.cpu()).to(grad.device)
        def f(x):
            return Double.apply(x)
        """,
        "grad.cpu()",
        made_with=None,
    ),
    "cell state None c": makes(
        "self.cell = nn.LSTMCell(D, H)",
        """
c = torch.zeros(len(x), self.cell.hidden_size, dtype=x.dtype)
return self.cell(x[:, 0], (c.to(x.device), c))
""",
        rule="device",
        line="c = torch.zeros",
    ),
    "modulelist via list comp attr": makes(
        """
self.cells = [nn.LSTMCell(D if k == 0 else H, H) for k in range(2)]
for k, c in enumerate(self.cells): setattr(self, f'c{k}', c) if k == 0 else None
""",
        """
h = x[:, 0]
for cell in self.cells:
    h, _ = cell.to(x.dtype)(h)
return h
""",
        rule="device",
        line="",
    ),
    "sequential outside": makes(
        "object.__setattr__(self, 'fc', nn.Linear(D, H))",
        "return self.fc.to(x.dtype)(x)",
        rule="device",
        line="self.fc",
    ),
    "dict attr": makes(
        "self.__dict__['w'] = nn.Parameter(torch.ones(D, H))",
        "return x @ self.w.to(x.dtype)",
        rule="device",
        line="self.w",
    ),
    "partial": makes(
        "self.fn = functools.partial(F.linear, weight=torch.ones(H, D))",
        "return F.linear(x, self.fn.keywords['weight'].to(x.dtype))",
        before="import functools",
        rule="device",
        line="self.fn.keywords",
    ),
    "wrapped object": device(
        """
    class Box:
        def __init__(self, w):
            self.w = w
    class Model(nn.Module):
        def __init__(self, D, H):
            super().__init__()
            self.box = Box(nn.Parameter(torch.ones(D, H)))
        def forward(self, x):
            return x @ self.box.w.to(x.dtype)
    """,
        "self.box.w",
    ),
    "state kept from before": makes(
        """
self.rnn = nn.RNN(D, H, batch_first=True)
self.h = torch.zeros(1, 2, H)
""",
        """
out, h = self.rnn(x, self.h.to(x.dtype))
self.h = h.detach()
return out
""",
        rule="device",
        line="self.h",
    ),
    "global model": device(
        """
    proj = nn.Linear(3, 4)
    def f(x):
        return F.linear(x, proj.weight.to(x.dtype))
    """,
        "proj.weight",
        made_with=None,
    ),
    "load map": makes(
        "self.fc = nn.Linear(D, H)",
        """
self.fc.load_state_dict({k: v.cpu() for k, v in self.fc.state_dict().items()})
return self.fc(x)
""",
        rule="device",
        line=".cpu()",
    ),
    "buffer reassign cpu later": makes(
        """
self.register_buffer('m', torch.ones(1))
self.fc = nn.Linear(D, H)
""",
        """
self._buffers['m'] = torch.full((3,), 2.0, dtype=x.dtype)
return self.fc(x * self.m)
""",
        rule="device",
        line="torch.full",
    ),
    "param made in forward": makes(
        """
self.w = None
self.H = H
""",
        """
if self.w is None:
    self.w = nn.Parameter(torch.ones(x.size(-1), self.H, dtype=x.dtype))
return x @ self.w
""",
        rule="device",
        line="nn.Parameter",
    ),
    "scripted cpu zeros": device(
        """
    @torch.jit.script
    def step(x):
        return x + torch.zeros(x.shape, dtype=x.dtype)
    def f(x):
        return step(x)
    """,
        "step(x)",
        made_with=None,
    ),
    "hook cpu bwd": makes(
        "self.fc = nn.Linear(D, H)",
        """
y = self.fc(x)
if y.requires_grad: y.register_hook(lambda g: g * torch.ones(g.shape, dtype=g.dtype))
return y
""",
        rule="device",
        line="torch.ones",
    ),
}
