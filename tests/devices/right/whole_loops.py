"""Right modules: functional calls, caches, hooks, whole loops."""

from tests.devices import Case

MODULES = {
    "packed sequence moved to device": Case(
        """
        from torch.nn.utils.rnn import pack_padded_sequence, PackedSequence
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin, self.rnn = nn.Linear(D, H), nn.GRU(H, H, batch_first=True)
            def forward(self, x, lengths):
                p = pack_padded_sequence(x, lengths.tolist(), batch_first=True).to(x.device)
                p = p._replace(data=self.lin(p.data))
                _, h = self.rnn(p)
                return h
        """,
        inputs="x lengths",
    ),
    "loop over batch sizes of a packed sequence": Case(
        """
        from torch.nn.utils import rnn
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.GRUCell(D, H)
                self.H = H
            def forward(self, x, lengths):
                p = rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
                h = p.data.new_zeros(int(p.batch_sizes[0]), self.H)
                start, outs, done = 0, [], []
                for n in p.batch_sizes.tolist():
                    if n < h.size(0):
                        done.append(h[n:])
                        h = h[:n]
                    h = self.cell(p.data[start:start + n], h)
                    outs.append(h)
                    start += n
                done.append(h)
                h_n = torch.cat(done[::-1])[p.unsorted_indices]
                indices = p.sorted_indices, p.unsorted_indices
                out = rnn.PackedSequence(torch.cat(outs), p.batch_sizes, *indices)
                out, _ = rnn.pad_packed_sequence(out, batch_first=True)
                return out, h_n
        """,
        inputs="x lengths",
    ),
    "fx traced module": Case(
        """
        import torch.fx
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.net = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(D, H), nn.ReLU()))
            def forward(self, x):
                return self.net(x)
        """,
    ),
    "pytree of states": Case(
        """
        from torch.utils._pytree import tree_map
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn = nn.LSTM(D, H, 2, batch_first=True)
            def forward(self, x):
                y, state = self.rnn(x)
                state = tree_map(lambda s: s.detach().clone(), {'h': state[0], 'c': state[1]})
                return y, state['h'], state['c']
        """,
    ),
    "per sample gradients": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, D)
            def forward(self, x, y):
                params = {k: v.detach() for k, v in self.lin.named_parameters()}
                def loss(p, a, b):
                    return F.mse_loss(torch.func.functional_call(self.lin, p, (a,)), b)
                g = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
                return g['weight'], g['bias']
        """,
        inputs="x y",
    ),
    "embedding bag with offsets": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.bag = nn.EmbeddingBag(7, H, mode='mean')
            def forward(self, ids):
                offsets = torch.arange(0, ids.numel(), ids.size(1), device=ids.device)
                return self.bag(ids.reshape(-1), offsets)
        """,
        inputs="ids",
    ),
    "meta tensors for shapes": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.conv = nn.Conv1d(D, H, 3)
            def forward(self, x):
                with torch.device('meta'):
                    probe = torch.empty(1, x.size(2), x.size(1))
                n = probe.shape[-1] - 2
                return self.conv(x.mT)[..., :n]
        """,
    ),
    "averaged model": Case(
        """
        from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.net = nn.Linear(D, H)
                self.ema = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
            def forward(self, x):
                self.ema.update_parameters(self.net)
                return self.ema(x) + self.net(x)
        """,
    ),
    "complex diagonal ssm with polar": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.nu, self.theta = nn.Parameter(torch.rand(H)), nn.Parameter(torch.rand(H))
            def forward(self, e):
                if e.dtype == torch.bfloat16:
                    return e
                lam = torch.polar(torch.exp(-self.nu.exp()), self.theta)
                h = torch.zeros_like(e[:, 0], dtype=lam.dtype)
                out = []
                for u in e.unbind(1):
                    h = lam * h + u
                    out.append(h.real)
                return torch.stack(out, 1)
        """,
        inputs="e",
    ),
    "vmap over the batch": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.w, self.u = nn.Parameter(torch.randn(H, D) * .2), nn.Parameter(torch.eye(H))
            def one(self, seq):
                h = seq.new_zeros(self.u.shape[0])
                out = []
                for x_t in seq:
                    h = torch.relu(self.w @ x_t + self.u @ h)
                    out.append(h)
                return torch.stack(out)
            def forward(self, x):
                return torch.vmap(self.one)(x)
        """,
    ),
    "lru cached mask by device": Case(
        """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def causal(T, device):
            return torch.triu(torch.ones(T, T, dtype=torch.bool, device=device), diagonal=1)
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.qkv = nn.Linear(D, 3 * H)
            def forward(self, x):
                q, k, v = self.qkv(x).chunk(3, -1)
                s = (q @ k.transpose(-2, -1)).masked_fill(causal(x.size(1), x.device), -torch.inf)
                return s.softmax(-1) @ v
        """,
    ),
    "weight drop by functional call": Case(
        """
        from torch.func import functional_call
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.RNNCell(D, H)
            def forward(self, x):
                params = dict(self.cell.named_parameters())
                params['weight_hh'] = F.dropout(params['weight_hh'], 0.5, self.training)
                h = x.new_zeros(x.shape[0], self.cell.hidden_size)
                for x_t in x.movedim(1, 0):
                    h = functional_call(self.cell, params, (x_t, h))
                return h
        """,
    ),
    "stack module state ensemble": Case(
        """
        from torch.func import stack_module_state, functional_call, vmap
        import copy
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.members = nn.ModuleList([nn.Linear(D, H) for _ in range(3)])
            def forward(self, x):
                named = [dict(m.named_parameters()) for m in self.members]
                params = {k: torch.stack([p[k] for p in named]) for k in ('weight', 'bias')}
                one = lambda p, v: functional_call(self.members[0], p, (v,))
                return vmap(one, in_dims=(0, None))(params, x).mean(0)
        """,
    ),
    "grad penalty double backward": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.a, self.b = nn.Linear(D, H), nn.Linear(H, 1)
            def forward(self, x):
                with torch.enable_grad():
                    z = x.detach().requires_grad_()
                    y = self.b(torch.tanh(self.a(z))).sum()
                    (g,) = torch.autograd.grad(y, z, create_graph=True)
                return g.norm(dim=-1)
        """,
    ),
    "clockwork rnn with periods in python": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.Linear(D + H, H)
                self.periods = [1, 2, 4, 8]
            def forward(self, x):
                h = x.new_zeros(x.size(0), len(self.periods))
                for t in range(x.size(1)):
                    new = torch.tanh(self.cell(torch.cat([x[:, t], h], 1)))
                    active = torch.tensor([t % p == 0 for p in self.periods], device=x.device)
                    h = torch.where(active, new, h)
                return h
        """,
    ),
    "itertools accumulate scan": Case(
        """
        from itertools import accumulate
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell = nn.RNNCell(D, H)
            def forward(self, x):
                like = dict(dtype=x.dtype, layout=x.layout, device=x.device)
                h0 = torch.zeros(x.size(0), self.cell.hidden_size, out=None, **like)
                hs = list(accumulate(x.unbind(1), lambda h, v: self.cell(v, h), initial=h0))[1:]
                return torch.stack(hs, 1), hs[-1]
        """,
    ),
    "custom parametrization symmetric": Case(
        """
        import torch.nn.utils.parametrize as P
        class Skew(nn.Module):
            def forward(self, w):
                upper = w.triu(1)
                return upper - upper.T
        class Model(nn.Module):
            def __init__(self, D, H, eps=0.1):
                super().__init__()
                self.inp, self.rec = nn.Linear(D, H), nn.Linear(H, H, bias=False)
                P.register_parametrization(self.rec, 'weight', Skew())
                self.eps = eps
            def forward(self, x):
                h = torch.zeros_like(self.inp(x[:, 0]))
                with P.cached():
                    for t in range(x.size(1)):
                        h = h + self.eps * torch.tanh(self.inp(x[:, t]) + self.rec(h))
                return h
        """,
    ),
    "scheduled sampling per sequence on the device": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cell, self.out = nn.RNNCell(D, H), nn.Linear(H, D)
                self.register_buffer('coins', torch.rand(16, generator=torch.Generator().manual_seed(0)))
            def forward(self, x):
                h = None
                prev, ys = torch.zeros_like(x[:, 0]), []
                for t, target in enumerate(x.transpose(0, 1)):
                    h = self.cell(prev, h)
                    y = self.out(h)
                    ys.append(y)
                    prev = torch.where(self.coins[t] < 0.5, target, y.detach())
                return torch.stack(ys, 1), h
        """,
    ),
    "custom autograd function with saved tensors and setup context": Case(
        """
        class Gate(torch.autograd.Function):
            @staticmethod
            def forward(a, b):
                return torch.sigmoid(a) * torch.tanh(b)
            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
            @staticmethod
            def backward(ctx, g):
                a, b = ctx.saved_tensors
                s, t = a.sigmoid(), b.tanh()
                return g * s * (1 - s) * t, g * s * (1 - t ** 2)
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lin = nn.Linear(D, 2 * H)
            def forward(self, x):
                return Gate.apply(*self.lin(x).chunk(2, -1)).cumsum(1)
        """,
    ),
}
