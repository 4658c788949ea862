"""More functions with one fault each."""

from tests.devices import Case

FUNCTIONS = {
    "sum in float32": Case(
        """
        def f(x):
            return x.sum(1, dtype=torch.float32).to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
        line="sum",
    ),
    "cumsum in float32": Case(
        """
        def f(x):
            return torch.cumsum(x, 1, dtype=torch.float32).to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
        line="cumsum",
    ),
    "log softmax functional": Case(
        """
        def f(x):
            return F.log_softmax(x, -1, dtype=torch.float32).to(x)
        """,
        made_with=None,
        rule="dtype",
        line="log_softmax",
    ),
    "float32 softmax always": Case(
        """
        def f(x):
            return F.softmax(x, dim=-1, dtype=torch.float32).to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
        line="float32",
    ),
    "written in a float32 buffer": Case(
        """
        def f(x):
            out = torch.empty(x.shape, device=x.device)
            for t in range(x.size(1)):
                out[:, t] = x[:, t] * 2
            return out.to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
        line="out",
    ),
    "copied in a float32 buffer": Case(
        """
        def f(x):
            return torch.empty_like(x, dtype=torch.float32).copy_(x).to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
        line="copy_",
    ),
    "via out argument": Case(
        """
        def f(x):
            with torch.no_grad():
                out = torch.empty(x.shape, device=x.device)
                torch.mul(x, 2, out=out)
            return out.to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
    ),
    "fill of index": Case(
        """
        def f(x):
            w = torch.zeros(x.shape[:2], device=x.device)
            w += x.mean(-1)
            return (w.to(x.dtype).unsqueeze(-1) * x)
        """,
        made_with=None,
        rule="dtype",
    ),
    "complex64 by to": Case(
        """
        def f(e):
            if e.dtype == torch.bfloat16:
                return e
            z = e.to(torch.complex64)
            return (z * 2).real.to(e.dtype)
        """,
        inputs="e",
        made_with=None,
        rule="dtype",
    ),
    "mean in half precision of scores": Case(
        """
        def f(e):
            w = torch.mean(e, dim=-1, dtype=torch.bfloat16).softmax(-1)
            return (w.to(e.dtype).unsqueeze(-1) * e).sum(1)
        """,
        inputs="e",
        made_with=None,
        rule="dtype",
    ),
    "rounding through numpy float32": Case(
        """
        def f(x):
            z = x.detach().to(torch.float32)
            return x + z.clone().mul_(0.1).to(x.dtype)
        """,
        made_with=None,
        rule="dtype",
    ),
    "tensor of a list of tensors": Case(
        """
        def f(x):
            means = torch.tensor([x_t.mean() for x_t in x.unbind(1)], device=x.device, dtype=x.dtype)
            return x * means[:, None]
        """,
        made_with=None,
        rule="device",
        line="torch.tensor",
    ),
    "mask assignment of a tensor": Case(
        """
        def f(x):
            y = x.clone()
            y[y < 0] = x.min()
            return y
        """,
        made_with=None,
        rule="device",
        line="y[y < 0]",
    ),
    "cuda when available in forward": Case(
        """
        def f(x):
            h = torch.zeros(x.size(0), x.size(2), dtype=x.dtype, device=x.device)
            if torch.cuda.is_available():
                h = h.cuda()
            return x.sum(1) + h
        """,
        made_with=None,
        rule="device",
        line="cuda",
    ),
    "current device number": Case(
        """
        def f(x):
            d = torch.device('cuda', torch.cuda.current_device()) if x.is_cuda else 'cpu'
            return x + torch.zeros(x.size(-1), dtype=x.dtype, device=d)
        """,
        made_with=None,
        rule="device",
    ),
    "pick by availability in forward": Case(
        """
        def f(x):
            d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
            return x + torch.zeros(x.size(-1), dtype=x.dtype, device=d)
        """,
        made_with=None,
        rule="device",
    ),
    "integer ordinal": Case(
        """
        def f(x):
            d = 0 if x.is_cuda else 'cpu'
            return x + torch.zeros(x.size(-1), dtype=x.dtype, device=0 if x.is_cuda else 'cpu')
        """,
        made_with=None,
        rule="device",
        line="device=0",
    ),
    "slice by an argmax": Case(
        """
        def f(e):
            k = e[0].mean(-1).argmax()
            return e[:, k:].sum(1)
        """,
        inputs="e",
        made_with=None,
        rule="device",
        line="k",
    ),
    "converge by allclose": Case(
        """
        def f(h):
            for _ in range(5):
                new = torch.tanh(h * 0.5)
                if torch.allclose(new, h, atol=1e-3):
                    break
                h = new
            return h
        """,
        inputs="h",
        made_with=None,
        rule="device",
        line="allclose",
    ),
    "script function with a fresh cpu tensor": Case(
        """
        @torch.jit.script
        def step(x):
            w = torch.ones([3], dtype=x.dtype)
            return x * w
        def f(x):
            return step(x)
        """,
        made_with=None,
        rule="device",
    ),
    "torch function mode free vmap closure": Case(
        """
        def f(x):
            w = torch.ones(x.size(-1), dtype=x.dtype)
            return torch.vmap(lambda row: row * w)(x)
        """,
        made_with=None,
        rule="device",
    ),
    "lru cache of shape only": Case(
        """
        from functools import lru_cache
        @lru_cache
        def positions(T, D):
            return torch.arange(T * D).reshape(T, D) / (T * D)
        def f(x):
            return x + positions(x.size(1), x.size(2)).to(x.dtype)
        """,
        made_with=None,
        rule="device",
    ),
    "categorical sample cpu probabilities": Case(
        """
        def f(h):
            torch.manual_seed(0)
            k = torch.multinomial(h.softmax(-1).cpu(), 1)
            return h.gather(1, k.to(h.device))
        """,
        inputs="h",
        made_with=None,
        rule="device",
        line="cpu",
    ),
    "masked lengths weight division": Case(
        """
        def f(x, lengths):
            keep = torch.arange(x.size(1), device=x.device)[None] < lengths[:, None]
            w = keep / lengths[:, None]
            return torch.einsum('bt,btd->bd', w, x)
        """,
        inputs="x lengths",
        made_with=None,
        rule="dtype",
    ),
    "scalar tensor times ids": Case(
        """
        def f(ids, x):
            return x * (torch.tensor(0.5) * ids).unsqueeze(-1)
        """,
        inputs="ids x",
        made_with=None,
        rule="dtype",
    ),
    "max of python over tensors": Case(
        """
        def f(x):
            best = max(x[:, t].mean() for t in range(x.size(1)))
            return x - best
        """,
        made_with=None,
        rule="device",
    ),
    "numpy tril": Case(
        """
        import numpy as np
        def f(e):
            m = torch.from_numpy(np.tril(np.ones((e.size(1), e.size(1)), dtype=bool)))
            return (e @ e.mT).masked_fill(~m, 0.0)
        """,
        inputs="e",
        made_with=None,
        rule="device",
        line="from_numpy",
    ),
    "lr from a tensor in training": Case(
        """
        def f(x, y):
            w = torch.zeros(x.size(-1), y.size(-1), device=x.device, dtype=x.dtype, requires_grad=True)
            with torch.enable_grad():
                loss = F.mse_loss(x.detach() @ w, y.detach())
                (g,) = torch.autograd.grad(loss, w)
            return (w - 0.1 / (1.0 + loss.item()) * g).detach()
        """,
        inputs="x y",
        made_with=None,
        rule="device",
        line="item",
    ),
}
