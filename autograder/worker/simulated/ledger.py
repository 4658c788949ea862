"""The ledger of one call on the simulated GPU: what the modes ask of it, and what they write down there."""

from __future__ import annotations

from typing import Any

import torch

from autograder.protocol.events import Event, Line
from autograder.protocol.values import ByName
from autograder.worker.simulated.tensor import (
    DEVICE,
    LABEL,
    HardCoded,
    Holds,
    MixedDevices,
    Root,
    SimulatedTensor,
)
from autograder.worker.tracing.looks import Otherwise
from autograder.worker.tracing.modes import Events
from autograder.worker.tracing.provenance import (
    Origins,
    called_by_student,
    line_of,
    line_that_names,
    name_of,
    student_frame,
)


class Ledger:
    """All that is seen of one call."""

    def __init__(self, origins: Origins | None, names: ByName | None, otherwise: Otherwise | None) -> None:
        self.events = Events()
        self.otherwise = otherwise
        self.origins = origins or Origins()
        self.names = {} if names is None else names
        """Those of the student's notebook, which may have torch's classes under names of its own."""
        self.quiet = False
        self.current = False
        """`cuda` without a number means this device, as in `with torch.cuda.device(x.device):`."""

    def wrap(self, tensor: torch.Tensor, root: Root | None = None) -> SimulatedTensor:
        """A CPU tensor as one of the pretend device, sharing its memory."""
        if tensor.is_floating_point() or tensor.is_complex():
            holds = Holds.NUMBERS
        else:
            holds = Holds.TRUTHS if tensor.dtype is torch.bool else Holds.LENGTHS
        return SimulatedTensor(tensor, root or Root(holds))

    def event(self, kind: str, operation: str, stray: torch.Tensor | None = None) -> Line | None:
        """Write down what happened, with the student's line that made the stray tensor, if there is one.

        Returns the line that is running, `None` where nothing is written down.
        """
        frame = None if self.quiet else student_frame()
        if frame is None:
            return None
        name = name_of(stray, frame) if stray is not None else ""
        made = self.origins.line(stray) if stray is not None else None
        event = Event(
            kind=kind,
            operation=operation,
            line=line_of(frame),
            made=made or line_that_names(name, frame),
            name=name,
            held=stray is not None and not self.origins.in_call(stray),
        )
        self.events.note(event)
        return event.line

    def looked(
        self, numbers: torch.Tensor, operation: str, kind: str, stray: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Note a look at numbers of the device, and return what it gets to see."""
        line = self.event(kind, operation, stray)
        if line is None or self.otherwise is None:
            return numbers
        if kind == "shape":
            return self.otherwise.shaping(numbers, line)
        return self.otherwise.answer(numbers, line)

    def read(self, tensor: SimulatedTensor, operation: str, kind: str = "sync") -> torch.Tensor:
        """The numbers of a tensor for Python's use: a GPU must be waited for. Lengths may be read so."""
        if tensor.root.holds and called_by_student():
            return self.looked(tensor.numbers, operation, kind)
        return tensor.numbers

    def shaped_by(self, tensor: SimulatedTensor, operation: str) -> torch.Tensor:
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
