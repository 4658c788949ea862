"""Dtypes during a call: which operation rounds, which tensor has another one, which line made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from autograder.protocol.events import Event, Line
from autograder.protocol.values import Keywords
from autograder.worker.tracing.lines import line_of, student_frame
from autograder.worker.tracing.modes import Events, Watching, tensors_of
from autograder.worker.tracing.provenance import Origins, memory_of, name_of
from autograder.worker.tracing.schema import schema_of

_CAST = torch.ops.aten._to_copy.default
_EPS = {
    dtype: torch.finfo(dtype).eps
    for dtype in (
        torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.complex128, torch.complex64
    )
}  # fmt: skip
"""Bits of precision of the dtypes that hold numbers, and not whole ones."""


class CpuLog(Watching):
    """Watches one call on the CPU and writes down `events`; places.py enters it."""

    sees_making = False
    """True if it is there from the start, when the module is made; else it sees the call alone."""

    def __init__(self) -> None:
        super().__init__()
        self.events = Events()

    def given(self, tensors: Iterable[torch.Tensor]) -> None:
        """Hear what the call is made with, its modules' tensors included: it begins."""

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        """Take note of the call's results."""


class CoarserLog(CpuLog):
    """Notes that a call had to do with tensors coarser than the dtype: `kind` is `coarser`.

    Whether anything that is returned went through one is for `DtypeLog` to find out, which takes three times
    as long as the call.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._coarser = frozenset(other for other, eps in _EPS.items() if eps > _EPS[dtype])

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        # One event says all; whoever reads it has the call made again.
        if not self.events and any(t.dtype in self._coarser for t in tensors_of((made, *args))):
            self.events.note(Event("coarser"))
        return made


class DtypeLog(CpuLog):
    """Notes where floating tensors of the dtype meet those of another, and results that were rounded.

    `events` are plain data. Their `kind` is `dtype` (two dtypes meet), `cast` (numbers that go back to the
    arguments are taken to another dtype) or `rounded` (what is returned went through a coarser one).
    """

    sees_making = True  # else it would not know which line made a tensor that the module holds

    def __init__(self, origins: Origins, dtype: torch.dtype) -> None:
        super().__init__()
        self._origins, self._dtype = origins, dtype
        self._rounded: dict[int, Line | None] | None = None
        """By memory, for all that depends on the arguments: the line that rounded it, if one did."""
        self._kept: list[torch.Tensor] = []  # memory that is let go would be handed out a second time

    def given(self, tensors: Iterable[torch.Tensor]) -> None:
        """Begin to note events.

        All that does not come from these is constant. A constant written down in float32 is rounded as well,
        and no fault.
        """
        self._rounded = {memory_of(tensor): None for tensor in tensors if tensor.dtype in _EPS}

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        for result in results:
            line = (self._rounded or {}).get(memory_of(result)) if result.dtype in _EPS else None
            if line:
                self.events.note(Event("rounded", line=line))

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = [value for value in tensors_of((*args, *kwargs.values())) if value.dtype in _EPS]
        floating = [value for value in given if value.dim() > 0 and value.is_floating_point()]
        mixed = len({value.dtype for value in floating}) > 1
        if mixed:
            stray = next((value for value in floating if value.dtype is not self._dtype), floating[0])
            self._event("dtype", func, stray.dtype, stray)
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor) and made.is_floating_point():
            # A cast makes something new; the rest of an expression is as old as what goes into it.
            kept = [] if func is _CAST else [value for value in floating if value.dtype is made.dtype]
            self._origins.note(made, kept)
        form = schema_of(func)
        if self._rounded is not None and not form.shape_only:
            written = [args[n] if n < len(args) else kwargs.get(name) for n, name in form.written]
            self._follow(func, given, [*tensors_of([made]), *tensors_of(written)], mixed)
        return made

    def _follow(
        self, func: Any, given: Sequence[torch.Tensor], made: Sequence[torch.Tensor], mixed: bool
    ) -> None:
        """Carry over to the results what is known of the arguments, and note whether they are coarser."""
        assert self._rounded is not None
        before: Line | None = None
        finest, dtype = 1.0, None
        for value in given:
            if memory_of(value) not in self._rounded:
                continue
            line = self._rounded[memory_of(value)]
            before, finest, dtype = before or line, min(finest, _EPS[value.dtype]), dtype or value.dtype
        if dtype is None:
            return
        for result in made:
            if result.dtype not in _EPS:
                continue
            line = before
            if not line and _EPS[result.dtype] > finest:
                line = line_of(student_frame())
            if not mixed and result.dtype is not dtype and result.is_floating_point():
                self._event("cast", func, result.dtype)
            memory = memory_of(result)
            if line or memory not in self._rounded:
                self._rounded[memory] = line
                self._kept.append(result)

    def _event(self, kind: str, func: Any, dtype: torch.dtype, stray: torch.Tensor | None = None) -> None:
        frame = student_frame()
        if frame is None or self._rounded is None:
            return
        event = Event(
            kind=kind,
            operation=func._schema.name.removeprefix("aten::"),
            line=line_of(frame),
            made=self._origins.line(stray) if stray is not None else None,
            name=name_of(stray, frame) if stray is not None else "",
            held=stray is not None and not self._origins.in_call(stray),
            dtype=str(dtype).removeprefix("torch."),
        )
        self.events.note(event)
