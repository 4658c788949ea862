"""A real GPU for one call, and what it tells of waiting: torch's own warnings of synchronisation.

CUDA is first touched here, in the process that makes the call and after every fork.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from autograder.protocol.events import Event
from autograder.worker.devices.base import Device
from autograder.worker.sandbox.gpu_nodes import MEMORY_VARIABLE
from autograder.worker.tracing.looks import ForNumpy, Otherwise
from autograder.worker.tracing.modes import Events
from autograder.worker.tracing.provenance import Origins, line_of, student_frame


class Cuda(Device):
    """One GPU, with values that can be compared: no TF32, and cuDNN on or off.

    A device without a number is the last one: what is made on `cuda` is then elsewhere, if there are several.
    Raises RuntimeError where the device is not there.
    """

    def __init__(
        self,
        device: torch.device,
        origins: Origins,
        otherwise: Otherwise | None = None,
        *,
        cudnn: bool = True,
    ) -> None:
        if device.type != "cuda" or not torch.cuda.is_available():
            raise RuntimeError(f"there is no device {device} here")
        last = torch.cuda.device_count() - 1
        self.device = torch.device("cuda", last if device.index is None else device.index)
        self.events = Events()
        self.quiet = False
        self._otherwise = otherwise
        self._cudnn, self._stack = cudnn, ExitStack()

    def __enter__(self) -> Cuda:
        enter = self._stack.enter_context
        if share := int(os.environ.get(MEMORY_VARIABLE, 0)):
            total = torch.cuda.get_device_properties(self.device).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, share / total), self.device)
        enter(torch.backends.cudnn.flags(enabled=self._cudnn, allow_tf32=False))
        precision = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = False
        self._stack.callback(setattr, torch.backends.cuda.matmul, "allow_tf32", precision)
        # Index 0 stays current: what is made on `cuda` without a number is then on another device,
        # where there are several.
        enter(warnings.catch_warnings())
        warnings.simplefilter("always")
        warnings.showwarning = self._warned
        self._stack.callback(torch.cuda.set_sync_debug_mode, torch.cuda.get_sync_debug_mode())
        torch.cuda.set_sync_debug_mode("warn")
        if self._otherwise is not None:
            enter(ForNumpy(self._otherwise, self.events))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.close()

    def wrap(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device)

    def memory(self, call: Callable[[], Any], times: int) -> list[int]:
        """Bytes in use on the device after each of several more calls: the same each time, if all is well."""
        seen = []
        for _ in range(times):
            with torch.no_grad():
                call()
            torch.cuda.synchronize(self.device)
            seen.append(int(torch.cuda.memory_allocated(self.device)))
        return seen

    def _warned(self, message: Warning | str, *_: Any, **__: Any) -> None:
        frame = student_frame()
        if self.quiet or frame is None or "synchronizing" not in str(message):
            return
        self.events.note(Event("waited", line=line_of(frame)))
