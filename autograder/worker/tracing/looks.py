"""Answers looks at numbers otherwise than they are, to see whether what a call returns depends on them.

    otherwise = Otherwise(way=1, lines=[Line(7, "if h.mean() > 0:")])
    otherwise.answer(numbers, Line(7, "if h.mean() > 0:"))

A `print` or an `assert` reads numbers, and so does `h / h.norm().item()`. What tells them apart is not how
they are written but whether the call returns something else when they are told something else.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from autograder.protocol.events import Event, Line
from autograder.worker.tracing.modes import Events, unwatched
from autograder.worker.tracing.provenance import is_student_file, line_of, student_frame

_MOST = 100
"""Answers in one call that are not true. After them a loop that waits for a number ends as it would."""
_RAISE = dis.opmap["RAISE_VARARGS"]
_Numpy = (torch.Tensor.numpy, torch.Tensor.__array__)


class Otherwise:
    """One way to answer looks, at some of the student's lines or, with `None`, at all of them."""

    def __init__(self, way: int, lines: Sequence[Line | None] | None) -> None:
        self._way, self._lines = way, None if lines is None else frozenset(lines)
        self._asked = 0
        self.events = Events()
        """The lines that were answered otherwise; the kind is `told`."""

    def answer(self, numbers: torch.Tensor, line: Line | None) -> torch.Tensor:
        """Return what a look at a line gets to see: a tensor of the same shape and dtype."""
        if self._way < 0 or (self._lines is not None and line not in self._lines) or self._asked == _MOST:
            return numbers
        self._asked += 1
        with unwatched(), torch.no_grad():
            found = altered(numbers, self._way, self._asked)
            if torch.equal(found, numbers):
                return numbers
        self.events.note(Event("told", line=line))
        return found

    def shaping(self, numbers: torch.Tensor, line: Line | None) -> torch.Tensor:
        """Answer a look at numbers of which it only counts which are zero."""
        with unwatched(), torch.no_grad():
            truths = numbers != 0
            found = self.answer(truths, line)
            return numbers if found is truths else found.to(numbers.dtype)


def altered(numbers: torch.Tensor, way: int, time: int = 1) -> torch.Tensor:
    """Numbers of which each is another one, as far as there is another; `time` counts the looks."""
    zero = numbers == 0
    if numbers.dtype is torch.bool:
        # Of several truths in one condition, either may decide.
        either = (zero, numbers)[time % 2 == way % 2]
        return (zero, torch.zeros_like(zero), torch.ones_like(zero), either, either)[way]
    if way == 4:
        return torch.where(zero, 1, 0).to(numbers.dtype)
    if not (numbers.is_floating_point() or numbers.is_complex()):
        # Not far away at first: a number may say where to look something up, or how often to go on.
        less = torch.where(numbers > 0, numbers - 1, numbers + 2)
        return (less, -numbers - 1, numbers + 1, numbers + 1000)[way]
    match way:
        case 0 if numbers.dim() and numbers.shape[-1] > 1:
            return numbers.roll(1, -1)  # probabilities are still some
        case 0:
            return torch.where(zero, -1e3, numbers / 1e3).to(numbers.dtype)
        case 1:
            return torch.where(zero, 1.0, -numbers).to(numbers.dtype)
        case 2:
            return torch.where(zero, 1e6, numbers * 1e6).to(numbers.dtype)
        case _:  # NOT_A_NUMBER
            return torch.full_like(numbers, torch.nan)


def is_guard(error: BaseException) -> bool:
    """Return whether the student's code raised this itself, as guards do; what torch raises is no guard's."""
    if isinstance(error, (AssertionError, SystemExit)):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_student_file(trace.tb_frame.f_code.co_filename):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


class ForNumpy(TorchFunctionMode):
    """Hands numpy the tensors that it cannot take: those of a dtype it does not have, or of a GPU."""

    def __init__(self, otherwise: Otherwise, events: Events | None = None) -> None:
        super().__init__()
        self._otherwise = otherwise
        self._events = Events() if events is None else events

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensor = args[0] if args else None
        if (
            func not in _Numpy
            or not isinstance(tensor, torch.Tensor)
            or (tensor.requires_grad and not (kwargs or {}).get("force"))  # which torch refuses anywhere
            or (tensor.is_cpu and tensor.dtype is not torch.bfloat16)
        ):
            return func(*args, **(kwargs or {}))
        line = line_of(student_frame())
        self._events.note(Event("numpy", "numpy", line))
        plain = tensor.detach().cpu()
        plain = plain.float() if plain.dtype is torch.bfloat16 else plain
        return func(self._otherwise.answer(plain, line), *args[1:], **(kwargs or {}))
