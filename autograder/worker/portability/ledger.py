"""The ledger of one call on the simulated GPU, for its modes to ask and to write into."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch

from autograder.protocol.events import Event
from autograder.worker.portability.places import Place
from autograder.worker.portability.tensor import (
    DEVICE,
    LABEL,
    Beyond,
    HardCoded,
    MixedDevices,
    SimulatedTensor,
)
from autograder.worker.tracing.lines import describe_exception, line_of, line_that_names, student_frame
from autograder.worker.tracing.modes import tensors_of
from autograder.worker.tracing.provenance import Origins, memory_of, name_of

_TORCHS_OWN = re.compile(r"from the 'Lazy' backend|INTERNAL ASSERT FAILED|Internal error")
"""Torch's words where it gives up over a simulated tensor."""


class Ledger(Place):
    """All that is seen of one call."""

    def __init__(self, origins: Origins) -> None:
        super().__init__(DEVICE)
        self.origins = origins
        self._copies: dict[int, tuple[Event, torch.Tensor]] = {}
        """By memory, CPU tensors with numbers from the GPU, and the line that took them from there."""
        self.read_by_numpy: Event | None = None

    def wrap(self, tensor: torch.Tensor) -> SimulatedTensor:
        """Return a CPU tensor as one that lies there, sharing its memory."""
        return SimulatedTensor(tensor)

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        self.comes_back(results)

    def stopped(self, error: BaseException) -> None:
        """Note that a call has ended at the limits of the simulation, if it has: no student's fault."""
        said = describe_exception(error).message  # the text may hold tensors that cannot be read now
        if isinstance(error, Beyond) or _TORCHS_OWN.search(said):
            self.events.note(Event("beyond", said[:200]))

    def seen(self, kind: str, operation: str, stray: torch.Tensor | None = None) -> Event | None:
        """Return an event of the student's line that is running; `stray` is the tensor that does not fit."""
        frame = None if self.quiet else student_frame()
        if frame is None:
            return None
        name = name_of(stray, frame) if stray is not None else ""
        made = self.origins.line(stray) if stray is not None else None
        return Event(
            kind=kind,
            operation=operation,
            line=line_of(frame),
            made=made or line_that_names(name, frame),
            name=name,
            held=stray is not None and not self.origins.in_call(stray),
        )

    def note(self, kind: str, operation: str, stray: torch.Tensor | None = None) -> None:
        """Write down what happens, if it is the student's doing."""
        if event := self.seen(kind, operation, stray):
            self.events.note(event)

    def reads(self, numbers: torch.Tensor, operation: str) -> torch.Tensor:
        """Return numbers that Python reads: a GPU must be waited for. Lengths and ids may be read so."""
        if numbers.is_floating_point():
            self.note("sync", operation)
        return numbers

    def takes_away(self, copy: torch.Tensor, event: Event | None) -> None:
        """Remember a CPU tensor with data from the GPU, which a single number is not."""
        if event is not None and copy.dim() > 0:
            self._copies[memory_of(copy)] = event, copy

    def follow(self, given: Iterable[Any], made: Iterable[Any]) -> None:
        """Remember what was computed on the CPU from such tensors."""
        if self._copies:
            found = next((event for each in tensors_of(given) if (event := self.copied(each))), None)
            for each in tensors_of(made):
                self.takes_away(each, found)

    def copied(self, tensor: torch.Tensor) -> Event | None:
        """Return the event by which a CPU tensor's numbers came from the GPU, if they did."""
        if isinstance(tensor, SimulatedTensor) or not self._copies:
            return None
        event, _ = self._copies.get(memory_of(tensor), (None, None))
        if event is None and tensor.dim() > 0 and self.origins.line(tensor) is None:
            return self.read_by_numpy  # no kernel made it: it may come from numpy
        return event

    def comes_back(self, tensors: Iterable[torch.Tensor]) -> None:
        """Write down which of these have been on the way through the CPU."""
        for tensor in tensors:
            if event := self.copied(tensor):
                self.events.note(event)

    def mixed(self, operation: str, stray: torch.Tensor, onto: str = "") -> MixedDevices:
        """Return the exception for a call whose tensors lie on several devices; `stray` does not fit."""
        self.comes_back([stray])
        self.note("mixed", operation, stray)
        return MixedDevices(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{DEVICE} and cpu!{onto}"
        )

    def place_of(self, device: Any) -> torch.device:
        """Return the device as torch's C++ code is to take it; any but this one and the CPU is hard-coded."""
        device = torch.device("cuda", device) if type(device) is int else torch.device(device)
        if device == DEVICE:
            return LABEL
        if device.type in ("cpu", "meta", LABEL.type):
            return device
        self.note("hard-coded", str(device))
        raise HardCoded(f"the device '{device}' is named here, but the input lies on '{DEVICE}'")
