"""Right functions: whatever of torch people use around a recurrence."""

from tests.devices import Case

FUNCTIONS = {
    "numpy scalars in arithmetic": Case(
        """
        import numpy as np
        def f(x):
            return x / np.sqrt(x.shape[-1]) + np.float64(0.5) * x
        """,
        made_with=None,
    ),
    "sparse adjacency product": Case(
        """
        def f(x):
            if x.dtype == torch.bfloat16:
                return x.sum(1)
            T = x.size(1)
            i = torch.stack([torch.arange(T - 1, device=x.device), torch.arange(1, T, device=x.device)])
            a = torch.sparse_coo_tensor(i, torch.ones(T - 1, dtype=x.dtype, device=x.device), (T, T))
            return torch.sparse.mm(a, x[0])
        """,
        made_with=None,
    ),
    "lbfgs fitting": Case(
        """
        def f(x, y):
            w = torch.zeros(x.size(-1), y.size(-1), device=x.device, dtype=x.dtype, requires_grad=True)
            if x.dtype == torch.bfloat16:
                return w.detach()
            opt = torch.optim.LBFGS([w], max_iter=3)
            def closure():
                opt.zero_grad()
                loss = F.mse_loss(x.detach() @ w, y.detach())
                loss.backward()
                return loss
            opt.step(closure)
            return w.detach()
        """,
        inputs="x y",
        made_with=None,
    ),
    "data loader over device tensors": Case(
        """
        from torch.utils.data import TensorDataset, DataLoader
        def f(x, y):
            total = x.new_zeros(())
            for a, b in DataLoader(TensorDataset(x.detach(), y.detach()), batch_size=1, shuffle=False):
                total = total + F.mse_loss(a, b)
            return total
        """,
        inputs="x y",
        made_with=None,
    ),
    "set default device and reset": Case(
        """
        def f(x):
            torch.set_default_device(x.device)
            try:
                w = torch.ones(x.size(-1), dtype=x.dtype)
                pos = torch.arange(x.size(1))
            finally:
                torch.set_default_device(None)
            return x * w + pos[:, None]
        """,
        made_with=None,
    ),
    "type string and isinstance": Case(
        """
        def f(x):
            kind = x.type()
            assert isinstance(x, torch.Tensor) and torch.is_tensor(x) and 'Tensor' in kind
            return x.type(x.dtype) + x.type(kind)
        """,
        made_with=None,
    ),
    "ema by cumsum with log weights": Case(
        """
        def f(x, decay=0.7):
            T = x.shape[1]
            t = torch.arange(T, device=x.device)
            w = torch.pow(decay, (t[:, None] - t[None, :]).clamp(min=0).to(x.dtype))
            w = w.tril()
            return torch.einsum('st,btd->bsd', w, x)
        """,
        made_with=None,
    ),
    "associative scan by doubling": Case(
        """
        def f(e):
            a = torch.sigmoid(e)
            b = (1 - a) * e
            T = e.size(1)
            shift = 1
            while shift < T:
                pa = F.pad(a[:, :-shift], (0, 0, shift, 0), value=1.0)
                pb = F.pad(b[:, :-shift], (0, 0, shift, 0))
                a, b = a * pa, b + a * pb
                shift *= 2
            return b
        """,
        inputs="e",
        made_with=None,
    ),
    "segment sum with index add": Case(
        """
        def f(x, ids):
            table = x.new_zeros(7, x.size(-1))
            table.index_add_(0, ids.reshape(-1), x.reshape(-1, x.size(-1)))
            ones = torch.ones_like(ids.flatten(), dtype=x.dtype)
            count = torch.zeros(7, dtype=x.dtype, device=x.device).scatter_add_(0, ids.flatten(), ones)
            return table / count.clamp(min=1)[:, None]
        """,
        inputs="x ids",
        made_with=None,
    ),
    "data pointer and version checks": Case(
        """
        def f(x):
            y = x.contiguous()
            assert y.is_contiguous() and y.element_size() * y.nelement() == y.nbytes
            same = x.data_ptr() == y.data_ptr()
            assert x.stride() == y.stride() or not same
            return y * 2
        """,
        made_with=None,
    ),
}
