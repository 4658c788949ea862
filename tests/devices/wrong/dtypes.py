"""Code that is wrong in another dtype only. `line` is a part of the line that the message must name."""

from tests.devices import Case, H, V
from tests.devices.writing import calls, linear, lstm, makes

DTYPES = {
    "zero state of the default dtype": Case(
        lstm("(torch.zeros(B, self.H, device=x.device) for _ in range(2))"),
        line="torch.zeros(B, self.H, device",
    ),
    "state in float": Case(lstm("torch.zeros(2, B, self.H).to(x.device).float()"), line="torch.zeros(2, B"),
    "states in double": Case(
        lstm("torch.zeros(2, B, self.H, device=x.device, dtype=torch.float64)"), line="torch.float64"
    ),
    "state of nn.LSTM of the default dtype": makes(
        "self.rnn = nn.LSTM(D, H, batch_first=True)",
        """
h = torch.zeros(1, len(x), self.rnn.hidden_size, device=x.device)
return self.rnn(x, (h, h))[0]
""",
        line="h = torch.zeros",
    ),
    "output of the default dtype": Case(
        lstm(before="out = torch.zeros(B, T, self.H, device=x.device)", keep="out[:, t] = h", output="out"),
        line="out = torch.zeros",
    ),
    "mask that promotes": calls(
        """
mask = (torch.arange(x.shape[1], device=x.device) < lengths[:, None]).float()
return (x * mask[..., None]).sum(1)
""",
        "x, lengths",
        line=".float()",
    ),
    "counts that promote": calls(
        "return x.sum(1) / lengths.to(x.device, torch.float32)[:, None]", "x, lengths", line="torch.float32"
    ),
    "the root of the lengths": calls(
        "return x.sum(1) / torch.sqrt(lengths)[:, None]",
        "x, lengths",
        line="torch.sqrt(lengths)",
    ),
    "one step over another": calls(
        """
t = torch.arange(x.size(1), device=x.device) / x.size(1)
return x * t[:, None]
""",
        line="t = torch.arange",
    ),
    "a slope from linspace": calls(
        "return x * torch.linspace(0, 1, x.size(1), device=x.device)[:, None]",
        line="torch.linspace",
    ),
    "the smallest number of float32": calls(
        """
padding = torch.arange(e.size(1), device=e.device) >= lengths.unsqueeze(1)
scores = (e * q.unsqueeze(1)).sum(-1).masked_fill(padding, torch.finfo(torch.float32).min)
return scores.softmax(-1)
""",
        "q, e, lengths",
        line="",
    ),
    "softmax in float32": calls(
        """
weights = torch.softmax(torch.einsum("bh,bth->bt", q, e), dim=-1, dtype=torch.float32)
return (weights[..., None] * e).sum(1)
""",
        "q, e",
        line="torch.softmax",
    ),
    "log-softmax in float32": calls("return F.log_softmax(x.float(), -1)", line=""),
    "rounded in the middle": Case(linear("torch.tanh(self.fc(x).float()).to(x.dtype)"), line=".float()"),
    "result in float": Case(linear("self.fc(x).float()"), line=""),
    "a result always in float64": calls("return x.double().cumsum(1)", line=""),
    "weights taken to float32": Case(
        linear("F.linear(x.float(), self.fc.weight.float()).to(x.dtype)"), line=".float()"
    ),
    "one-hot in float": makes(
        "self.fc = nn.Linear(D, H)",
        "return self.fc(F.one_hot(ids, 7).float())",
        "ids",
        line="one_hot",
        made_with=(V, H),
    ),
    "tensor from numbers": Case(
        linear("self.fc(x * torch.tensor([1.0, 2.0, 3.0], device=x.device))"), line="torch.tensor("
    ),
    "a constant asked for in float32": calls(
        "return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float, device=x.device) * x",
        line="torch.tensor",
    ),
    "numbers of numpy, moved": calls(
        "return x * torch.from_numpy(np.ones(x.shape[2])).to(x.device)",
        before="import numpy as np",
        line="torch.from_numpy",
    ),
    "noise of the default dtype": calls(
        "return x + 0 * torch.randn(x.shape, device=x.device)", line="torch.randn"
    ),
    "a triangle of the default dtype": calls(
        "return torch.ones(x.size(1), x.size(1), device=x.device).tril() @ x", line="torch.ones"
    ),
    "a buffer that stays in float32": makes(
        """
self.fc = nn.Linear(D, H)
self.register_buffer('scale', torch.ones(H))
""",
        "return self.fc(x) * self.scale.float()",
        line="",
    ),
    "a plain attribute in float32, moved": makes(
        "self.scale = torch.ones(3)", "return x * self.scale.to(x.device)", line="self.scale"
    ),
}
