"""More modules with one fault each."""

from tests.devices import Case

MODULES = {
    "parameter from numpy double": Case(
        """
        import numpy as np
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.w = nn.Parameter(torch.from_numpy(np.random.default_rng(0).normal(size=(D, H))))
            def forward(self, x):
                return x @ self.w
        """,
        rule="dtype",
    ),
    "buffer from numpy double": Case(
        """
        import numpy as np
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.register_buffer('pe', torch.from_numpy(np.sin(np.arange(16.0)))[:, None])
                self.lin = nn.Linear(D, H)
            def forward(self, x):
                return self.lin(x) + self.pe[:x.size(1)]
        """,
        rule="dtype",
    ),
    "input cast to float": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn = nn.LSTM(D, H, batch_first=True)
            def forward(self, x):
                y, (h, c) = self.rnn(x.float())
                return y, h, c
        """,
        rule="dtype",
        line="float",
    ),
    "hard autocast": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
            def forward(self, x):
                with torch.autocast(x.device.type, dtype=torch.bfloat16):
                    return self.lin(x)
        """,
        rule="dtype",
    ),
    "module of float32 with casts": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.norm = nn.LayerNorm(D)
            def forward(self, x):
                n = self.norm.float()
                return n(x.float()).to(x.dtype)
        """,
        rule="dtype",
    ),
    "cell state kept in float32": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D + H, 4 * H)
                self.H = H
            def forward(self, x):
                h = x.new_zeros(x.size(0), self.H)
                c = x.new_zeros(x.size(0), self.H)
                for x_t in x.unbind(1):
                    i, f, g, o = self.lin(torch.cat([x_t, h], 1)).chunk(4, 1)
                    c = (f.sigmoid() * c + i.sigmoid() * g.tanh()).float().to(x.dtype)
                    h = o.sigmoid() * c.tanh()
                return h, c
        """,
        rule="dtype",
        line="float",
    ),
    "class attribute mask": Case(
        """
        class Model(nn.Module):
            MASK = torch.ones(8, 8, dtype=torch.bool).tril()
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
            def forward(self, x):
                z = self.lin(x)
                s = (z @ z.mT).masked_fill(~self.MASK[:x.size(1), :x.size(1)], -1e4)
                return s.softmax(-1) @ z
        """,
        rule="device",
        line="MASK",
    ),
    "hook multiplies by a cpu tensor": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
            def forward(self, x):
                y = self.lin(x)
                w = torch.linspace(1, 0, y.size(1), dtype=y.dtype)
                if y.requires_grad:
                    y.register_hook(lambda g: g * w[:, None])
                return y.tanh()
        """,
        rule="device",
    ),
    "itertools cycle of cpu masks": Case(
        """
        from itertools import cycle
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.masks = cycle([torch.tensor([1, 0, 1]), torch.tensor([0, 1, 1])])
            def forward(self, x):
                return self.lin(x * next(self.masks))
        """,
        rule="device",
    ),
    "buffer overwritten on the cpu": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.register_buffer('h', torch.zeros(1))
            def forward(self, x):
                self.h = torch.zeros(x.size(0), 1, x.size(2), dtype=x.dtype)
                return self.lin(x + self.h)
        """,
        rule="device",
    ),
    "plain cell object holding weights": Case(
        """
        class Cell:
            def __init__(self, D, H):
                self.w, self.u = torch.randn(D, H), torch.randn(H, H)
            def __call__(self, x, h):
                return torch.tanh(x @ self.w.to(x.dtype) + h @ self.u.to(x.dtype))
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = Cell(D, H)
                self.h0 = nn.Parameter(torch.zeros(H))
            def forward(self, x):
                h = self.h0.expand(x.size(0), -1)
                for x_t in x.unbind(1):
                    h = self.cell(x_t, h)
                return h
        """,
        rule="device",
    ),
    "apply skips the mask": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.register_buffer('gate', torch.arange(4))
            def _apply(self, fn, recurse=True):
                gate = self._buffers.pop('gate')
                super()._apply(fn)
                self._buffers['gate'] = gate
                return self
            def forward(self, x):
                return self.lin(x) + self.gate.to(x.device)
        """,
        rule="device",
    ),
    "weights of a loss on the cpu": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, 7)
            def forward(self, x, ids):
                w = torch.tensor([0.0] + [1.0] * 6, dtype=x.dtype)
                return F.cross_entropy(self.lin(x).flatten(0, 1), ids.flatten(), weight=w)
        """,
        inputs="x ids",
        rule="device",
    ),
    "result of sampling kept as list of ints": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.emb, self.cell, self.out = nn.Embedding(5, H), nn.GRUCell(H, H), nn.Linear(H, 5)
            def forward(self, h):
                tokens = [0] * h.size(0)
                for _ in range(3):
                    h = self.cell(self.emb(torch.tensor(tokens, device=h.device)), h)
                    tokens = self.out(h).argmax(-1).tolist()
                return h
        """,
        inputs="h",
        rule="device",
    ),
    "subsequent mask of the default device": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.layer = nn.TransformerEncoderLayer(H, 2, 8, batch_first=True, dropout=0.0)
            def forward(self, e):
                m = nn.Transformer.generate_square_subsequent_mask(e.size(1), dtype=e.dtype)
                return self.layer(e, src_mask=m)
        """,
        inputs="e",
        rule="device",
        line="generate",
    ),
    "module generator attribute": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.rng = torch.Generator()
            def forward(self, x):
                self.rng.manual_seed(0)
                keep = torch.empty_like(x).bernoulli_(0.5, generator=self.rng)
                return self.lin(x * keep)
        """,
        rule="device",
    ),
    "lazily cached without device": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.cache = {}
            def mask(self, T):
                if T not in self.cache:
                    self.cache[T] = torch.ones(T, T, dtype=torch.bool).triu(1)
                return self.cache[T]
            def forward(self, x):
                z = self.lin(x)
                return (z @ z.mT).masked_fill(self.mask(x.size(1)), 0) @ z
        """,
        rule="device",
    ),
    "state factory default argument": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.GRUCell(D, H)
            def forward(self, x, h=None, device='cpu'):
                if h is None:
                    h = torch.zeros(x.size(0), self.cell.hidden_size, device=device, dtype=x.dtype)
                for x_t in x.unbind(1):
                    h = self.cell(x_t, h)
                return h
        """,
        rule="device",
        line="zeros",
    ),
    "autocast index add": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
            def forward(self, x, ids):
                z = self.lin(x).flatten(0, 1)
                table = x.new_zeros(7, z.size(-1))
                return table.index_add(0, ids.flatten(), z)
        """,
        inputs="x ids",
        rule="dtype",
    ),
}
