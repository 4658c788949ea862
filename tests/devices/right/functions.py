"""Functions that are right on any device and in any dtype, written as few people write them."""

from tests.devices.writing import calls

FUNCTIONS = {
    "a comparison that is asserted": calls(
        """
y = x * 2
assert torch.allclose(y, x + x)
assert torch.equal(y, x + x), "twice"
return y
"""
    ),
    "a sample from a distribution": calls(
        """
choice = torch.distributions.Categorical(logits=torch.cat([e, e], -1))
return choice.log_prob(ids)
""",
        "e, ids",
    ),
    "a generator of the device": calls("""
generator = torch.Generator(device=x.device).manual_seed(5)
keep = torch.rand(x.shape, generator=generator, device=x.device, dtype=x.dtype) < 2
return x * keep
"""),
    "a generator by the device's name": calls("""
generator = torch.Generator(str(x.device))
generator.manual_seed(1)
noise = torch.empty_like(x).normal_(generator=generator)
return x + 0 * noise
"""),
    "a generator on the CPU and the draw moved": calls("""
generator = torch.Generator().manual_seed(5)
keep = torch.rand(x.shape[0], 1, x.shape[2], generator=generator) < 2
return x * keep.to(x)
"""),
    "the state of the generators kept": calls("""
with torch.random.fork_rng():
    torch.manual_seed(3)
    keep = torch.rand_like(x) < 2
return x * keep
"""),
    "vmap with its own random numbers": calls(
        'return torch.vmap(lambda row: row * (torch.rand_like(row) < 2), randomness="different")(x)'
    ),
    "a derivative by torch.func": calls("return torch.func.grad(lambda v: v.tanh().sum())(x)"),
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
    "full without dimensions, expanded": calls("""
zero = torch.full((), 0.0, device=x.device, dtype=x.dtype)
return torch.maximum(x, zero.expand_as(x)) + torch.full((), 1.0)
"""),
    "where with numbers of Python": calls(
        "return torch.where(x > 0, x, 0.0) + torch.where(x < 0, -1.0, 0.0).to(x.dtype)"
    ),
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
    "the smallest number as a mask": calls(
        """
padding = torch.arange(e.size(1), device=e.device).expand(e.size(0), -1) >= lengths.unsqueeze(1)
scores = (e * q.unsqueeze(1)).sum(-1).masked_fill(padding, torch.finfo(e.dtype).min)
return scores.softmax(-1).unsqueeze(1).bmm(e).squeeze(1)
""",
        "q, e, lengths",
    ),
    "scaled by a number of numpy": calls(
        "return np.sqrt(x.shape[-1]) * x / np.float64(3) + math.pi",
        before="""
import math
import numpy as np
""",
    ),
    "numbers from numpy, moved": calls(
        """
decay = torch.from_numpy(np.linspace(0, 1, x.shape[1])).to(x)
return x * decay[:, None]
""",
        before="import numpy as np",
    ),
    "rows put and added by index": calls(
        """
out = torch.zeros(len(e), 7, e.shape[2], device=e.device, dtype=e.dtype)
row = torch.arange(len(e), device=e.device).unsqueeze(1).expand_as(ids)
out = out.index_put((row, ids), e, accumulate=True)
flat = e.new_zeros(7, e.shape[2]).index_add_(0, ids.flatten(), e.flatten(0, 1))
return out + flat.index_select(0, torch.arange(7, device=e.device))
""",
        "e, ids",
    ),
    "scattered and reduced": calls(
        """
at = ids.unsqueeze(-1).expand_as(e)
out = torch.zeros(len(e), 7, e.shape[2], dtype=e.dtype, device=e.device)
return out.scatter_reduce(1, at, e, 'amax', include_self=False) + out.scatter(1, at, 1.0)
""",
        "e, ids",
    ),
    "buckets": calls(
        """
edges = torch.linspace(-1, 1, 6, device=x.device, dtype=x.dtype)
return torch.bucketize(x.detach(), edges), torch.searchsorted(edges, x.detach().contiguous())
""",
        names=("at", "found"),
    ),
    "each sequence flipped within its length": calls(
        """
t = torch.arange(x.size(1), device=x.device)
at = torch.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)
return torch.take_along_dim(x, at[..., None], dim=1)
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
    "padding found in the ids": calls(
        """
real = (ids != 0).nonzero(as_tuple=True)
return e[real].mean(0), ids.unique(), torch.bincount(ids.flatten(), minlength=7)
""",
        "e, ids",
        names=("mean", "kinds", "counts"),
    ),
    "repeated by lengths": calls(
        "return q.repeat_interleave(lengths, dim=0), q.repeat_interleave(3, 0)",
        "q, lengths",
        names=("rows", "more"),
    ),
    "a cross-entropy that ignores padding": calls(
        """
scores = torch.cat([e, e], -1).flatten(0, 1)
return F.cross_entropy(scores, ids.flatten(), ignore_index=0), F.log_softmax(scores, -1)
""",
        "e, ids",
        names=("loss", "logs"),
    ),
    "the best few": calls(
        """
values, at = e.topk(2, dim=-1)
ranked, order = torch.sort(e, dim=-1, stable=True)
return values, ranked, e.gather(-1, at) * 0, e.max(-1).values, e.median(dim=1)[0]
""",
        "e",
    ),
    "values looked at by type and shape": calls("""
assert isinstance(x, torch.Tensor) and torch.is_tensor(x) and x.is_floating_point()
assert x.is_cuda or x.is_cpu
assert x.numel() == x.nelement() and x.element_size() in (2, 4, 8) and x.layout is torch.strided
assert len(x) == x.shape[0] and x.ndim == 3 and x.stride(-1) == 1 and x.is_contiguous()
with torch.cuda.device_of(x):
    assert torch.result_type(x, 1) == x.dtype
    return x.contiguous().view(torch.Size([len(x), -1])).reshape(x.shape) * 2
"""),
    "grids": calls("""
t = torch.arange(x.size(1), device=x.device)
rows, columns = torch.meshgrid(t, t, indexing='ij')
weights = (rows >= columns).to(x) / (rows + 1).to(x.dtype)
return weights @ x
"""),
    "a tensor that is asked for its address": calls("""
y = x.view(-1)
assert y.data_ptr() == x.data_ptr()
return y.view_as(x) * 2
"""),
    "nothing for a number": calls(
        "return torch.nan_to_num(x / x.new_ones(()), nan=0.0).clamp_min(torch.tensor(0.0))"
    ),
    "match": calls("""
match x:
    case torch.Tensor(): return x * 2
    case _: raise TypeError
"""),
    "record function": calls("""
with torch.profiler.record_function('step'):
    return x * 2
"""),
    "anomaly": calls("""
with torch.autograd.detect_anomaly(check_nan=False):
    return x * 2
"""),
    "mask any all": calls("return x.masked_fill(~mask.any(1)[:, None, None], 0.0)", "x, mask"),
    "max_len from mask": calls(
        """
n = int(mask.sum(1).max())
return x[:, :n]
""",
        "x, mask",
    ),
    "assert shapes on mask": calls("""
torch._assert(x.size(0) > 0, 'empty')
torch._assert_async((x == x).all())
return x * 2
"""),
    "pixel": calls("return F.interpolate(x.transpose(1, 2), scale_factor=2, mode='linear').transpose(1, 2)"),
    "cumsum scan": calls("""
a = torch.sigmoid(x)
return torch.exp(torch.cumsum(torch.log(a), 1)) + torch.cumprod(a, 1) + torch.logcumsumexp(a, 1)
"""),
    "roll and rot": calls(
        "return x.roll(1, 1).flip(1).rot90(2, (1, 2)).movedim(1, 0).movedim(0, 1) + x.tile(1, 1, 1)"
    ),
    "chunk assign": calls("""
a, b = x.tensor_split(2, dim=1)
return torch.hstack([b, a]) + torch.vstack(list(x)).view_as(x) + torch.column_stack([x, x])[:, : x.size(1)]
"""),
    "inplace ops": calls("""
y = x.clone()
y += 1; y -= x.mean(); y /= 2; y **= 2; y.clamp_(max=1).abs_().neg_()
y[:, 0].zero_(); y[..., -1] = x[..., 0]; y[0, 0, 0] = 5.0
return y
"""),
    "triple where": calls("return torch.where(finished.view(1, -1, 1), s.new_tensor(0.0), s)", "s, finished"),
    "masked scatter": calls("return x.masked_scatter(mask[..., None].expand_as(x), y)", "x, y, mask"),
    "tensor list ints": calls("""
lengths = torch.tensor([len(x[0]), 3], device=x.device)
steps = torch.arange(x.shape[1], device=x.device)
return x * (steps < lengths.unsqueeze(-1)).unsqueeze(-1)
"""),
    "cpu order index": calls(
        """
order = sorted(range(len(x)), key=lambda k: -int(lengths[k]))
return x[order][torch.tensor(order).argsort()]
""",
        "x, lengths",
    ),
    "lengths list zip": calls(
        "return torch.stack([x[k, n - 1] for k, n in enumerate(lengths.tolist())])", "x, lengths"
    ),
    "lengths numpy": calls(
        "return torch.stack([x[k, n - 1] for k, n in enumerate(lengths.cpu().numpy())])", "x, lengths"
    ),
    "if lengths": calls(
        """
if (lengths <= 0).any() or lengths.max() > x.size(1): raise ValueError
return x[:, : lengths.max()]
""",
        "x, lengths",
    ),
    "h None": calls("""
h = None
for t in range(x.size(1)):
    h = x[:, t] if h is None else torch.tanh(h + x[:, t])
return h
"""),
    "device property comp": calls("""
assert x.device != torch.device('cpu') or not x.is_cuda
assert (x.device.type, x.device.index) in (('cpu', None), ('cuda', 7))
return x.to(x.device)
"""),
    "cpu scalar tensor mult": calls("""
eps = torch.tensor(1e-5, dtype=torch.float64)
return x * eps + torch.tensor(2) - torch.pi + torch.clamp(x, torch.tensor(-1.0), torch.tensor(1.0))
"""),
    "new variants": calls(
        """
strided = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).fill_(1)
return x + x.new_ones(x.shape) + x.new_full(x.shape, 2.0) + x.new_empty(x.shape).zero_() + strided
"""
    ),
    "scalar_tensor": calls(
        """
like = dict(device=x.device, dtype=x.dtype)
rows = torch.tril_indices(3, 3, device=x.device)
return x + torch.scalar_tensor(1.0, **like) + torch.logspace(0, 1, 3, **like) + rows.sum()
"""
    ),
    "block diag": calls(
        """
blocks = torch.block_diag(*x.new_ones(3, 1, 1))
return x @ blocks + x @ torch.diag(x.new_ones(3)) + x @ torch.diag_embed(x[0, 0])
"""
    ),
    "vander outer": calls(
        """
both = torch.tensordot(x, x, dims=([0, 1], [0, 1]))
return torch.outer(x[0, 0], x[0, 1]) + torch.kron(x[0, 0], x[0, 1]).view(3, 3) + both
"""
    ),
    "dist normal": calls(
        """
d = torch.distributions.Normal(x, torch.ones_like(x))
return d.log_prob(y) + 0 * d.rsample()
""",
        "x, y",
    ),
    "multinomial": calls("return torch.multinomial(e.flatten(0, 1).softmax(-1), 1)", "e"),
    "gumbel": calls("return F.gumbel_softmax(e, hard=True) * 0 + e", "e"),
    "losses": calls(
        """
entropy = F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))
near = F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction='sum'), F.cosine_similarity(x, y, -1)
return F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.l1_loss(x, y), *near, entropy
""",
        "x, y",
        names=tuple("abcdef"),
    ),
    "fill diag": calls("""
w = x @ x.mT
w = w.clone(); w.diagonal(dim1=1, dim2=2).fill_(0)
return w
"""),
    "as_strided": calls("return x.contiguous().as_strided((2, 4, 2, 3), (15, 3, 3, 1)) * 2"),
    "names kw": calls("return torch.sum(input=x, dim=1) + torch.mul(input=x[:, 0], other=2)"),
    "tensor iter unpack": calls("""
a, b = x
(c, *_), d = a, b
return a + b + c
"""),
    "str format": calls("""
s = f'{x.shape} {x.device} {x.dtype} {x.sum():.2f}'; repr(x); str(x)
return x * 2
"""),
    "copy": calls("return copy.copy(x) * 2", before="import copy"),
    "deepcopy no grad": calls("return copy.deepcopy(x.detach()) * 2 + x", before="import copy"),
    "storage": calls("return x.clone().untyped_storage().nbytes() // x.element_size() * x"),
    "jvp": calls("return torch.func.jvp(torch.tanh, (x,), (torch.ones_like(x),))[1]"),
    "jacrev": calls("return torch.func.jacrev(lambda v: v.tanh().sum(0))(x[0, 0])[None] * x.mean()"),
    "share mem": calls(
        """
zero = torch.empty_like(x, memory_format=torch.preserve_format).zero_()
return x.contiguous(memory_format=torch.contiguous_format) + zero
"""
    ),
    "x.type string": calls("""
assert x.type().startswith('torch.')
return torch.zeros(x.shape).type(x.type()) + x
"""),
    "type_as": calls("return torch.zeros(x.shape).type_as(x) + x.type(x.dtype)"),
    "numpy shape": calls(
        """
n = np.prod(x.shape); rows = np.arange(len(x))
return x[rows] * float(n) + x[np.array([0, 1])]
""",
        before="import numpy as np",
    ),
    "numpy mask index": calls(
        "return x[:, np.array([True, False, True, False, True])]", before="import numpy as np"
    ),
    "slice by tensor": calls("""
t = torch.tensor(2)
return x[:, :t] + x[:, t : t + 2] + x[0, t]
"""),
    "index 0-dim": calls(
        """
one = torch.tensor(1, device=x.device)
return x[:, torch.tensor(1)] + x[:, one] + torch.arange(3, device=x.device)[1]
"""
    ),
    "steps t from arange": calls("""
h = x.new_zeros(2, 3)
for t in torch.arange(x.size(1)):
    h = h + x[:, t] * (t % 2 == 0)
return h
"""),
    "steps t from device arange": calls("""
h = x.new_zeros(2, 3)
for t in torch.arange(x.size(1), device=x.device):
    h = h + x[:, t] * t
return h
"""),
}
