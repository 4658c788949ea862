"""Modules that are right on any device and in any dtype."""

from tests.devices import Case, H, V
from tests.devices.writing import makes

MODULES = {
    "nn.LSTM": makes(
        "self.lstm = nn.LSTM(D, H, num_layers=2, batch_first=True, bidirectional=True)",
        """
output, (h, c) = self.lstm(x)
return output, h, c
""",
    ),
    "with torch.device": makes(
        "self.rnn = nn.RNN(D, H, batch_first=True)",
        """
with torch.device(x.device):
    h = torch.zeros(1, x.shape[0], self.rnn.hidden_size, dtype=x.dtype)
return self.rnn(x, h)
""",
    ),
    "packed sequence": makes(
        "self.lstm = nn.LSTM(D, H, batch_first=True)",
        """
packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
packed, (h, c) = self.lstm(packed)
output, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
return output, h, c
""",
        "x, lengths",
        before="from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence",
    ),
    "packed by a list of lengths": makes(
        "self.gru = nn.GRU(D, H, batch_first=True)",
        """
rnn = nn.utils.rnn
packed = rnn.pack_padded_sequence(x, lengths.tolist(), batch_first=True)
output, h = self.gru(packed)
return rnn.pad_packed_sequence(output, batch_first=True)[0], h
""",
        "x, lengths",
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
    "checkpointed": makes(
        "self.layer = nn.Sequential(nn.Linear(D, H), nn.Tanh(), nn.Dropout(0.2), nn.Linear(H, D))",
        "return x + checkpoint(self.layer, x, use_reentrant=False)",
        before="from torch.utils.checkpoint import checkpoint",
    ),
    "buffers and ties": makes(
        """
self.register_buffer("mask", torch.ones(D, D).tril(), persistent=False)
self.encode, self.decode = nn.Linear(D, H), nn.Linear(H, D)
self.decode.weight = nn.Parameter(self.encode.weight.detach().T.clone())
self.again = nn.Linear(D, H)
self.again.weight = self.encode.weight
self.all = [self.encode.weight, self.decode.weight]
""",
        """
x = x @ self.mask
w, u = self.all
return self.decode(torch.tanh(self.encode(x) + self.again(x))) + x @ w.T @ u.T
""",
    ),
    "layers shaped by their first input": makes(
        """
self.fc, self.out = nn.Sequential(nn.LazyLinear(H), nn.Tanh()), nn.LazyLinear(2, bias=False)
self.norm = nn.LazyBatchNorm1d()
""",
        "return self.out(self.norm(self.fc(x)[:, -1]))",
    ),
    "embedding and one-hot": makes(
        "self.embedding, self.fc = nn.Embedding(D, H), nn.Linear(D, H)",
        """
hot = F.one_hot(ids, self.fc.in_features).to(self.fc.weight.dtype)
return self.embedding(ids) + self.fc(hot)
""",
        "ids",
        made_with=(V, H),
    ),
    "positions": makes(
        """
self.place = nn.Embedding(64, D)
self.fc = nn.Linear(D, H)
""",
        "return self.fc(x + self.place(torch.arange(x.shape[1], device=x.device)))",
    ),
    "a cache kept by device": makes(
        "self.fc, self._mask = nn.Linear(D, H), None",
        """
if self._mask is None or self._mask.device != x.device or self._mask.dtype != x.dtype:
    self._mask = torch.ones(x.shape[1], 1, device=x.device, dtype=x.dtype)
return self.fc(x * self._mask)
""",
    ),
    "a plain tensor moved by its own _apply": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.scale = nn.Linear(D, H), torch.full((H,), 0.5)
            def _apply(self, fn, recurse=True):
                super()._apply(fn, recurse)
                self.scale = fn(self.scale)
                return self
            def forward(self, x):
                return self.fc(x) * self.scale
        """
    ),
    "a plain tensor moved when used": makes(
        "self.fc, self.scale = nn.Linear(D, H), [0.5] * H",
        "return self.fc(x) * torch.tensor(self.scale, device=x.device, dtype=x.dtype)",
    ),
    "the input moved to the weights": makes(
        "self.fc = nn.Linear(D, H)",
        """
x = x.to(self.fc.weight.device, self.fc.weight.dtype)
return self.fc(x)
""",
    ),
    "autocast switched off inside": makes(
        "self.fc = nn.Linear(D, H)",
        """
with torch.autocast(device_type=x.device.type, enabled=False):
    return torch.tanh(F.linear(x, self.fc.weight, self.fc.bias))
""",
    ),
    "dropout and norm": makes(
        "self.fc, self.norm, self.drop = nn.Linear(D, H), nn.LayerNorm(H), nn.Dropout(0.3)",
        "return self.drop(self.norm(self.fc(x)))",
    ),
    "dropout of nn.LSTM": makes(
        "self.rnn = nn.LSTM(D, H, 2, batch_first=True, dropout=0.5)", "return self.rnn(x)[0]"
    ),
    "convolution and batch norm": makes(
        "self.conv, self.norm = nn.Conv1d(D, H, 3, padding=1), nn.BatchNorm1d(H)",
        "return self.norm(self.conv(x.transpose(1, 2))).relu().transpose(1, 2)",
    ),
    "a learned state": makes(
        "self.rnn, self.h_0 = nn.GRU(D, H, batch_first=True), nn.Parameter(torch.zeros(1, 1, H))",
        "return self.rnn(x, self.h_0.expand(-1, x.shape[0], -1).contiguous())",
    ),
    "checks its input by name": makes(
        "self.fc = nn.Linear(D, H)",
        """
assert x.device == self.fc.weight.device, f"{x.device} and {self.fc.weight.device}"
if x.device.type not in ("cpu", "cuda"):
    raise ValueError(f"no kernel for {x.device}")
return self.fc(x)
""",
    ),
    "greedy without asking": makes(
        "self.embedding, self.cell, self.fc = nn.Embedding(D, H), nn.GRUCell(H, H), nn.Linear(H, D)",
        """
h = self.embedding.weight.new_zeros(ids.shape[0], self.cell.hidden_size)
token, made = ids[:, 0], []
for _ in range(3):
    h = self.cell(self.embedding(token), h)
    token = self.fc(h).argmax(-1)
    made.append(token)
return torch.stack(made, 1)
""",
        "ids",
        made_with=(V, H),
    ),
    "inference mode, filled in place": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            @torch.inference_mode()
            def forward(self, x):
                out = x.new_zeros(x.shape[0], x.shape[1], self.fc.out_features)
                for t in range(x.shape[1]):
                    out[:, t] = self.fc(x)[:, t] + self.fc.weight[0, 0]
                return out
        """
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
    "a running mean in a buffer": makes(
        """
self.fc = nn.Linear(D, H)
self.register_buffer('ema', torch.zeros(H))
""",
        """
y = self.fc(x)
if self.training:
    self.ema.mul_(0.9).add_(y.detach().mean((0, 1)), alpha=0.1)
return y - self.ema
""",
    ),
    "weight norm": makes(
        "self.fc = nn.utils.parametrizations.weight_norm(nn.Linear(D, H))", "return self.fc(x)"
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
    "gradients clipped on their way": makes(
        "self.fc = nn.Linear(D, H)",
        """
h = self.fc(x)
if h.requires_grad:
    h.register_hook(lambda grad: grad.clamp(-1, 1))
return h
""",
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
}
