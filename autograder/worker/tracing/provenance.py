"""Says which of the student's lines made a tensor, and what the student calls it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from types import FrameType
from typing import Any

import torch
from torch import nn

from autograder.protocol.events import Line
from autograder.worker.tracing.lines import assignment_of, is_student_file, line_at, student_frame
from autograder.worker.tracing.modes import tensors_of

# Between a student's line and the tensor it works on there are only these of torch's own files.
_GLUE = (
    "/torch/_tensor.py",
    "/torch/_ops.py",
    "/torch/overrides.py",
    "/torch/functional.py",
    "/torch/_jit_internal.py",
    "/torch/nn/modules/module.py",
    "/torch/nn/utils/rnn.py",
    "/torch/utils/_python_dispatch.py",
    "/torch/utils/_contextlib.py",
    "/autograder/protocol/values.py",
)
_OURS = ("/autograder/worker/portability/", "/autograder/worker/tracing/")
"""The rooms of what looks on: between a student's line and a tensor they are nobody."""


@cache
def _is_glue(filename: str) -> bool:
    path = filename.replace("\\", "/")
    return path.endswith(_GLUE) or any(room in path for room in _OURS)


def called_by_student() -> bool:
    """Return whether the student's own line asked for the work under way, not torch's Python code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_glue(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and is_student_file(frame.f_code.co_filename)


class Origins:
    """The lines that made tensors, by the memory that the tensors lie in; views are of one origin."""

    def __init__(self) -> None:
        self._lines: dict[int, tuple[str, int]] = {}
        self._kept: list[torch.Tensor] = []  # memory that is let go would be handed out a second time
        self._begun = 0
        self._made_of: set[int] = set()
        """The memory of tensors that the call made of such as were there before it."""
        self.calling = False
        """True while the call is being made: the module has its constructor behind it."""

    def note(self, made: torch.Tensor, given: Sequence[Any] = ()) -> None:
        """Remember the running line as the one that made a tensor, unless it comes from known tensors.

        `given` are the arguments that it was made from.
        """
        memory = memory_of(made)
        if memory in self._lines:
            return
        sources = tensors_of(given)
        source = next((each for each in sources if self._find(each)), None)
        where = self._find(source) if source is not None else None
        if source is not None and self.calling and not self.in_call(source):
            self._made_of.add(memory)
        if where is None:
            frame = student_frame()
            if frame is None:
                return
            named = (name_of(source, frame) for source in sources if source.dim() > 0)
            lines = (assignment_of(name, frame) for name in named if name)
            where = next((line for line in lines if line), (frame.f_code.co_filename, frame.f_lineno))
        self._lines[memory] = where
        self._kept.append(made)

    def begun(self) -> None:
        """Mark the beginning of the call: every tensor made from now on is made in it."""
        self._begun, self.calling = len(self._lines), True

    def in_call(self, tensor: torch.Tensor) -> bool:
        """Return whether the call itself made a tensor, not the module's constructor nor somebody before.

        What is only put together from such tensors was not made by the call either.
        """
        memory = memory_of(tensor)
        return memory not in self._made_of and memory in list(self._lines)[self._begun :]

    def line(self, tensor: torch.Tensor) -> Line | None:
        """Return the student's line that made a tensor, if it was seen being made."""
        found = self._find(tensor)
        return line_at(*found) if found is not None else None

    def _find(self, tensor: torch.Tensor) -> tuple[str, int] | None:
        return self._lines.get(memory_of(tensor))


def name_of(tensor: torch.Tensor, frame: FrameType | None) -> str:
    """Return the name that the student's running code has for a tensor, as `self.mask`, or `""`."""
    if frame is None:
        return ""
    memory = memory_of(tensor)
    holder = frame.f_locals.get("self")
    if isinstance(holder, nn.Module):
        kinds = type(holder).__mro__[: type(holder).__mro__.index(nn.Module)]
        held = [item for owner in (holder, *kinds) for item in list(vars(owner).items())]
        for name, value in held:
            if not name.startswith("_") and any(memory_of(item) == memory for item in _held(value)):
                return f"self.{name}"
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if isinstance(value, torch.Tensor) and not name.startswith("_") and memory_of(value) == memory:
                return name
    return ""


def _held(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, nn.Module):  # not a registered one: those are in `_modules`
        return [*value.parameters(), *value.buffers()]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _held(item)]
    return []


def memory_of(tensor: torch.Tensor) -> int:
    """Return what all views of a tensor's memory have in common; of a tensor without any, itself."""
    try:
        address = tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        address = 0
    return address or -id(tensor)
