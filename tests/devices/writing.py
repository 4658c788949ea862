"""Short ways to write the corpus: a function by its body, a module by what its two methods do."""

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
