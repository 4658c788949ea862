"""Functions that are right on any device and in any dtype."""

from tests.devices.writing import calls

FUNCTIONS = {
    "mask from lengths": calls(
        """
mask = torch.arange(x.shape[1], device=x.device)[None, :] < lengths[:, None].to(x.device)
return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
""",
        "x, lengths",
    ),
    "mask made on the CPU and moved": calls(
        """
steps = torch.arange(x.size(1)).unsqueeze(0).expand(x.size(0), -1)
mask = (steps < lengths.cpu().unsqueeze(1)).to(x.device)
return x.masked_fill(~mask[..., None], 0.0).sum(1) / lengths.to(x)[:, None]
""",
        "x, lengths",
    ),
    "last step by gather": calls(
        """
at = (lengths.to(e.device) - 1).view(-1, 1, 1).expand(-1, 1, e.shape[2])
return e.gather(1, at).squeeze(1)
""",
        "e, lengths",
    ),
    "last step by indices on the CPU": calls("return e[torch.arange(e.shape[0]), lengths - 1]", "e, lengths"),
    "loop up to the longest": calls(
        """
total = torch.zeros_like(x[:, 0])
for t in range(int(lengths.max())):
    total = total + x[:, t] * (t < lengths).to(x.dtype)[:, None]
return total
""",
        "x, lengths",
    ),
    "slices by length": calls(
        "return torch.stack([row[: int(n)].mean(0) for row, n in zip(x, lengths)])", "x, lengths"
    ),
    "lengths by numpy": calls(
        "return torch.stack([x[k, n - 1] for k, n in enumerate(lengths.cpu().numpy())])", "x, lengths"
    ),
    "lengths that an `if` looks at": calls(
        """
if (lengths <= 0).any() or lengths.max() > x.size(1): raise ValueError
return x[:, : lengths.max()]
""",
        "x, lengths",
    ),
    "attention": calls(
        """
scores = torch.einsum("bh,bth->bt", q, e) / e.shape[-1] ** 0.5
padding = torch.arange(e.shape[1], device=e.device) >= lengths[:, None]
weights = scores.masked_fill(padding, float("-inf")).softmax(dim=-1)
return torch.einsum("bt,bth->bh", weights, e), weights
""",
        "q, e, lengths",
    ),
    "scores with minus infinity returned": calls(
        "return e.masked_fill(~mask[..., None], -torch.inf)", "e, mask"
    ),
    "sequences padded by hand": calls(
        """
rows = [row[:n] for row, n in zip(x, lengths.tolist())]
out = x.new_zeros(len(rows), max(map(len, rows)), x.shape[2])
for k, row in enumerate(rows):
    out[k, : len(row)] = row
return out + nn.utils.rnn.pad_sequence(rows, batch_first=True)
""",
        "x, lengths",
    ),
    "only real steps in the loss": calls(
        """
mask = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
return F.mse_loss(x[mask], y[mask]), torch.masked_select(x, mask[..., None]).mean()
""",
        "x, y, lengths",
        names=("loss", "mean"),
    ),
    "a given mask as an index": calls(
        """
out = torch.zeros_like(x)
out[mask] = x[mask] * 2
out[~mask] = 0.0
return out, mask.nonzero()[:, 0].float().to(x.dtype)
""",
        "x, mask",
        names=("output", "rows"),
    ),
    "mask assignment by numbers": calls("""
y = x.clone()
y[y < 0] = 0
y[y > 1] = 1.0
return y
"""),
    "numbers without dimensions": calls("""
scale = torch.tensor(0.5)
return torch.where(x > torch.tensor(0.0), x * scale, x - torch.tensor(1.0, dtype=x.dtype))
"""),
    "a loss that starts as a number": calls(
        """
loss = torch.tensor(0.0, dtype=x.dtype)
for t in range(x.shape[1]):
    loss = loss + F.mse_loss(x[:, t], y[:, t])
return loss / x.shape[1]
""",
        "x, y",
    ),
    "numbers of float64 without dimensions": calls("""
eps = torch.tensor(1e-5, dtype=torch.float64)
return x * eps + torch.tensor(2) - torch.pi + torch.clamp(x, torch.tensor(-1.0), torch.tensor(1.0))
"""),
    "sinusoids computed there": calls("""
t = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)[:, None]
rates = torch.exp(torch.arange(x.shape[2], device=x.device, dtype=x.dtype) / -x.shape[2])
return x + torch.sin(t * rates)
"""),
    "asks whether it is a GPU": calls("""
h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
if x.is_cuda:
    h = h.cuda(x.get_device())
return h + x.mean(1)
"""),
    "float32 inside and back": calls("""
wide = x if x.dtype == torch.float64 else x.float()
return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
"""),
    "locked dropout": calls("""
keep = torch.bernoulli(torch.full_like(x[:, :1], 0.7))
noise = torch.rand(x.shape, device=x.device, dtype=x.dtype)
return x * keep / 0.7 + 0 * noise
"""),
    "rows reset by a mask": calls(
        """
s = s.clone()
s[:, finished] = 0
return s
""",
        "s, finished",
    ),
    "its own backward": calls(
        "return Double.apply(x)",
        before="""
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * grad + torch.zeros_like(ctx.saved_tensors[0])
""",
    ),
    "a dict of results": calls('return {"output": x.cumsum(1), "h_n": x.flip(1)[:, 0]}'),
    "scatter": calls(
        """
out = torch.zeros(e.shape[0], 7, e.shape[2], device=e.device, dtype=e.dtype)
return out.scatter_add(1, ids.unsqueeze(-1).expand_as(e), e)
""",
        "e, ids",
    ),
    "lists as indices": calls("""
y = x[:, list(range(x.shape[1]))] + x[[0, 1], :][:, range(x.shape[1])]
y[[0], 1] = 0.0
return y + x[[True, False]].sum(0)
"""),
    "a slice up to a tensor": calls("""
t = torch.tensor(2)
return x[:, :t] + x[:, t : t + 2] + x[0, t]
"""),
    "an index without dimensions": calls(
        """
one = torch.tensor(1, device=x.device)
return x[:, torch.tensor(1)] + x[:, one] + torch.arange(3, device=x.device)[1]
"""
    ),
    "a loop over arange": calls("""
h = x.new_zeros(2, 3)
for t in torch.arange(x.size(1)):
    h = h + x[:, t] * (t % 2 == 0)
return h
"""),
    "a state that is None at first": calls("""
h = None
for t in range(x.size(1)):
    h = x[:, t] if h is None else torch.tanh(h + x[:, t])
return h
"""),
    "a function over the batch by vmap": calls("return torch.vmap(lambda row: row.cumsum(0) * 2)(x)"),
    "a comparison that is asserted": calls(
        """
y = x * 2
assert torch.allclose(y, x + x)
assert torch.equal(y, x + x), "twice"
return y
"""
    ),
    "a generator on the CPU and the draw moved": calls("""
generator = torch.Generator().manual_seed(5)
keep = torch.rand(x.shape[0], 1, x.shape[2], generator=generator) < 2
return x * keep.to(x)
"""),
    "a default device for a while": calls("""
before = torch.get_default_device()
torch.set_default_device(x.device)
try:
    h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    steps = torch.arange(x.shape[1])
finally:
    torch.set_default_device(before)
return h + (x * (steps >= 0)[None, :, None]).sum(1)
"""),
    "a default dtype for a while": calls("""
before = torch.get_default_dtype()
torch.set_default_dtype(x.dtype)
h = torch.zeros(x.shape[0], x.shape[2], device=x.device)
torch.set_default_dtype(before)
return h + x.sum(1)
"""),
    "new_tensor and tensor": calls("""
scale = x.new_tensor([1.0, 2.0, 3.0])
shift = torch.tensor([0.5, 0.25, 0.125], device=x.device, dtype=x.dtype)
return x * scale + shift + torch.as_tensor([1.0, 1, 1], dtype=x.dtype, device=x.device)
"""),
    "as it was written in 2017": calls("""
from torch.autograd import Variable
h = Variable(x.data.new(x.size(0), x.size(2)).zero_())
return h + x.sum(1)
"""),
    "numpy scalars in arithmetic": calls(
        "return x / np.sqrt(x.shape[-1]) + np.float64(0.5) * x", before="import numpy as np"
    ),
    "numbers from numpy, moved": calls(
        """
decay = torch.from_numpy(np.linspace(0, 1, x.shape[1])).to(x)
return x * decay[:, None]
""",
        before="import numpy as np",
    ),
    "double constants rounded to float": calls("""
w = torch.arange(5, dtype=torch.float64, device=x.device).mul(-0.1).exp().float().to(x.dtype)
return x * w[:, None]
"""),
    "statistics for a log in float32": calls(
        """
LOG.append(x.detach().float().mean())
return x * 2
""",
        before="LOG = []",
    ),
    "a mask alone": calls(
        "return (torch.arange(5, device=lengths.device)[None] < lengths[:, None]).float()", "lengths"
    ),
    "an additive mask alone": calls(
        "return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, float('-inf'))", "mask"
    ),
    "one-hot rows alone": calls("return F.one_hot(ids, 7).float()", "ids"),
    "values looked at by type and shape": calls("""
assert isinstance(x, torch.Tensor) and torch.is_tensor(x) and x.is_floating_point()
assert x.is_cuda or x.is_cpu
assert x.numel() == x.nelement() and x.element_size() in (2, 4, 8) and x.layout is torch.strided
assert len(x) == x.shape[0] and x.ndim == 3 and x.stride(-1) == 1 and x.is_contiguous()
with torch.cuda.device_of(x):
    assert torch.result_type(x, 1) == x.dtype
    return x.contiguous().view(torch.Size([len(x), -1])).reshape(x.shape) * 2
"""),
    "a tensor that is asked for its address": calls("""
y = x.view(-1)
assert y.data_ptr() == x.data_ptr()
return y.view_as(x) * 2
"""),
    "a type by its name": calls("""
assert x.type().startswith('torch.')
return torch.zeros(x.shape).type(x.type()) + x
"""),
    "changes in place": calls("""
y = x.clone()
y += 1; y -= x.mean(); y /= 2; y **= 2; y.clamp_(max=1).abs_().neg_()
y[:, 0].zero_(); y[..., -1] = x[..., 0]; y[0, 0, 0] = 5.0
return y
"""),
    "several losses": calls(
        """
entropy = F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))
near = F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction='sum'), F.cosine_similarity(x, y, -1)
return F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.l1_loss(x, y), *near, entropy
""",
        "x, y",
        names=tuple("abcdef"),
    ),
    "formatted and printed": calls("""
s = f'{x.shape} {x.device} {x.dtype} {x.sum():.2f}'; repr(x); str(x)
return x * 2
"""),
    "a deep copy": calls("return copy.deepcopy(x.detach()) * 2 + x", before="import copy"),
    "a derivative forwards": calls("return torch.func.jvp(torch.tanh, (x,), (torch.ones_like(x),))[1]"),
    "synchronize for timing": calls(
        """
if x.is_cuda:
    torch.cuda.synchronize(x.device)
start = time.perf_counter()
y = x.cumsum(1)
if x.is_cuda:
    torch.cuda.synchronize()
f.seconds = time.perf_counter() - start
return y
""",
        before="import time",
    ),
    "seeds everywhere": calls("""
torch.manual_seed(0)
if torch.cuda.is_available():
    torch.cuda.manual_seed_all(0)
    torch.cuda.empty_cache()
return x + torch.zeros_like(x)
"""),
    "a cache by device, dtype and length": calls(
        "return x + steps(x.shape[1], x.device, x.dtype)[:, None]",
        before="""
import functools
@functools.lru_cache(maxsize=8)
def steps(length, device, dtype):
    return torch.arange(length, device=device).to(dtype)
""",
    ),
}
