"""Numbers that Python reads, which costs nothing."""

from tests.devices import Case
from tests.devices.writing import calls, linear, lstm, makes

_STEPS = "outputs.append(h)"


def _looks(line: str, before: str = "") -> Case:
    """A module that is right, with one more line over its result, `out`, and its input."""
    return Case(before + linear("out", before=f"out = self.fc(x); {line}"))


FREE = {
    "asserts that all is finite": _looks("assert torch.isfinite(out).all()"),
    "asserts with item": calls("assert x.isfinite().all().item()\nreturn x.tanh()"),
    "asserts by numpy": _looks(
        "assert not np.isnan(out.detach().cpu().double().numpy()).any()", "import numpy as np"
    ),
    "raises at nan": calls("if torch.isnan(x).any(): raise ValueError('nan')\nreturn x * 1"),
    "raises in a helper": calls(
        "finite(x)\nreturn x * 1",
        before="def finite(t):\n    if not bool(torch.isfinite(t).all()):\n        raise ValueError(t.shape)",
    ),
    "raises with a tensor": calls("if x.isnan().any(): raise ArithmeticError(x)\nreturn x * 1"),
    "warns of large numbers": calls(
        "if x.detach().abs().max().item() > 5.0:\n    warnings.warn('large')\nreturn x * 2",
        before="import warnings",
    ),
    "cleans what is finite anyway": calls("if x.isnan().any():\n    x = torch.nan_to_num(x)\nreturn x * 2"),
    "prints a mean": _looks("print(out.mean().item())"),
    "prints a logarithm": _looks("print(math.log(out.detach().abs().mean()))", "import math"),
    "prints a list": _looks("print(out.tolist())"),
    "prints the tensor": _looks("print(out, f'{out.mean():.3f}')"),
    "prints from the CPU": _looks("print(out.detach().cpu())"),
    "prints numpy's": _looks("print(out.detach().cpu().float().numpy())"),
    "prints numpy's without asking": _looks("print(out.detach().numpy())"),
    "prints numpy's by force": _looks("print(out.numpy(force=True))"),
    "prints in every step": Case(lstm(keep=f"{_STEPS}; print(float(h.norm()), c.max().item())")),
    "kept for later on the CPU": _looks("self.last = out.detach().cpu()"),
    "kept in a buffer on the CPU": Case(
        lstm(before="outputs, norms = [], torch.zeros(5)", keep=f"{_STEPS}; norms[t] = h.detach().norm()")
    ),
    "shown in a message": Case(lstm(keep=_STEPS + "; self.log = f'{h.abs().max().item():.3f}'")),
    "norms of gradients": makes(
        "self.lin, self.norms = nn.Linear(D, H), []",
        """
y = self.lin(x)
if y.requires_grad:
    y.register_hook(lambda g: self.norms.append(g.norm().item()))
return y.tanh()
""",
    ),
    "three guards and two prints": calls(
        """
assert x.isfinite().all()
if x.detach().abs().max() > 1e3: raise ValueError('too large')
assert torch.equal(x, x * 1)
print(x.mean().item(), x.detach().cpu())
print(x.std().tolist())
return x * 2
"""
    ),
    "rebuilt from a list": calls("return torch.tensor(x.tolist(), device=x.device, dtype=x.dtype) + 0 * x"),
    "a branch": calls("return x * 2 if x.detach().sum() > 0 else x * 2 + 0"),
    "a loop until it is small": calls(
        "y = x\nwhile y.detach().norm().item() > 0.1:\n    y = y / 2\nreturn y"
    ),
}
