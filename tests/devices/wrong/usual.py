"""Code with one fault each: it is wrong on another device, or in another dtype, and right otherwise.

`line` is a part of the line that the message must name.
"""

from tests.devices import Case, H, V
from tests.devices.right.usual import lstm

LINEAR = """
class Model(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.fc = nn.Linear(D, H)
        {init}
    def forward(self, x):
        {before}
        return {output}
"""


def linear(output="self.fc(x)", before="pass", init="pass"):
    """One linear layer and what is done around it."""
    return LINEAR.format(init=init, before=before, output=output)


def device(source, line, **more):
    return Case(source, rule="device", line=line, **more)


def dtype(source, line, **more):
    return Case(source, rule="dtype", line=line, **more)


FAULTS = {
    # Made on the CPU.
    "zero state on the CPU": device(
        lstm("(torch.zeros(B, self.H, dtype=x.dtype) for _ in range(2))"), "torch.zeros(B, self.H, dtype"
    ),
    "an offset on the CPU beside a lazy layer": device(
        linear(
            "self.fc(x) + offset",
            "offset = torch.ones(x.shape[0], 1, 1, dtype=x.dtype)",
            "self.fc = nn.LazyLinear(H)",
        ),
        "torch.ones(x.shape[0]",
    ),
    "only c on the CPU": device(
        lstm("x.new_zeros(B, self.H), torch.zeros(B, self.H, dtype=x.dtype)"), "torch.zeros(B, self.H, dtype"
    ),
    "states by a legacy constructor": device(
        lstm("torch.DoubleTensor(2, B, self.H).zero_().to(x.dtype)"), "DoubleTensor"
    ),
    "state from a list": device(
        lstm("torch.tensor([[[0.0] * self.H] * B] * 2, dtype=x.dtype)"), "torch.tensor([[["
    ),
    "state asks for the CPU": device(
        lstm("torch.zeros(2, B, self.H, device='cpu', dtype=x.dtype)"), "device='cpu'"
    ),
    "state on a fixed GPU": device(
        lstm("torch.zeros(2, B, self.H, dtype=x.dtype).to('cuda:0' if x.device.type != 'cpu' else 'cpu')"),
        "'cuda:0'",
    ),
    "state where a GPU is available": device(
        lstm(
            "torch.zeros(2, B, self.H, dtype=x.dtype, "
            "device=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))"
        ),
        "is_available",
    ),
    "state by .cuda()": device(
        lstm(
            "torch.zeros(2, B, self.H, dtype=x.dtype)",
            before="h = h.cuda() if x.is_cuda else h; outputs = []",
        ),
        "h.cuda()",
    ),
    "state of nn.LSTM on the CPU": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lstm = nn.LSTM(D, H, batch_first=True)
            def forward(self, x):
                h_0 = torch.zeros(1, x.size(0), self.lstm.hidden_size, dtype=x.dtype)
                output, (h, c) = self.lstm(x, (h_0, h_0.clone()))
                return output, h, c
        """,
        "h_0 = torch.zeros",
    ),
    "state from a method that knows no device": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.H, self.cell = H, nn.RNNCell(D, H)
            def init_hidden(self, batch_size, dtype):
                return torch.zeros(batch_size, self.H).to(dtype)
            def forward(self, x):
                h = self.init_hidden(len(x), x.dtype)
                for t in range(x.shape[1]):
                    h = self.cell(x[:, t], h)
                return h
        """,
        "torch.zeros(batch_size",
    ),
    "output filled on the CPU": device(
        lstm(before="out = torch.zeros(B, T, self.H, dtype=x.dtype)", keep="out[:, t] = h", output="out"),
        "out = torch.zeros",
    ),
    "output filled on the CPU, then moved": device(
        lstm(
            before="out = torch.empty(T, B, self.H, dtype=x.dtype)",
            keep="out[t].copy_(h)",
            output="out.to(x.device).transpose(0, 1)",
        ),
        "out = torch.empty",
    ),
    "concatenated onto the CPU": device(
        lstm(
            before="out = torch.zeros(B, 0, self.H, dtype=x.dtype)",
            keep="out = torch.cat([out, h.unsqueeze(1)], 1)",
            output="out",
        ),
        "out = torch.zeros",
    ),
    "padding on the CPU": device(
        """
        def f(x):
            return torch.cat([torch.zeros(x.shape[0], 1, x.shape[2], dtype=x.dtype), x[:, :-1]], dim=1)
        """,
        "torch.zeros(x.shape[0], 1",
        made_with=None,
    ),
    "mask on the CPU": device(
        """
        def f(x, lengths):
            steps = torch.arange(x.shape[1])
            mask = steps[None, :] < lengths[:, None]
            return (x * mask[..., None]).sum(1)
        """,
        "steps = torch.arange",
        inputs="x lengths",
        made_with=None,
    ),
    "mask left on the CPU": device(
        """
        def f(x, lengths):
            mask = torch.zeros(x.shape[0], x.shape[1], dtype=torch.bool)
            for row, n in enumerate(lengths.tolist()):
                mask[row, :n] = True
            return x.masked_fill(~mask.unsqueeze(-1), 0.0)
        """,
        "mask = torch.zeros",
        inputs="x lengths",
        made_with=None,
    ),
    "positions on the CPU": device(
        linear("self.fc(x + self.place(torch.arange(x.shape[1])))", init="self.place = nn.Embedding(64, D)"),
        "torch.arange(x.shape[1])",
    ),
    "gather by indices on the CPU": device(
        """
        def f(e, lengths):
            at = torch.tensor([[n - 1] * e.shape[2] for n in lengths.tolist()]).unsqueeze(1)
            return e.gather(1, at)
        """,
        "at = torch.tensor",
        inputs="e lengths",
        made_with=None,
    ),
    "lengths on the GPU for packing": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn = nn.RNN(D, H, batch_first=True)
            def forward(self, x, lengths):
                packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
        """,
        "pack_padded_sequence(x, lengths",
        inputs="x lengths",
    ),
    "one-hot rows from a table on the CPU": device(
        """
        def f(ids, x):
            hot = torch.eye(7, dtype=x.dtype)[ids.cpu()]
            return torch.cat([hot, x], dim=-1)
        """,
        "torch.eye",
        inputs="ids x",
        made_with=None,
    ),
    "a layer made in forward": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.H = H
            def forward(self, x):
                return nn.Linear(x.shape[-1], self.H).to(x.dtype)(x)
        """,
        "nn.Linear(x.shape[-1]",
    ),
    "noise on the CPU": device(
        linear("self.fc(x + 0.1 * noise)", before="noise = torch.randn(x.shape).to(x.dtype)"), "torch.randn"
    ),
    "dropout mask on the CPU": device(
        """
        def f(x):
            keep = (torch.rand(x.shape[0], 1, x.shape[2]) < 0.7).to(x.dtype)
            return x * keep / 0.7
        """,
        "torch.rand(",
        made_with=None,
    ),
    # Left behind by `.to()`.
    "mask as a plain attribute": device(
        linear("self.fc(x @ self.mask.to(x.dtype))", init="self.mask = torch.ones(D, D).tril()"),
        "self.mask = torch.ones",
    ),
    "weights in a plain list": device(
        linear(
            "self.fc(x) * self.scales[0].to(x.dtype)", init="self.scales = [torch.ones(H), torch.ones(H)]"
        ),
        "self.scales = [torch.ones",
    ),
    "layers in a plain list": device(
        linear("self.layers[0].to(x.dtype)(self.fc(x))", init="self.layers = [nn.Linear(H, H)]"),
        "self.layers = [nn.Linear",
    ),
    "tables in a dict": device(
        linear(
            "self.fc(x) + self.tables['shift'].to(x.dtype)", init="self.tables = {'shift': torch.zeros(H)}"
        ),
        "self.tables = ",
    ),
    "a mask shared by all": device(
        """
        MASK = torch.ones(1, 5, 1)
        def f(x):
            return x * MASK.to(x.dtype)
        """,
        "MASK = torch.ones",
        made_with=None,
    ),
    "a cache that is not asked where it is": device(
        linear(
            "self.fc(x * self.cache)",
            init="self.cache = None",
            before="if self.cache is None: self.cache = torch.ones(x.shape[1], 1, dtype=x.dtype)",
        ),
        "self.cache = torch.ones",
    ),
    "registered, and not moved": device(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
                self.register_buffer("seen", torch.zeros(H))
            def _apply(self, fn, recurse=True):
                self.fc._apply(fn)
                return self
            def forward(self, x):
                return self.fc(x)
        """,
        "",
    ),
    # A way through the CPU, or a wait for it.
    "through the CPU and back": device(
        linear("out.to(x.device)", before="out = self.fc(x).cpu().tanh()"), ".cpu()"
    ),
    "sorted on the CPU": device(
        """
        def f(x):
            order = x.detach().to("cpu").argsort(dim=1)
            return x.gather(1, order.to(x.device))
        """,
        'to("cpu")',
        made_with=None,
    ),
    "returned on the CPU": device(linear("self.fc(x).cpu()"), ".cpu()"),
    "by a tensor type": device(linear("self.fc(x).type(torch.DoubleTensor).to(x)"), "DoubleTensor"),
    "ids on the CPU": device(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding = nn.Embedding(V, H)
            def forward(self, ids):
                start = torch.zeros(ids.shape[0], 1, dtype=torch.long)
                return self.embedding(torch.cat([start, ids], dim=1))
        """,
        "start = torch.zeros",
        inputs="ids",
        made_with=(V, H),
    ),
    "a gradient sent back on the CPU": device(
        """
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x
            @staticmethod
            def backward(ctx, grad):
                return torch.full(grad.shape, 2.0, dtype=grad.dtype) * grad
        def f(x):
            return Scale.apply(x)
        """,
        "torch.full",
        made_with=None,
    ),
    # Another dtype.
    "zero state of the default dtype": dtype(
        lstm("(torch.zeros(B, self.H, device=x.device) for _ in range(2))"), "torch.zeros(B, self.H, device"
    ),
    "only c of the default dtype": dtype(
        lstm("x.new_zeros(B, self.H), torch.zeros(B, self.H, device=x.device)"),
        "torch.zeros(B, self.H, device",
    ),
    "state in float": dtype(lstm("torch.zeros(2, B, self.H).to(x.device).float()"), "torch.zeros(2, B"),
    "states in double": dtype(
        lstm("torch.zeros(2, B, self.H, device=x.device, dtype=torch.float64)"), "torch.float64"
    ),
    "output of the default dtype": dtype(
        lstm(before="out = torch.zeros(B, T, self.H, device=x.device)", keep="out[:, t] = h", output="out"),
        "out = torch.zeros",
    ),
    "mask that promotes": dtype(
        """
        def f(x, lengths):
            mask = (torch.arange(x.shape[1], device=x.device) < lengths[:, None]).float()
            return (x * mask[..., None]).sum(1)
        """,
        ".float()",
        inputs="x lengths",
        made_with=None,
    ),
    "counts that promote": dtype(
        """
        def f(x, lengths):
            return x.sum(1) / lengths.to(x.device, torch.float32)[:, None]
        """,
        "torch.float32",
        inputs="x lengths",
        made_with=None,
    ),
    "positions in float32": dtype(
        """
        def f(x):
            t = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)[:, None]
            return x + torch.sin(t)
        """,
        "t = torch.arange",
        made_with=None,
    ),
    "softmax in float32": dtype(
        """
        def f(q, e):
            weights = torch.softmax(torch.einsum("bh,bth->bt", q, e), dim=-1, dtype=torch.float32)
            return (weights[..., None] * e).sum(1)
        """,
        "torch.softmax",
        inputs="q e",
        made_with=None,
    ),
    "rounded in the middle": dtype(linear("torch.tanh(self.fc(x).float()).to(x.dtype)"), ".float()"),
    "result in float": dtype(linear("self.fc(x).float()"), ""),
    "rounded by half": dtype(linear("self.fc(x).half().to(x.dtype)"), ".half()"),
    "one-hot in float": dtype(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.fc = nn.Linear(V, H)
            def forward(self, ids):
                return self.fc(F.one_hot(ids, 7).float())
        """,
        "one_hot",
        inputs="ids",
        made_with=(V, H),
    ),
    "padding of the default dtype": dtype(
        """
        def f(x):
            return torch.cat([torch.zeros(x.shape[0], 1, x.shape[2], device=x.device), x], dim=1)
        """,
        "torch.zeros",
        made_with=None,
    ),
    "a buffer made on the way": dtype(
        linear("self.fc(x) * scale", before="scale = torch.full((1,), 0.5, device=x.device)"), "torch.full"
    ),
    "tensor from numbers": dtype(
        linear("self.fc(x * torch.tensor([1.0, 2.0, 3.0], device=x.device))"), "torch.tensor("
    ),
    "rows put by index": dtype(
        """
        def f(x, lengths):
            out = torch.zeros_like(x)
            step = torch.arange(x.shape[0], device=x.device)
            out[step, lengths - 1] = torch.ones(x.shape[0], x.shape[2], device=x.device)
            return out + x
        """,
        "torch.ones",
        inputs="x lengths",
        made_with=None,
    ),
    "weights taken to float32": dtype(
        linear("F.linear(x.float(), self.fc.weight.float()).to(x.dtype)"), ".float()"
    ),
}
