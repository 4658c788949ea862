"""A GPU that is not there: tensors that say they lie on `cuda:7` and carry a CPU tensor that does the work.

    with PretendDevice() as gpu:
        module.to(DEVICE)
        answer = gpu.back(module(gpu.wrap(x)))
    gpu.events

What would stop on a GPU stops here, with torch's own words; what a GPU would do slowly or in the wrong
place is written down as an event. Values are those of the CPU, since the CPU computes them.

Two modes do it. Below autograd, `Kernels` (pretend_kernels.py) sees every kernel: it opens the wrappers, runs
the kernel on the CPU and wraps the results. Above it, `Calls` (pretend_calls.py) sees every call that Python
makes: it answers for the name of the device, which torch itself must not try to reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from enum import IntEnum
from types import TracebackType
from typing import Any

import torch
from torch import nn

from autograder.worker.looks import Otherwise, is_guard
from autograder.worker.machine import Machine
from autograder.worker.origins import (
    Origins,
    called_by_student,
    describe_exception,
    line_of,
    line_that_names,
    name_of,
    student_frame,
)
from autograder.worker.plain import swap
from autograder.worker.watching import Events

DEVICE = torch.device("cuda", 7)
"""How students see it. A number that nobody has: `cuda` and `cuda:0` are other devices."""
LABEL = torch.device("lazy", 0)
"""What torch's C++ code takes it for: a kind without kernels that autograd serves on the calling thread."""


class MixedDevices(RuntimeError):
    """What torch raises as a RuntimeError when a call's tensors lie on several devices."""


class HardCoded(RuntimeError):
    """What torch raises when a device is asked for that the machine does not have."""


class Beyond(RuntimeError):
    """What no GPU would raise: a tensor of this device has come where nothing knows what it is."""


class Holds(IntEnum):
    """What a piece of memory holds, by what it was computed from; the most of it counts."""

    LENGTHS = 0
    """Shapes, lengths, ids: integers that were given as such, and what only depends on them."""
    TRUTHS = 1
    """Masks that were given as such: to read one is to wait, to index with one is how masks are used."""
    NUMBERS = 2


class Root:
    """What all views of one piece of memory share."""

    __slots__ = ("holds",)

    def __init__(self, holds: Holds) -> None:
        self.holds = holds


class Pretend(torch.Tensor):
    """A tensor on the pretend device; `numbers` is the CPU tensor that holds its numbers."""

    numbers: torch.Tensor
    root: Root

    @staticmethod
    def __new__(cls, numbers: torch.Tensor, root: Root) -> Pretend:
        if torch.is_inference_mode_enabled():
            # Torch gives a wrapper made in inference mode no version, and then asks for it.
            with torch.inference_mode(False):
                return Pretend(numbers, root)
        made: Pretend = torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            numbers.stride(),
            numbers.storage_offset(),
            dtype=numbers.dtype,
            layout=numbers.layout,
            device=LABEL,
        )
        made.numbers, made.root = numbers, root
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as torch's own do

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares it as a function, and calls it on the class
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise Beyond("a tensor of the pretend device was used after the call, or as one of another class")


class PretendDevice(Machine):
    """The pretend device while one call is looked at. `events` are plain data."""

    def __init__(
        self,
        origins: Origins | None = None,
        names: dict[str, Any] | None = None,
        otherwise: Otherwise | None = None,
    ) -> None:
        from autograder.worker.pretend_calls import Calls
        from autograder.worker.pretend_kernels import Kernels

        self.events = Events()
        self.otherwise = otherwise
        self.origins = origins or Origins()
        self.names = {} if names is None else names
        """Those of the student's notebook, which may have torch's classes under names of its own."""
        self.device = DEVICE
        self.quiet = False
        self.current = False
        """Whether `cuda` without a number means this device, as in `with torch.cuda.device(x.device):`."""
        self._modes = (Kernels(self), Calls(self))
        self._stack = ExitStack()

    def __enter__(self) -> PretendDevice:
        from autograder.worker.pretend_cuda import cuda_of
        from autograder.worker.pretend_names import other_names

        self._stack.enter_context(other_names(self, self.names))
        self._stack.enter_context(cuda_of(self))
        for mode in self._modes:
            self._stack.enter_context(mode)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def wrap(self, tensor: torch.Tensor, root: Root | None = None) -> Pretend:
        """A CPU tensor as one of the pretend device, sharing its memory."""
        if tensor.is_floating_point() or tensor.is_complex():
            holds = Holds.NUMBERS
        else:
            holds = Holds.TRUTHS if tensor.dtype is torch.bool else Holds.LENGTHS
        return Pretend(tensor, root or Root(holds))

    def take(self, parts: Sequence[nn.Module]) -> bool:
        """Wrap a plain module's tensors. They are data, whatever their dtype."""
        return swap(parts, lambda tensor: Pretend(tensor, Root(Holds.NUMBERS)))

    def event(self, kind: str, operation: str, stray: torch.Tensor | None = None) -> str:
        """Write down what happened, with the student's line that made the stray tensor, if there is one.

        Returns the line that is running, `""` where nothing is written down.
        """
        frame = None if self.quiet else student_frame()
        if frame is None:
            return ""
        name = name_of(stray, frame) if stray is not None else ""
        made = self.origins.line(stray) if stray is not None else ""
        told = {
            "kind": kind,
            "operation": operation,
            "line": line_of(frame),
            "made": made or line_that_names(name, frame),
            "name": name,
            "held": "held" if stray is not None and not self.origins.in_call(stray) else "",
        }
        self.events.note(told)
        return told["line"]

    def looked(
        self, numbers: torch.Tensor, operation: str, kind: str, stray: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Note a look at numbers of the device, and return what it gets to see."""
        line = self.event(kind, operation, stray)
        if not line or self.otherwise is None:
            return numbers
        if kind == "shape":
            return self.otherwise.shaping(numbers, line)
        return self.otherwise.answer(numbers, line)

    def read(self, tensor: Pretend, operation: str, kind: str = "sync") -> torch.Tensor:
        """The numbers of a tensor for Python's use: a GPU must be waited for. Lengths may be read so."""
        if tensor.root.holds and called_by_student():
            return self.looked(tensor.numbers, operation, kind)
        return tensor.numbers

    def shaped_by(self, tensor: Pretend, operation: str) -> torch.Tensor:
        """The numbers that the shape of a result depends on: a GPU must be waited for, too."""
        if tensor.root.holds is Holds.NUMBERS and called_by_student():
            return self.looked(tensor.numbers, operation, "shape")
        return tensor.numbers

    def mixed(self, operation: str, stray: torch.Tensor, onto: str = "") -> MixedDevices:
        """The exception for a call whose tensors lie on several devices; `stray` does not fit."""
        self.event("mixed", operation, stray)
        return MixedDevices(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{DEVICE} and cpu!{onto}"
        )

    def stopped(self, error: BaseException) -> None:
        """Note that a call has ended at the limits of what is pretended, if it has: no student's fault."""
        told = describe_exception(error)[
            "message"
        ]  # an error's text may hold tensors that cannot be read now
        if is_guard(error):  # whatever the student's code says when it raises: it was no limit
            self.events.note({"kind": "guard"})
        elif isinstance(error, Beyond) or "from the 'Lazy' backend" in told:
            self.events.note({"kind": "beyond", "operation": told[:200]})

    def place_of(self, device: Any) -> torch.device:
        """The device as torch's C++ code is to take it; any other than this one and the CPU is hard-coded."""
        if type(device) is int:
            device = torch.device("cuda", device)
        device = torch.device(device)
        if device == DEVICE or (self.current and device == torch.device("cuda")):
            return LABEL
        if device.type in ("cpu", "meta", LABEL.type):
            return torch.device(device)
        self.event("hard-coded", str(device))
        raise HardCoded(f"the device '{device}' is named here, but the input lies on '{DEVICE}'")
