"""Functions that are wrong on another device only, and do not look it."""

from tests.devices.writing import calls

FUNCTIONS = {
    "a default argument": calls(
        "return x + shift.to(x.dtype)",
        "x, shift=torch.ones(3)",
        inputs="x",
        rule="device",
        line="shift.to(x.dtype)",
    ),
    "a condition on the CPU": calls(
        """
late = torch.arange(x.size(1)) > 2
return torch.where(late[None, :, None], x, torch.zeros_like(x))
""",
        rule="device",
        line="late = torch.arange",
    ),
    "a row picked on the CPU": calls(
        "return x.index_select(1, torch.arange(x.size(1) - 1, -1, -1))", rule="device", line="x.index_select"
    ),
    "scattered by indices of the CPU": calls(
        """
at = torch.tensor([[0], [1]]).unsqueeze(-1).expand(-1, 1, e.shape[2])
return e.scatter(1, at, 0.0)
""",
        "e",
        rule="device",
        line="at = torch.tensor",
    ),
    "edges of buckets on the CPU": calls(
        "return torch.bucketize(x.detach(), torch.tensor([-1.0, 0.0, 1.0]).to(x.dtype))",
        rule="device",
        line="torch.bucketize",
    ),
    "out of the CPU": calls(
        """
out = torch.empty(x.shape, dtype=x.dtype)
with torch.no_grad():
    torch.tanh(x, out=out)
return out
""",
        rule="device",
        line="out = torch.empty",
    ),
    "a generator of the CPU": calls(
        """
generator = torch.Generator().manual_seed(0)
keep = torch.rand(x.shape, generator=generator, device=x.device, dtype=x.dtype) < 2
return x * keep
""",
        rule="device",
        line="torch.rand(x.shape, generator",
    ),
    "a default device that is the CPU": calls(
        """
with torch.device("cpu"):
    h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
return h + x.sum(1)
""",
        rule="device",
        line="h = torch.zeros",
    ),
    "numpy's numbers": calls(
        "return x * torch.from_numpy(np.linspace(0, 1, x.shape[1]))[:, None].to(x.dtype)",
        before="import numpy as np",
        rule="device",
        line="torch.from_numpy",
    ),
    "a tensor type of CUDA": calls(
        """
h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
if x.device.type == "cuda":
    h = h.to("cuda")
return h + x.sum(1)
""",
        rule="device",
        line='h.to("cuda")',
    ),
    "the context of any GPU": calls(
        """
name = "cuda" if x.is_cuda else "cpu"
with torch.device(name):
    h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
return h + x.sum(1)
""",
        rule="device",
        line="with torch.device(name)",
    ),
    "like a tensor of the CPU": calls(
        "return x.to(torch.ones(1, dtype=x.dtype)).cumsum(1).to(x)", rule="device", line="torch.ones(1"
    ),
    "made again as a tensor of the CPU": calls(
        "return torch.tensor(x.detach(), device='cpu').to(x) + x", rule="device", line="device='cpu'"
    ),
    "numpy by asarray": calls(
        "return x * float(np.asarray(x.detach().double()).std())",
        before="import numpy as np",
        rule="device",
        line="np.asarray",
    ),
    "numpy by the data": calls(
        "return torch.from_numpy(np.flip(x.data.double().cpu().numpy(), 1).copy()).to(x)",
        before="import numpy as np",
        rule="device",
        line=".cpu()",
    ),
    "the larger by Python": calls(
        "return x / max(x.detach().norm(), torch.tensor(1.0))", rule="device", line="max(x.detach()"
    ),
    "a loop on data": calls(
        """
while (x.detach().abs() > 1).any():
    x = x * 0.5
return x
""",
        rule="device",
        line="while",
    ),
    "looked for in a tensor": calls("return x * 2 if 0.0 in x else x", rule="device", line="0.0 in x"),
    "close to zero": calls(
        "return x if torch.allclose(x.detach(), torch.zeros_like(x)) else x * 2",
        rule="device",
        line="torch.allclose",
    ),
    "Python's mathematics": calls(
        "return x * math.tanh(x.detach().sum())", before="import math", rule="device", line="math.tanh"
    ),
    "rounded by Python": calls(
        "return x * round(float(x.detach().mean()), 2)", rule="device", line="round(float"
    ),
    "only what is positive": calls("return x[x > 0].sum() * x", rule="device", line="x[x > 0]"),
    "where it is not zero": calls(
        "return x.index_select(1, torch.nonzero(x[0, :, 0].detach() < 9).flatten())",
        rule="device",
        line="torch.nonzero",
    ),
    "selected by data": calls(
        "return x.masked_select(x.detach() > -9).view_as(x)", rule="device", line="masked_select"
    ),
    "different values": calls("return x / len(x.detach().unique())", rule="device", line=".unique()"),
    "set where data says so": calls(
        """
out = x.clone()
out[x.detach() > 0] = x[x.detach() > 0] * 2
return out
""",
        rule="device",
        line="out[x.detach() > 0]",
    ),
    "where with one argument": calls(
        """
rows, steps, _ = torch.where(x.detach() < 9)
return x[rows, steps]
""",
        rule="device",
        line="torch.where",
    ),
    "zeros *": calls(
        """
h = torch.zeros(*x.shape[::2], dtype=x.dtype)
return h + x[:, 0]
""",
        rule="device",
        line="h = torch.zeros",
    ),
    "rand": calls("return x + 0 * torch.rand(*x.shape, dtype=x.dtype)", rule="device", line="torch.rand"),
    "empty fill": calls(
        """
y = torch.empty(x.shape, dtype=x.dtype)
y.fill_(1.0)
return x * y
""",
        rule="device",
        line="y = torch.empty",
    ),
    "stack of zeros": calls(
        """
y = torch.stack([torch.zeros(3, dtype=x.dtype)] * 2)
return x[:, 0] + y
""",
        rule="device",
        line="torch.zeros",
    ),
    "tensor list": calls(
        """
w = torch.tensor([1, 2, 3])
return x * w
""",
        rule="device",
        line="w = torch.tensor",
    ),
    "eye": calls("return x @ torch.eye(3).to(x.dtype)", rule="device", line="torch.eye"),
    "tril mask": calls(
        """
m = torch.ones(x.size(1), x.size(1)).triu(1).bool()
return (x @ x.mT).masked_fill(m, 0.0)
""",
        rule="device",
        line="m = torch.ones",
    ),
    "pad cat list": calls(
        """
rows = [torch.cat([r, torch.zeros(1, 3, dtype=x.dtype)]) for r in x]
return torch.stack(rows)
""",
        rule="device",
        line="torch.zeros(1, 3",
    ),
    "stack mixed": calls(
        """
rows = [x[:, 0], torch.zeros(2, 3, dtype=x.dtype)]
return torch.stack(rows)
""",
        rule="device",
        line="torch.zeros(2, 3",
    ),
    "einsum cpu": calls(
        "return torch.einsum('btd,dh->bth', x, torch.ones(3, 4, dtype=x.dtype))",
        rule="device",
        line="torch.ones",
    ),
    "add_ inplace cpu": calls(
        """
h = torch.zeros(2, 3, dtype=x.dtype)
for t in range(x.size(1)):
    h += x[:, t]
return h
""",
        rule="device",
        line="h = torch.zeros",
    ),
    "sum with start": calls(
        "return sum((x[:, t] for t in range(x.size(1))), torch.zeros(2, 3, dtype=x.dtype))",
        rule="device",
        line="torch.zeros",
    ),
    "matmul scalarless": calls(
        "return x @ torch.full((3, 1), 0.5).to(x.dtype)", rule="device", line="torch.full"
    ),
    "one_hot cpu": calls(
        """
hot = F.one_hot(torch.arange(5) % 3, 3).to(x.dtype)
return x * hot
""",
        rule="device",
        line="hot = F.one_hot",
    ),
    "assign cpu rhs": calls(
        """
y = x.clone()
y[mask] = torch.zeros(int(mask.sum()), 3, dtype=x.dtype)
return y
""",
        "x, mask",
        rule="device",
        line="torch.zeros",
    ),
    "gather idx cpu": calls(
        """
i = torch.zeros(2, 1, 3, dtype=torch.long)
return x.gather(1, i)
""",
        rule="device",
        line="i = torch.zeros",
    ),
    "take_along cpu": calls(
        """
i = torch.zeros(2, 1, 3, dtype=torch.long)
return torch.take_along_dim(x, i, 1)
""",
        rule="device",
        line="i = torch.zeros",
    ),
    "embedding table": calls(
        """
table = torch.ones(7, 4)
return F.embedding(ids, table).to(e.dtype) + e
""",
        "ids, e",
        rule="device",
        line="table = torch.ones",
    ),
    "index cpu table by gpu": calls(
        """
table = torch.ones(7, 4, dtype=e.dtype)
return table[ids] + e
""",
        "ids, e",
        rule="device",
        line="table = torch.ones",
    ),
    "masked_fill cpu": calls(
        """
m = torch.zeros(2, 5, 1, dtype=torch.bool)
return x.masked_fill(m, 0)
""",
        rule="device",
        line="m = torch.zeros",
    ),
    "addcmul cpu": calls(
        "return torch.addcmul(x, x, torch.ones(3, dtype=x.dtype))", rule="device", line="torch.ones"
    ),
    "to cpu str kw": calls(
        """
y = x.to(device='cpu')
return y.flip(1).to(x.device)
""",
        rule="device",
        line="device='cpu'",
    ),
    "to cpu device object": calls(
        """
cpu = torch.device('cpu')
return x.to(cpu).flip(1).to(x.device)
""",
        rule="device",
        line="x.to(cpu)",
    ),
    "as_tensor cpu": calls(
        "return torch.as_tensor(x, device='cpu').to(x.device) * 2", rule="device", line="device='cpu'"
    ),
    "numpy flip": calls(
        "return torch.from_numpy(x.detach().double().cpu().numpy()[:, ::-1].copy()).to(x)",
        before="import numpy as np",
        rule="device",
        line=".cpu()",
    ),
    "np func": calls(
        "return x * np.tanh(x.detach().double().mean().cpu()).item()",
        before="import numpy as np",
        rule="device",
        line=".cpu()",
    ),
    "np.array": calls(
        "return x + float(np.array(x.detach().double()).sum()) * 0",
        before="import numpy as np",
        rule="device",
        line="np.array",
    ),
    "to list of floats": calls(
        """
m = [float(v) for v in x.detach()[0, 0]]
return x * m[0]
""",
        rule="device",
        line="float(v)",
    ),
    "python sorted": calls(
        """
order = sorted(range(5), key=lambda t: x[0, t, 0])
return x[:, order]
""",
        rule="device",
        line="sorted",
    ),
    "python min": calls("return x - min(x[0, 0])", rule="device", line="min(x[0, 0])"),
    "bool and": calls(
        """
s = x.detach().sum()
return x if s > 0 and s < 100 else x * 2
""",
        rule="device",
        line="s > 0",
    ),
    "not": calls("return x if not x.detach().sum() else x * 2", rule="device", line="not x"),
    "ternary any": calls(
        "return x.clamp(-1, 1) if (x.detach().abs() > 1).any() else x", rule="device", line=".any()"
    ),
    "int index from argmax": calls(
        """
k = int(x.detach().sum((0, 2)).argmax())
return x[:, k]
""",
        rule="device",
        line="int(",
    ),
    "index by argmax tensor as slice": calls(
        """
k = x.detach().sum((0, 2)).argmax()
return x[:, : k + 1]
""",
        rule="device",
        line="x[:, : k + 1]",
    ),
    "equal": calls("return x if torch.equal(x, x * 1) else x * 2", rule="device", line="torch.equal"),
    "loss item": calls(
        """
total = 0.0
for t in range(x.size(1)):
    total += F.mse_loss(x[:, t], y[:, t]).item()
return x * total
""",
        "x, y",
        rule="device",
        line=".item()",
    ),
    "clip by norm": calls(
        """
n = x.detach().norm()
if n > 1.0:
    x = x / n
return x
""",
        rule="device",
        line="if n > 1.0",
    ),
    "set to cuda str index": calls(
        """
h = torch.zeros(2, 3, dtype=x.dtype)
return x[:, 0] + (h.to('cuda:1') if x.is_cuda else h)
""",
        rule="device",
        line="cuda:1",
    ),
    "cuda int": calls(
        """
h = torch.zeros(2, 3, dtype=x.dtype)
return x[:, 0] + (h.cuda(0) if x.is_cuda else h)
""",
        rule="device",
        line=".cuda(0)",
    ),
    "cuda FloatTensor": calls(
        """
h = torch.zeros(2, 3, dtype=x.dtype)
if x.is_cuda: h = h.type(torch.cuda.FloatTensor).to(x.dtype)
return x[:, 0] + h
""",
        rule="device",
        line="FloatTensor",
    ),
    "new on cuda": calls(
        """
if x.device.type == 'cuda':
    return x[:, 0] + torch.zeros(2, 3, device='cuda', dtype=x.dtype)
return x[:, 0] * 1
""",
        rule="device",
        line="device='cuda'",
    ),
    "tensor ctor cuda": calls(
        "return x[:, 0] + (torch.tensor([0.0] * 3, device='cuda') if x.is_cuda else 0)",
        rule="device",
        line="device='cuda'",
    ),
    "set default cuda": calls(
        """
torch.set_default_device('cuda' if x.is_cuda else 'cpu')
h = torch.zeros(2, 3, dtype=x.dtype)
torch.set_default_device(None)
return x[:, 0] + h
""",
        rule="device",
        line="",
    ),
    "mps": calls(
        """
h = torch.zeros(2, 3, dtype=x.dtype).to('mps' if torch.backends.mps.is_available() else 'cpu')
return x[:, 0] + h
""",
        rule="device",
        line="h = torch.zeros",
    ),
    "output dict cpu": calls("return x * 2, x.mean(1).cpu()", rule="device", line=".cpu()"),
    "result lengths float cpu": calls("return x * 2, torch.zeros(3, dtype=x.dtype)", rule="device", line=""),
}
