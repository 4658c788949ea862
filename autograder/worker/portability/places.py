"""Places where a call is made, each a context for one call: the CPU and a real GPU; gpu.py has another."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch

from autograder.worker.portability.dtypes import CpuLog
from autograder.worker.tracing.modes import Events


class Place:
    """A real place: the CPU or a GPU. What happens there is torch's affair, and nothing is written down."""

    quiet = False
    """While it is set nothing is written down: what goes on is not the student's doing."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.events = Events()
        self._stack = ExitStack()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.close()

    def wrap(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a CPU tensor as one that lies there."""
        return tensor.to(self.device)

    def begins(self, tensors: Iterable[torch.Tensor]) -> None:
        """Hear what the call is made with, its modules' tensors included."""

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        """Hear what came of it."""

    def stopped(self, error: BaseException) -> None:
        """Hear what stopped it."""


class Watched(Place):
    """The CPU, with a log of the dtypes that the call meets."""

    def __init__(self, log: CpuLog) -> None:
        super().__init__(torch.device("cpu"))
        self._log, self.events = log, log.events

    def __enter__(self) -> Watched:
        if self._log.sees_making:
            self._stack.enter_context(self._log)
        return self

    def begins(self, tensors: Iterable[torch.Tensor]) -> None:
        self._log.given(tensors)
        if not self._log.sees_making:
            self._stack.enter_context(self._log)

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        self._log.ended(results)
        if not self._log.sees_making:
            self._stack.close()


def gpu_of(name: str) -> torch.device:
    """Return a real GPU's device; one without a number is the last one, so that `cuda` may be another.

    Raises RuntimeError where the device is not there.
    """
    device = torch.device(name)
    if device.type != "cuda" or not torch.cuda.is_available():
        raise RuntimeError(f"there is no device {device} here")
    return torch.device("cuda", torch.cuda.device_count() - 1 if device.index is None else device.index)
