"""Right functions: constants, forward gradients, masks, torch.cuda."""

from tests.devices import Case

FUNCTIONS = {
    "constants in numpy as float32 then cast": Case(
        """
        import numpy as np
        def f(x):
            w = torch.tensor(np.hanning(5), dtype=torch.float32, device=x.device).to(x.dtype)
            return x * w[:, None]
        """,
        made_with=None,
    ),
    "constants from numpy float": Case(
        """
        import numpy as np
        def f(x):
            w = torch.from_numpy(np.hanning(5)).float().to(x)
            return x * w[:, None]
        """,
        made_with=None,
    ),
    "double constants rounded to float": Case(
        """
        def f(x):
            w = torch.arange(5, dtype=torch.float64, device=x.device).mul(-0.1).exp().float().to(x.dtype)
            return x * w[:, None]
        """,
        made_with=None,
    ),
    "random in double rounded": Case(
        """
        def f(x):
            torch.manual_seed(0)
            w = torch.rand(5, dtype=torch.float64).to(device=x.device, dtype=torch.float32)
            return x * w.to(x.dtype)[:, None]
        """,
        made_with=None,
    ),
    "statistics for logging in float32": Case(
        """
        LOG = []
        def f(x):
            LOG.append(x.detach().float().mean())
            return x * 2
        """,
        made_with=None,
    ),
    "ids through float rounding": Case(
        """
        def f(ids, x):
            k = (ids.float() / 2).floor().long()
            return x + k.unsqueeze(-1)
        """,
        inputs="ids x",
        made_with=None,
    ),
    "int only function": Case(
        """
        def f(lengths):
            return (torch.arange(5, device=lengths.device)[None] < lengths[:, None]).float()
        """,
        inputs="lengths",
        made_with=None,
    ),
    "one hot only": Case(
        """
        def f(ids):
            return F.one_hot(ids, 7).float()
        """,
        inputs="ids",
        made_with=None,
    ),
    "mask additive only": Case(
        """
        def f(mask):
            return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, float('-inf'))
        """,
        inputs="mask",
        made_with=None,
    ),
    "jvp of a step": Case(
        """
        from torch.func import jvp, vjp, grad, hessian
        def f(row, h):
            step = lambda s: torch.tanh(s * 0.5 + row.sum(-1, keepdim=True))
            out, tangent = jvp(step, (h,), (torch.ones_like(h),))
            _, pull = vjp(step, h)
            (cot,) = pull(torch.ones_like(out))
            return out, tangent, cot, grad(lambda s: step(s).sum())(h)
        """,
        inputs="row h",
        made_with=None,
    ),
    "hessian functorch": Case(
        """
        def f(row):
            return torch.func.hessian(lambda v: (v.tanh() ** 2).sum())(row)
        """,
        inputs="row",
        made_with=None,
    ),
    "batched gradients": Case(
        """
        def f(row):
            with torch.enable_grad():
                z = row.detach().requires_grad_()
                y = (z ** 2).sum(0)
                eye = torch.eye(y.numel(), dtype=y.dtype, device=y.device)
                return torch.autograd.grad(y, z, eye, is_grads_batched=True)[0]
        """,
        inputs="row",
        made_with=None,
    ),
    "jacobian by jacrev": Case(
        """
        def step(x, h, w):
            return torch.tanh(F.pad(x, (0, 1)) * w + h)
        def f(row, h):
            w = torch.linspace(0.5, 1.5, h.shape[-1], dtype=h.dtype, device=h.device)
            J = torch.func.vmap(torch.func.jacrev(lambda a, b: step(a, b, w), argnums=1))(row, h)
            return J
        """,
        inputs="row h",
        made_with=None,
    ),
    "scores with minus infinity returned": Case(
        """
        def f(e, mask):
            return e.masked_fill(~mask[..., None], -torch.inf)
        """,
        inputs="e mask",
        made_with=None,
    ),
    "zero dim cpu tensors everywhere": Case(
        """
        def f(x):
            zero, half = torch.tensor(0.0), torch.tensor(0.5)
            y = torch.where(x > zero, x, zero.to(x.dtype))
            z = x.clone()
            z[:, 0] = half
            z[x > 1e9] = 0
            return torch.maximum(y, -half), z.masked_fill(x > half, zero), half ** 2 * x
        """,
        made_with=None,
    ),
    "mask assignment by numbers": Case(
        """
        def f(x):
            y = x.clone()
            y[y < 0] = 0
            y[y > 1] = 1.0
            return y
        """,
        made_with=None,
    ),
    "synchronize for timing": Case(
        """
        import time
        def f(x):
            if x.is_cuda:
                torch.cuda.synchronize(x.device)
            start = time.perf_counter()
            y = x.cumsum(1)
            if x.is_cuda:
                torch.cuda.synchronize()
            f.seconds = time.perf_counter() - start
            return y
        """,
        made_with=None,
    ),
    "seeds everywhere": Case(
        """
        def f(x):
            torch.manual_seed(0)
            if torch.cuda.is_available():
                torch.cuda.manual_seed_all(0)
                torch.cuda.empty_cache()
            return x + torch.zeros_like(x)
        """,
        made_with=None,
    ),
}
