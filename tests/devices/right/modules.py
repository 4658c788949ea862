"""Modules that are right on any device and in any dtype, written as few people write them."""

from tests.devices import Case, H, V
from tests.devices.right.usual import lstm
from tests.devices.writing import makes

MODULES = {
    "a scripted module with a loop": Case(
        """
        class Step(nn.Module):
            def __init__(self, D: int, H: int):
                super().__init__()
                self.H = H
                self.w, self.u = nn.Parameter(torch.ones(D, H)), nn.Parameter(torch.ones(H, H))
            def forward(self, x: torch.Tensor):
                h = torch.zeros(x.size(0), self.H, device=x.device, dtype=x.dtype)
                for t in range(x.size(1)):
                    h = torch.tanh(x[:, t] @ self.w + h @ self.u)
                return h
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.step = torch.jit.script(Step(D, H))
            def forward(self, x):
                return self.step(x)
        """
    ),
    "a traced function": Case(
        """
        def gates(x, w):
            i, o = (x @ w).chunk(2, dim=-1)
            return torch.sigmoid(i) * torch.tanh(o)
        gates = torch.jit.trace(gates, (torch.ones(2, 3), torch.ones(3, 8)))
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.w = nn.Parameter(torch.ones(D, 2 * H))
            def forward(self, x):
                return torch.stack([gates(x_t, self.w) for x_t in x.unbind(1)], 1)
        """
    ),
    "parameters handed to a functional call": makes(
        """
self.cell = nn.RNNCell(D, H)
self.scale = nn.Parameter(torch.ones(()))
""",
        """
weights = {name: p * self.scale for name, p in self.cell.named_parameters()}
h = x.new_zeros(x.shape[0], self.cell.hidden_size)
for x_t in x.unbind(1):
    h = torch.func.functional_call(self.cell, weights, (x_t, h))
return h
""",
    ),
    "many cells at once by vmap": makes(
        "self.w = nn.Parameter(torch.randn(3, D, H))",
        "return torch.vmap(lambda w: torch.tanh(x @ w))(self.w).sum(0)",
    ),
    "a derivative inside": makes(
        "self.fc = nn.Linear(D, H)",
        """
with torch.enable_grad():
    v = x.detach().clone().requires_grad_()
    slope, = torch.autograd.grad(self.fc(v).tanh().sum(), v, create_graph=True)
return x + slope
""",
    ),
    "einsum with an ellipsis and a batch of weights": makes(
        "self.w = nn.Parameter(torch.randn(4, D, H))",
        """
gates = torch.einsum('...d,gdh->g...h', x, self.w)
i, f, g, o = torch.unbind(gates)
return torch.sigmoid(o) * torch.tanh(torch.sigmoid(i) * torch.tanh(g) + f)
""",
    ),
    "segments checkpointed": makes(
        "self.steps = nn.Sequential(nn.Linear(D, H), nn.Tanh(), nn.Linear(H, D), nn.Tanh())",
        "return torch.utils.checkpoint.checkpoint_sequential(self.steps, 2, x, use_reentrant=False)",
        before="import torch.utils.checkpoint",
    ),
    "lists and dicts of parameters": makes(
        """
self.w = nn.ParameterList([nn.Parameter(torch.randn(D, H)) for _ in range(4)])
self.b = nn.ParameterDict({k: nn.Parameter(torch.zeros(H)) for k in 'ifgo'})
""",
        """
i, f, g, o = (x @ w + self.b[k] for w, k in zip(self.w, 'ifgo'))
return torch.sigmoid(o) * torch.tanh(torch.sigmoid(i) * torch.tanh(g)) + 0 * f
""",
    ),
    "modules by name": makes(
        "self.gates = nn.ModuleDict({k: nn.LazyLinear(H) for k in ('reset', 'new')})",
        "return self.gates['new'](x) * torch.sigmoid(self.gates['reset'](x))",
    ),
    "an empty buffer that knows where it is": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
                self.register_buffer("anchor", torch.empty(0), persistent=False)
            @property
            def device(self):
                return self.anchor.device
            def forward(self, x):
                offset = torch.zeros(x.size(0), 1, 1, device=self.device, dtype=self.anchor.dtype)
                return self.fc(x) + offset
        """
    ),
    "a buffer that is set anew": makes(
        """
self.register_buffer('h', None)
self.cell = nn.GRUCell(D, H)
""",
        """
self.h = x.new_zeros(len(x), self.cell.hidden_size)
for t in range(x.size(1)):
    self.h = self.cell(x[:, t], self.h)
h, self.h = self.h, self.h.detach()
return h
""",
    ),
    "a constant made in the constructor": makes(
        """
position = torch.arange(64.0).unsqueeze(1)
rates = torch.exp(torch.arange(0, D) * (-3.0 / D))
self.register_buffer('table', torch.sin(position * rates))
""",
        "return x + self.table[: x.size(1)]",
    ),
    "a causal mask as a buffer": makes(
        "self.register_buffer('mask', torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)",
        """
scores = x @ x.transpose(1, 2)
weights = scores.masked_fill(self.mask[: x.size(1), : x.size(1)], -torch.inf).softmax(-1)
return weights @ x
""",
    ),
    "tied weights": Case(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding, self.out = nn.Embedding(V, H, padding_idx=0), nn.Linear(H, V, bias=False)
                self.out.weight = self.embedding.weight
            def forward(self, ids):
                assert self.out.weight is self.embedding.weight
                return self.out(self.embedding(ids))
        """,
        inputs="ids",
        made_with=(V, H),
    ),
    "a parametrization of its own": Case(
        """
        from torch.nn.utils import parametrize
        class Symmetric(nn.Module):
            def forward(self, w):
                return w.triu() + w.triu(1).mT
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.RNNCell(D, H)
                parametrize.register_parametrization(self.cell, "weight_hh", Symmetric())
            def forward(self, x):
                h = None
                for x_t in x.unbind(1):
                    h = self.cell(x_t, h)
                return h
        """
    ),
    "weight norm": makes(
        "self.fc = nn.utils.parametrizations.weight_norm(nn.Linear(D, H))", "return self.fc(x)"
    ),
    "copies of one layer": makes(
        """
first = nn.Linear(D, D)
self.layers = nn.ModuleList(copy.deepcopy(first) for _ in range(2))
""",
        """
for layer in self.layers:
    x = torch.tanh(layer(x))
return x
""",
        before="import copy",
    ),
    "a layer that was pickled": makes(
        "self.fc = pickle.loads(pickle.dumps(nn.Linear(D, H)))", "return self.fc(x)", before="import pickle"
    ),
    "a layer that was saved and loaded": makes(
        """
self.fc, memory = nn.Linear(D, H), io.BytesIO()
torch.save(self.fc.state_dict(), memory)
memory.seek(0)
self.fc.load_state_dict(torch.load(memory))
""",
        "return self.fc(x)",
        before="import io",
    ),
    "a state copied with the copy module": makes(
        "self.rnn = nn.LSTM(D, H, batch_first=True)",
        """
with torch.no_grad():
    output, state = self.rnn(x)
    h, c = copy.deepcopy(state)
return output, h, c
""",
        before="import copy",
    ),
    "made without memory first": makes(
        """
with torch.device('meta'):
    self.fc = nn.Linear(D, H)
self.fc.to_empty(device='cpu')
self.fc.reset_parameters()
""",
        "return self.fc(x)",
    ),
    "parameters told apart from tensors": makes(
        "self.fc = nn.Linear(D, H)",
        """
for name, p in self.named_parameters():
    assert isinstance(p, nn.Parameter) and p.is_leaf and p.requires_grad, name
    assert p.device == x.device and p.dtype == x.dtype
return self.fc(x)
""",
    ),
    "orthogonal weights and a bias of one": makes(
        """
self.w, self.b = nn.Parameter(torch.Tensor(D, 2 * H)), nn.Parameter(torch.FloatTensor(2 * H).zero_())
nn.init.orthogonal_(self.w)
with torch.no_grad():
    self.b[H:].fill_(1)
""",
        "return x @ self.w + self.b",
    ),
    "weights laid out for cuDNN": makes(
        "self.lstm = nn.LSTM(D, H, 2, batch_first=True)",
        """
self.lstm.flatten_parameters()
return self.lstm(x)[0]
""",
    ),
    "a hook before and one after": makes(
        """
self.fc = nn.Linear(D, H)
self.fc.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
self.fc.register_forward_hook(lambda m, args, out: out + torch.ones_like(out))
""",
        "return self.fc(x)",
    ),
    "gradients clipped on their way": makes(
        "self.fc = nn.Linear(D, H)",
        """
h = self.fc(x)
if h.requires_grad:
    h.register_hook(lambda grad: grad.clamp(-1, 1))
return h
""",
    ),
    "the device by its name": Case(lstm("torch.zeros(2, B, self.H, device=str(x.device), dtype=x.dtype)")),
    "the device by kind and number": Case(
        lstm(
            "torch.zeros(2, B, self.H, device=torch.device(x.device.type, x.device.index or 0) "
            "if x.device.index is not None else x.device.type, dtype=x.dtype)"
        )
    ),
    "a layer of its own in a device's context": makes(
        "self.H = H",
        """
with torch.device(x.device):
    eye = torch.eye(x.shape[-1], self.H, dtype=x.dtype)
    table = torch.tensor([[1.0] * self.H], dtype=x.dtype)
    noise = torch.randn(self.H, dtype=x.dtype) * 0
return x @ eye * table + noise
""",
    ),
    "moved with all options": Case(
        lstm("torch.zeros(2, B, self.H).to(device=x.device, dtype=x.dtype, non_blocking=True, copy=True)")
    ),
    "autocast by decorator, off": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            @torch.autocast("cuda", enabled=False)
            def forward(self, x):
                return self.fc(x)
        """
    ),
    "a function of its own with a setup of its context": Case(
        """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x * x
            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, grad):
                x, = ctx.saved_tensors
                return 2 * x * grad.to(x.device)
        def f(x):
            return Square.apply(x)
        """,
        made_with=None,
    ),
    "results written into given memory": makes(
        "self.w = nn.Parameter(torch.ones(D, H))",
        """
with torch.no_grad():
    out = torch.empty(x.size(1), x.size(0), self.w.size(1), device=x.device, dtype=x.dtype)
    for t, x_t in enumerate(x.transpose(0, 1)):
        torch.mm(x_t, self.w, out=out[t])
        torch.tanh(out[t], out=out[t])
return out
""",
    ),
    "sorted by length on the CPU and back": makes(
        "self.rnn = nn.GRU(D, H, batch_first=True)",
        """
rnn = nn.utils.rnn
on_cpu, order = lengths.cpu().sort(descending=True)
packed = rnn.pack_padded_sequence(x[order], on_cpu, batch_first=True)
output, h = self.rnn(packed)
output, _ = rnn.pad_packed_sequence(output, batch_first=True)
back = order.argsort()
return output[back], h[:, back]
""",
        "x, lengths",
    ),
    "packed data worked on directly": makes(
        "self.fc = nn.Linear(D, H)",
        """
rnn = nn.utils.rnn
packed = rnn.pack_padded_sequence(x, lengths.to('cpu'), batch_first=True, enforce_sorted=False)
start, rows = 0, []
for n in packed.batch_sizes:
    rows.append(torch.tanh(self.fc(packed.data[start : start + n])))
    start += int(n)
order = packed.sorted_indices, packed.unsorted_indices
packed = rnn.PackedSequence(torch.cat(rows), packed.batch_sizes, *order)
return rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0)[0]
""",
        "x, lengths",
    ),
    "sequences packed from a list": makes(
        "self.rnn = nn.LSTM(D, H)",
        """
rows = [x[k, : lengths[k]] for k in range(len(x))]
packed = nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
output, (h, c) = self.rnn(packed)
return nn.utils.rnn.unpack_sequence(output)[0], h, c
""",
        "x, lengths",
    ),
    "a cache by device, dtype and length": Case(
        """
        import functools
        @functools.lru_cache(maxsize=8)
        def steps(length, device, dtype):
            return torch.arange(length, device=device).to(dtype)
        def f(x):
            return x + steps(x.shape[1], x.device, x.dtype)[:, None]
        """,
        made_with=None,
    ),
    "a state kept in a class of its own": Case(
        """
        from dataclasses import dataclass, replace
        @dataclass(frozen=True)
        class State:
            h: torch.Tensor
            c: torch.Tensor
            @classmethod
            def zeros(cls, like, H):
                return cls(*like.new_zeros(2, like.size(0), H))
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.LSTMCell(D, H)
            def forward(self, x):
                state = State.zeros(x, self.cell.hidden_size)
                for x_t in x.split(1, dim=1):
                    h, c = self.cell(x_t.squeeze(1), (state.h, state.c))
                    state = replace(state, h=h, c=c)
                return state.h, state.c
        """
    ),
    "the state kept for the next call": makes(
        "self.rnn, self.state = nn.GRU(D, H, batch_first=True), None",
        """
if self.state is not None and self.state.shape[1] != len(x):
    self.state = None
output, self.state = self.rnn(x, self.state)
self.state = self.state.detach()
return output
""",
    ),
    "attention by torch's function": makes(
        "self.qkv = nn.Linear(D, 3 * H)",
        """
q, k, v = self.qkv(x).view(*x.shape[:2], 2, -1).transpose(1, 2).chunk(3, -1)
mask = (torch.arange(x.size(1), device=x.device) < lengths[:, None])[:, None, None]
return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
""",
        "x, lengths",
    ),
    "convolution over time by unfold": makes(
        "self.w = nn.Parameter(torch.randn(H, D, 2))",
        "return torch.einsum('btdk,hdk->bth', F.pad(x, (0, 0, 1, 0)).unfold(1, 2, 1), self.w)",
    ),
    "gates sliced and changed in place": makes(
        """
self.w = nn.Parameter(torch.randn(D, 3 * H))
self.H = H
""",
        """
gates = x @ self.w
H = self.H
z = torch.cat([gates[..., : 2 * H].sigmoid(), gates[..., 2 * H :].tanh()], -1)
c = torch.zeros_like(z[:, 0, :H])
for z_t in z.unbind(1):
    c = torch.addcmul(c.mul(z_t[:, :H]), z_t[:, H : 2 * H], z_t[:, 2 * H :])
out = c.clone()
out[:, ::2] *= -1
out.unsqueeze_(1).squeeze_(1)
return torch.lerp(c, out, 0.5)
""",
    ),
    "a pass over trees": makes(
        "self.rnn = nn.LSTM(D, H, batch_first=True)",
        """
from torch.utils._pytree import tree_map
output, state = self.rnn(x)
return output, *tree_map(lambda s: s.transpose(0, 1).contiguous(), state)
""",
    ),
    "a scheduled sampling by Python's dice": Case(
        """
        import random
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding, self.cell, self.fc = nn.Embedding(V, H), nn.LSTMCell(H, H), nn.Linear(H, V)
            def forward(self, ids):
                state, token, logits = None, torch.full_like(ids[:, 0], 1), []
                for t in range(ids.size(1)):
                    state = self.cell(self.embedding(token), state)
                    logits.append(self.fc(state[0]))
                    token = ids[:, t] if random.random() < 2 else logits[-1].argmax(-1)
                return torch.stack(logits, 1)
        """,
        inputs="ids",
        made_with=(V, H),
    ),
}
