"""Where a call leaves the dtype that it was made in: what rounds, what has another, which line made it."""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from autograder.worker.origins import Origins, called_by_student, line_of, name_of, student_frame
from autograder.worker.watching import Events, Watching

_CAST = torch.ops.aten._to_copy.default


class RoundingLog(Watching):
    """Notes the student's casts to a coarser dtype. `events` are plain data, `kind` being `rounded`."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.events = Events()
        self._dtype = dtype

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is _CAST:
            self._note_rounding(args[0], kwargs.get("dtype"))
        return func(*args, **kwargs)

    def _note_rounding(self, given: torch.Tensor, wanted: torch.dtype | None) -> None:
        if wanted is None or not given.is_floating_point() or given.dim() == 0:
            return
        if _coarser(wanted, self._dtype) and called_by_student():
            self.events.note(_told("rounded", _CAST, student_frame()))


class DtypeLog(RoundingLog):
    """Notes besides the calls in which floating tensors of the dtype meet others: `kind` is then `dtype`.

    It remembers which line made each tensor, which takes three times as long as the call itself.
    """

    def __init__(self, origins: Origins, dtype: torch.dtype) -> None:
        super().__init__(dtype)
        self._origins = origins

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = _tensors(args)
        floating = [value for value in given if value.is_floating_point() and value.dim() > 0]
        kinds = {value.dtype for value in floating}
        if len(kinds) > 1:
            stray = next((value for value in floating if value.dtype is not self._dtype), floating[0])
            frame = student_frame()
            if frame is not None:
                self.events.note(_told("dtype", func, frame) | self._described(stray, frame))
        if func is _CAST:
            self._note_rounding(args[0], kwargs.get("dtype"))
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor) and made.is_floating_point():
            # A cast makes something new; the rest of an expression is as old as what goes into it.
            kept = [] if func is _CAST else [value for value in floating if value.dtype is made.dtype]
            self._origins.note([made], kept)
        return made

    def _described(self, stray: torch.Tensor, frame: FrameType) -> dict[str, str]:
        return {
            "made": self._origins.line(stray),
            "name": name_of(stray, frame),
            "dtype": str(stray.dtype).removeprefix("torch."),
        }


def _told(kind: str, func: Any, frame: FrameType | None) -> dict[str, str]:
    operation = func._schema.name.removeprefix("aten::")
    return {"kind": kind, "operation": operation, "line": line_of(frame), "made": "", "name": "", "dtype": ""}


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
