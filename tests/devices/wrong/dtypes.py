"""Code that is wrong in another dtype only, and does not look it."""

from tests.devices.right.usual import lstm
from tests.devices.writing import calls, makes
from tests.devices.wrong.usual import dtype

DTYPES = {
    "the root of the lengths": calls(
        "return x.sum(1) / torch.sqrt(lengths)[:, None]",
        "x, lengths",
        rule="dtype",
        line="torch.sqrt(lengths)",
    ),
    "one step over another": calls(
        """
t = torch.arange(x.size(1), device=x.device) / x.size(1)
return x * t[:, None]
""",
        rule="dtype",
        line="t = torch.arange",
    ),
    "positions times a number": calls(
        "return x + 0.1 * torch.arange(x.shape[1], device=x.device)[:, None]",
        rule="dtype",
        line="torch.arange",
    ),
    "the smallest number of float32": calls(
        """
padding = torch.arange(e.size(1), device=e.device) >= lengths.unsqueeze(1)
scores = (e * q.unsqueeze(1)).sum(-1).masked_fill(padding, torch.finfo(torch.float32).min)
return scores.softmax(-1)
""",
        "q, e, lengths",
        rule="dtype",
        line="",
    ),
    "numbers of numpy, moved": calls(
        "return x * torch.from_numpy(np.ones(x.shape[2])).to(x.device)",
        before="import numpy as np",
        rule="dtype",
        line="torch.from_numpy",
    ),
    "noise of the default dtype": calls(
        "return x + 0 * torch.randn(x.shape, device=x.device)", rule="dtype", line="torch.randn"
    ),
    "a triangle of the default dtype": calls(
        "return torch.ones(x.size(1), x.size(1), device=x.device).tril() @ x", rule="dtype", line="torch.ones"
    ),
    "a table of the default dtype": calls(
        "return torch.eye(7, device=ids.device)[ids].to(torch.float32) + 0 * e[..., :1]",
        "ids, e",
        rule="dtype",
        line="torch.eye",
    ),
    "a buffer that stays in float32": makes(
        """
self.fc = nn.Linear(D, H)
self.register_buffer('scale', torch.ones(H))
""",
        "return self.fc(x) * self.scale.float()",
        rule="dtype",
        line="",
    ),
    "a weighted mean by a float mask": calls(
        """
weights = torch.zeros(x.shape[:2], device=x.device)
weights[torch.arange(x.size(1), device=x.device) < lengths[:, None]] = 1.0
return (weights[..., None] * x).sum(1)
""",
        "x, lengths",
        rule="dtype",
        line="weights = torch.zeros",
    ),
    "a result always in float64": calls("return x.double().cumsum(1)", rule="dtype", line=""),
    "bf16 var": calls(
        """
s = torch.ones(x.size(1), device=x.device).cumsum(0)
return x / s[:, None]
""",
        rule="dtype",
        line="torch.ones",
    ),
    "lengths.float": calls(
        "return x.sum(1) / lengths.float()[:, None]", "x, lengths", rule="dtype", line="lengths.float()"
    ),
    "mask.float": calls(
        "return (x * mask.float()[..., None]).sum(1)", "x, mask", rule="dtype", line="mask.float()"
    ),
    "mask.double": calls(
        "return (x * mask.double()[..., None]).sum(1)", "x, mask", rule="dtype", line="mask.double()"
    ),
    "linspace": calls(
        "return x * torch.linspace(0, 1, x.size(1), device=x.device)[:, None]",
        rule="dtype",
        line="torch.linspace",
    ),
    "rand mask": calls(
        """
keep = torch.rand(x.shape, device=x.device) < 2
return x * keep.float()
""",
        rule="dtype",
        line="keep.float()",
    ),
    "bernoulli float": calls(
        """
keep = torch.bernoulli(torch.full(x.shape, 1.0, device=x.device))
return x * keep
""",
        rule="dtype",
        line="torch.full",
    ),
    "cat default": calls(
        "return torch.cat([x, torch.ones(2, 5, 1, device=x.device)], -1)", rule="dtype", line="torch.ones"
    ),
    "stack default": calls(
        "return torch.stack([x[:, 0], torch.zeros(2, 3, device=x.device)])", rule="dtype", line="torch.zeros"
    ),
    "matmul default": calls("return x @ torch.ones(3, 4, device=x.device)", rule="dtype", line="torch.ones"),
    "lstm state default": makes(
        "self.rnn = nn.LSTM(D, H, batch_first=True)",
        """
h = torch.zeros(1, len(x), self.rnn.hidden_size, device=x.device)
return self.rnn(x, (h, h))[0]
""",
        rule="dtype",
        line="h = torch.zeros",
    ),
    "log_softmax float": calls("return F.log_softmax(x.float(), -1)", rule="dtype", line=""),
    "loss in float": calls("return F.mse_loss(x.float(), y.float())", "x, y", rule="dtype", line=""),
    "tensor dtype float": calls(
        "return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float, device=x.device) * x",
        rule="dtype",
        line="torch.tensor",
    ),
    "out float": dtype(
        lstm(before="out = torch.empty(B, T, self.H, device=x.device)", keep="out[:, t] = h", output="out"),
        "out = torch.empty",
    ),
    "where promotes": calls(
        "return torch.where(x > 0, x, torch.zeros(x.shape, device=x.device))",
        rule="dtype",
        line="torch.zeros",
    ),
    "param .float": makes(
        "self.w = nn.Parameter(torch.ones(D, H))",
        "return x.to(torch.float32) @ self.w.to(torch.float32)",
        rule="dtype",
        line="",
    ),
    "always double": makes(
        "self.w = nn.Parameter(torch.ones(D, H))",
        "return (x.double() @ self.w.double())",
        rule="dtype",
        line="",
    ),
    "hidden in bf16": makes(
        "self.fc = nn.Linear(D, H)",
        "return self.fc(x).bfloat16().to(x.dtype)",
        rule="dtype",
        line="bfloat16()",
    ),
    "plain attr float32 moved": makes(
        "self.scale = torch.ones(3)", "return x * self.scale.to(x.device)", rule="dtype", line="self.scale"
    ),
    "set_default float": calls(
        """
torch.set_default_dtype(torch.float32)
return x + torch.zeros(3, device=x.device)[None, None] + torch.ones(2, 5, 3, device=x.device)
""",
        rule="dtype",
        line="",
    ),
}
