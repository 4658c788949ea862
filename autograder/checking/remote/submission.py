"""A student's objects by name, wherever they live.

`submission.rnn_cell(x, h, …)` calls the student's function and returns plain data. In a
notebook the objects are next door; when grading they are behind the wall, and only tensors,
numbers and text ever come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from autograder.checking.remote.connection import Connection, Perform
from autograder.checking.remote.errors import StudentError
from autograder.checking.remote.handle import Handle, outgoing
from autograder.protocol.messages import Construct, Target, WithoutConstructor
from autograder.protocol.tensors import NAMES
from autograder.protocol.without import Without


class Submission:
    """A student's objects by name: `submission.gru_cell` is the function, ready to be called.

    A check gets it as `submission`. Nothing is asked before a call; of a name that the student has not
    defined, that raises `StudentError`.

        h_next = submission.gru_cell(x, h)
        layer = draw.module(nn.Linear, sizes.D, sizes.H)
        given = submission.given("Linear", sizes.D, sizes.H, state=layer.state_dict())
        y = submission.residual(x, given)
    """

    def __init__(
        self,
        perform: Perform,
        sources: Mapping[str, str] | None = None,
        cell_errors: Mapping[str, StudentError] | None = None,
        *,
        on_gpu: bool = False,
        without: Without | None = None,
    ) -> None:
        self.connection = Connection(perform, on_gpu=on_gpu)
        self.without = without
        """The parts of torch that do not work in the objects' process."""
        self.sources: Mapping[str, str] = sources or {}
        """The student's cells as they were read on the trusted side, in order, by task or name."""
        self.cell_errors: Mapping[str, StudentError] = cell_errors or {}
        """The exceptions that stopped solution cells, by task."""

    def __getattr__(self, name: str) -> Handle:
        if name.startswith("__"):
            raise AttributeError(name)
        return Handle(self.connection, Target(name))

    def given(
        self,
        name: str,
        *args: Any,
        source: str | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        dtype: torch.dtype | None = torch.float64,
        **kwargs: Any,
    ) -> Handle:
        """Return a handle to what a task is given: `nn.<name>`, or what `source` defines by that name.

        It is there with the next request, made with the arguments, filled with `state` (parameters by name)
        and converted to `dtype` (`None` leaves it as it is). A source need not import `torch`, `nn` and `F`.
        It asks `contents` for what tensors and modules hold, whatever the student's code put in the place of
        torch's methods: `parameters_of(module)`, `numbers_of(tensor)`, `address_of(tensor)`,
        `has_graph(tensor)` and `asks_for_gradients(tensor)`; `contents.fill(tensor, number)` writes.
        """
        number = self.connection.new_number()
        parts = None
        if self.without is not None and source is None and state is not None:
            parts = _without_constructor(name, args, tuple(kwargs.items()))
        message = Construct(
            name=name,
            number=number,
            args=outgoing(args),
            kwargs=outgoing(kwargs),
            dtype=NAMES[dtype] if dtype is not None else None,
            default_dtype="float64",
            source=source,
            state=outgoing(dict(state)) if state is not None else None,
            assembled=parts,
        )
        self.connection.defer(message)
        self.connection.name(number, name)
        return Handle(self.connection, Target(number=number), name)


@lru_cache(maxsize=64)
def _without_constructor(
    name: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]
) -> WithoutConstructor:
    """Return what one of torch's modules keeps, to make it without its constructor."""
    module: nn.Module = getattr(nn, name)(*args, **dict(kwargs), device="meta")
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    kept = {name: value for name, value in vars(module).items() if name not in vars(nn.Module())}
    lists = {
        name: [names[id(each)] for each in value]
        for name, value in kept.items()
        if isinstance(value, list) and value and all(id(each) in names for each in value)
    }
    plain = {name: value for name, value in kept.items() if _is_plain(value)}
    absent = [name for name, value in module._parameters.items() if value is None]
    return WithoutConstructor(plain, lists, absent)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, (str, bool, int, float))
