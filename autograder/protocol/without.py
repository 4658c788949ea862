"""Parts of torch that a worker is to be without: how a check says it, and how it travels."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Without:
    """Parts of torch that do not work where a task is judged.

    `operators` is a pattern that is searched in names such as `aten::conv2d`. `code` has pairs of a file, as
    `torch/nn/modules/conv.py`, and a pattern that matches the whole qualified name of what does not work of
    it; a worker cannot read such a file. `say` is told to whoever calls one of them. With `graphs` a worker
    records no graph either, so that no road leads to a gradient. It is for `@without` and a specification's
    `forbidden`. Raises `ValueError` for a pattern that is none.

        FILE = ("torch/nn/modules/conv.py", "Conv[123]d[.]forward")
        CONVOLUTIONS = Without(operators="conv|unfold", code=(FILE,), say="Write the sums yourself.")
    """

    operators: str
    code: tuple[tuple[str, str], ...] = ()
    say: str = ""
    graphs: bool = False

    def __post_init__(self) -> None:
        for pattern in (self.operators, *(names for _, names in self.code)):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no pattern of Python's `re`: {error}") from error
