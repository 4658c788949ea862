"""Right modules: what autocast widens, constants, the machine."""

from tests.devices import Case

MODULES = {
    "highway with bias init and mT": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.proj = nn.Linear(D, H)
                self.gates = nn.Bilinear(H, H, H)
            def forward(self, x):
                z = self.proj(x)
                h = z.new_zeros(z[:, 0].shape)
                for t in range(z.size(1)):
                    g = self.gates(z[:, t], h).sigmoid()
                    h = g * z[:, t].tanh() + (1 - g) * h
                return h
        """,
    ),
    "numpy free positional with float64 table cast": Case(
        """
        import numpy as np
        class Model(nn.Module):
            def __init__(self, D, H, n=16):
                super().__init__()
                ang = np.arange(n)[:, None] / np.power(100.0, np.arange(D) / D)
                self.register_buffer('pe', torch.from_numpy(np.sin(ang)).float())
            def forward(self, x):
                return x + self.pe[:x.size(1)].to(x.dtype)
        """,
    ),
    "autocast mv": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.u = nn.Parameter(torch.eye(H))
                self.lin = nn.Linear(D, H)
            def forward(self, x):
                h = self.lin(x)[0, 0]
                for _ in range(3):
                    h = torch.mv(self.u, h).tanh()
                return h
        """,
    ),
    "autocast scatter add of gates": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(H, 5)
            def forward(self, e, ids):
                p = self.lin(e)
                base = torch.zeros(p.size(0), p.size(1), 7, device=e.device, dtype=e.dtype)
                return base.scatter_add(2, ids.unsqueeze(-1), p[..., :1])
        """,
        inputs="e ids",
    ),
    "autocast put softmax": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(H, H)
            def forward(self, e, mask):
                out = torch.zeros_like(e)
                out[mask] = self.lin(e)[mask].softmax(-1)
                return out
        """,
        inputs="e mask",
    ),
    "autocast layer norm into buffer": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin, self.norm = nn.Linear(H, H), nn.LayerNorm(H)
            def forward(self, e):
                return torch.lerp(e, self.norm(self.lin(e)), 0.5)
        """,
        inputs="e",
    ),
    "autocast tensordot": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin, self.w = nn.Linear(H, H), nn.Parameter(torch.randn(H, 2))
            def forward(self, e):
                return torch.tensordot(self.lin(e), self.w, dims=1)
        """,
        inputs="e",
    ),
    "constructor moves to what there is": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, H)
                self.to('cuda' if torch.cuda.is_available() else 'cpu')
            def forward(self, x):
                return self.lin(x)
        """,
    ),
}
