"""Short ways to write the corpus: a function by its body, a module by its methods or around a given layer."""

from __future__ import annotations

from typing import Any

from tests.devices import Case


def calls(body: str, args: str = "x", *, inputs: str = "", before: str = "", **more: Any) -> Case:
    """A function `f`; its arguments' names say what it is called with, unless `inputs` does."""
    lines = [f"    {line}" for line in body.strip().splitlines()]
    source = "\n".join([before.strip(), f"def f({args}):", *lines, ""])
    return Case(source, inputs=inputs or args.replace(",", ""), made_with=None, **more)


def makes(
    init: str, forward: str, args: str = "x", *, inputs: str = "", before: str = "", **more: Any
) -> Case:
    """A module by the lines of its constructor and of its `forward`."""
    lines = [before.strip(), "class Model(nn.Module):", "    def __init__(self, D, H):"]
    lines += [f"        {line}" for line in ["super().__init__()", *init.strip().splitlines()]]
    lines += [f"    def forward(self, {args}):"]
    lines += [f"        {line}" for line in forward.strip().splitlines()]
    return Case("\n".join([*lines, ""]), inputs=inputs or args.replace(",", ""), **more)


LSTM = """
class Model(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.W_x = nn.Parameter(torch.empty(D, 4 * H))
        self.W_h = nn.Parameter(torch.empty(H, 4 * H))
        self.b = nn.Parameter(torch.zeros(4 * H))
        nn.init.xavier_uniform_(self.W_x)
        nn.init.xavier_uniform_(self.W_h)

    def forward(self, x, state=None):
        B, T, _ = x.shape
        h, c = {state}
        {before}
        for t in range(T):
            i, f, g, o = (x[:, t] @ self.W_x + h @ self.W_h + self.b).chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            {keep}
        return {output}, h, c
"""


def lstm(
    state="(x.new_zeros(B, self.H), x.new_zeros(B, self.H))",
    before="outputs = []",
    keep="outputs.append(h)",
    output="torch.stack(outputs, 1)",
):
    """A layer from scratch with its zero state, its buffer and its result written in the given way."""
    return LSTM.format(state=state, before=before, keep=keep, output=output)


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
