"""Where a call leaves the dtype that it was made in: what has another one, and which line made it."""

from __future__ import annotations

from typing import Any

import torch

from autograder.worker.origins import Origins, called_by_student, line_of, name_of, student_frame
from autograder.worker.watching import Events, Watching

_CAST = torch.ops.aten._to_copy.default


class DtypeLog(Watching):
    """Notes the calls in which floating tensors of the dtype meet those of another, and those that round.

    `events` are plain data, `kind` being `dtype` (two dtypes meet) or `rounded` (a coarser one is taken).
    """

    def __init__(self, origins: Origins, dtype: torch.dtype) -> None:
        super().__init__()
        self.events = Events()
        self._origins, self._dtype = origins, dtype

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = _tensors(args)
        floating = [value for value in given if value.is_floating_point() and value.dim() > 0]
        kinds = {value.dtype for value in floating}
        if len(kinds) > 1:
            stray = next((value for value in floating if value.dtype is not self._dtype), floating[0])
            self._event("dtype", func, stray)
        wanted = kwargs.get("dtype")
        if func is _CAST and wanted is not None and floating and _coarser(wanted, self._dtype):
            self._event("rounded", func, None)
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor) and made.is_floating_point():
            # A cast makes something new; the rest of an expression is as old as what goes into it.
            kept = [] if func is _CAST else [value for value in floating if value.dtype is made.dtype]
            self._origins.note([made], kept)
        return made

    def _event(self, kind: str, func: Any, stray: torch.Tensor | None) -> None:
        frame = student_frame()
        if frame is None:
            return
        if kind == "rounded" and not called_by_student():
            return
        told = {
            "kind": kind,
            "operation": func._schema.name.removeprefix("aten::"),
            "line": line_of(frame),
            "made": self._origins.line(stray) if stray is not None else "",
            "name": name_of(stray, frame) if stray is not None else "",
            "dtype": str(stray.dtype).removeprefix("torch.") if stray is not None else "",
        }
        self.events.note(told)


def _coarser(one: torch.dtype, other: torch.dtype) -> bool:
    return one.is_floating_point and torch.finfo(one).eps > torch.finfo(other).eps


def _tensors(args: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for arg in args:
        if isinstance(arg, torch.Tensor):
            found.append(arg)
        elif type(arg) in (list, tuple):
            found += _tensors(arg)
    return found
