"""More modules that are right on any device and in any dtype, written as few people write them."""

from tests.devices import Case, H, V
from tests.devices.writing import makes

MODULES = {
    "autocast inside by device type": makes(
        "self.fc = nn.Linear(D, H)",
        """
with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=x.dtype == torch.float32):
    y = self.fc(x)
return y.to(x.dtype)
""",
    ),
    "autocast query": makes(
        "self.fc = nn.Linear(D, H)",
        """
if torch.is_autocast_enabled(x.device.type):
    return self.fc(x)
return self.fc(x)
""",
    ),
    "custom fwd": Case("""
        class Mul(torch.autograd.Function):
            @staticmethod
            @torch.amp.custom_fwd(device_type="cuda")
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                return x @ w
            @staticmethod
            @torch.amp.custom_bwd(device_type="cuda")
            def backward(ctx, grad):
                x, w = ctx.saved_tensors
                return grad @ w.mT, x.flatten(0, 1).mT @ grad.flatten(0, 1)
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.w = nn.Parameter(torch.ones(D, H))
            def forward(self, x):
                return Mul.apply(x, self.w.to(x.dtype))
        """),
    "compiled eager": makes(
        "self.fc = nn.Linear(D, H)",
        "return step(self.fc(x))",
        before="""
@torch.compile(backend='eager')
def step(x):
    return torch.tanh(x) * 2
""",
    ),
    "dynamo disabled": makes(
        "self.fc = nn.Linear(D, H)",
        "return step(self.fc(x))",
        before="""
@torch.compiler.disable
def step(x):
    return torch.tanh(x) * 2
""",
    ),
    "init with generator": makes(
        """
self.w = nn.Parameter(torch.empty(D, H))
nn.init.xavier_uniform_(self.w, generator=torch.Generator().manual_seed(1))
""",
        "return x @ self.w",
    ),
    "module generator": makes(
        """
self.g = torch.Generator()
self.fc = nn.Linear(D, H)
""",
        """
u = torch.rand(x.shape[:2], generator=self.g).to(x)
return self.fc(x) * (u < 2)[..., None]
""",
    ),
    "a plain tensor moved by its own to": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.shift = nn.Linear(D, H), torch.ones(H)
            def to(self, *args, **kwargs):
                super().to(*args, **kwargs)
                self.shift = self.shift.to(*args, **kwargs)
                return self
            def forward(self, x):
                return self.fc(x) + self.shift
        """
    ),
    "lazy state": makes(
        """
self.fc = nn.Linear(D, H)
self.t = None
""",
        """
if self.t is None:
    self.t = torch.ones(x.shape[-1]).to(x)
return self.fc(x * self.t)
""",
    ),
    "to device of weight": makes(
        "self.fc = nn.Linear(D, H)",
        """
x = x.to(self.fc.weight.device, self.fc.weight.dtype)
return self.fc(x)
""",
    ),
    "x.cpu lengths of mask": makes(
        "self.rnn = nn.GRU(D, H, batch_first=True)",
        """
lengths = mask.sum(1)
packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
""",
        "x, mask",
    ),
    "lengths from ids": makes(
        "self.e, self.rnn = nn.Embedding(D, H), nn.GRU(H, H, batch_first=True)",
        """
lengths = (ids >= 0).sum(1)
packed = nn.utils.rnn.pack_padded_sequence(self.e(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=ids.size(1))[0]
""",
        "ids",
        made_with=(V, H),
    ),
    "linalg": makes(
        "self.fc = nn.Linear(D, H)",
        """
norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
return self.fc(F.normalize(x, dim=-1)) / norm.clamp_min(1e-3)
""",
    ),
    "kaiming sparse": makes(
        """
self.fc = nn.Linear(D, H)
nn.init.kaiming_normal_(self.fc.weight, nonlinearity='tanh')
nn.init.uniform_(self.fc.bias, -1, 1)
""",
        "return self.fc(x)",
    ),
    "bilinear": makes("self.b = nn.Bilinear(D, D, H)", "return self.b(x, x)"),
    "embeddingbag": makes("self.b = nn.EmbeddingBag(D, H)", "return self.b(ids)", "ids", made_with=(V, H)),
    "transformer": makes(
        """
self.up = nn.Linear(D, H)
self.t = nn.Transformer(H, 2, 1, 1, 8, batch_first=True, dropout=0.0)
""",
        """
x = self.up(x)
mask = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device, dtype=x.dtype)
return self.t(x, x, tgt_mask=mask)
""",
    ),
    "groupnorm conv2d": makes(
        """
self.c = nn.Conv2d(1, H, 3, padding=1)
self.n = nn.GroupNorm(2, H)
self.p = nn.AdaptiveAvgPool2d((1, D))
""",
        "return self.p(self.n(self.c(x.unsqueeze(1)))).flatten(1)",
    ),
    "zip states": makes(
        "self.cells = nn.ModuleList(nn.LSTMCell(D if k == 0 else H, H) for k in range(3))",
        """
weights = [cell.weight_hh for cell in self.cells]
states = [(w.new_zeros(len(x), w.shape[1]), w.new_zeros(len(x), w.shape[1])) for w in weights]
out = []
for x_t in x.transpose(0, 1):
    for k, (cell, state) in enumerate(zip(self.cells, states)):
        states[k] = cell(x_t, state)
        x_t = states[k][0]
    out.append(x_t)
h, c = map(torch.stack, zip(*states))
return torch.stack(out, 1), h, c
""",
    ),
    "state dict copy": makes(
        """
self.fc = nn.Linear(D, H)
ref = nn.Linear(D, H)
self.fc.load_state_dict(ref.state_dict())
""",
        "return self.fc(x)",
    ),
    "assign load": makes(
        """
self.fc = nn.Linear(D, H)
self.fc.load_state_dict(nn.Linear(D, H).state_dict(), assign=True)
""",
        "return self.fc(x)",
    ),
    "mirror weights": makes(
        """
self.a = nn.Linear(D, H)
self.b = nn.Linear(D, H)
with torch.no_grad():
    self.b.weight.copy_(self.a.weight)
    self.b.bias.data = self.a.bias.data.clone()
""",
        "return self.a(x) + self.b(x)",
    ),
    "remove param": makes(
        """
self.fc = nn.Linear(D, H)
w = self.fc.weight
del self.fc._parameters['weight']
self.w = nn.Parameter(w.data)
""",
        "return F.linear(x, self.w, self.fc.bias)",
    ),
    "requires_grad False": makes(
        """
self.fc = nn.Linear(D, H).requires_grad_(False)
self.g = nn.Parameter(torch.ones(H))
""",
        "return self.fc(x) * self.g",
    ),
    "stop grad": makes(
        "self.fc = nn.Linear(D, H)",
        """
with torch.no_grad():
    target = self.fc(x)
return (self.fc(x) - target.detach()) ** 2
""",
    ),
    "weight_norm old": makes("self.fc = nn.utils.weight_norm(nn.Linear(D, H))", "return self.fc(x)"),
    "spectral old": makes("self.fc = nn.utils.spectral_norm(nn.Linear(D, H)).eval()", "return self.fc(x)"),
    "prune": makes(
        """
import torch.nn.utils.prune as prune
self.fc = nn.Linear(D, H)
prune.l1_unstructured(self.fc, 'weight', 0.3)
""",
        "return self.fc(x)",
    ),
    "packed to device": makes(
        "self.rnn = nn.LSTM(D, H, batch_first=True)",
        """
pack = nn.utils.rnn.pack_padded_sequence
packed = pack(x, lengths.cpu(), batch_first=True, enforce_sorted=False).to(x.device)
assert packed.is_cuda == x.is_cuda
out, _ = self.rnn(packed)
return nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0]
""",
        "x, lengths",
    ),
    "packed bidirectional 2": makes(
        "self.rnn = nn.LSTM(D, H, 2, batch_first=True, bidirectional=True)",
        """
packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
out, (h, c) = self.rnn(packed)
return nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0], h, c
""",
        "x, lengths",
    ),
    "proj lstm": makes(
        "self.rnn = nn.LSTM(D, H, proj_size=2, batch_first=True)",
        """
out, (h, c) = self.rnn(x)
return out, h, c
""",
    ),
    "dropout variants": makes(
        """
self.d = nn.Dropout1d(0.5)
self.a = nn.AlphaDropout(0.5)
""",
        "return x + 0 * self.d(x) + 0 * self.a(x)",
    ),
    "rnn dropout": makes(
        "self.rnn = nn.LSTM(D, H, 2, batch_first=True, dropout=0.5)", "return self.rnn(x)[0]"
    ),
    "contrib ema": makes(
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
    "batchnorm buffer": makes("self.n = nn.BatchNorm1d(D)", "return self.n(x.transpose(1, 2))"),
    "retain": makes(
        "self.fc = nn.Linear(D, H)",
        """
y = self.fc(x)
if y.requires_grad: y.retain_grad()
assert y.grad is None
return y * 2
""",
    ),
    "wd params norm": makes(
        "self.fc = nn.Linear(D, H)", "return self.fc(x), sum(p.pow(2).sum() for p in self.parameters())"
    ),
    "vec params": makes(
        "self.fc = nn.Linear(D, H)",
        """
v = nn.utils.parameters_to_vector(self.fc.parameters())
return self.fc(x) * v.mean()
""",
    ),
    "stack state": makes(
        "self.cells = nn.ModuleList(nn.Linear(D, H) for _ in range(2))",
        """
params, buffers = torch.func.stack_module_state(list(self.cells))
return torch.func.vmap(lambda p: torch.func.functional_call(self.cells[0], p, (x,)))(params).sum(0)
""",
    ),
    "swap": makes("self.fc = nn.Linear(D, H)", "return self.fc.forward(x) + self.fc.__call__(x)"),
}
