"""The CPU for one call, as the other devices are to `place`, and what it writes down of dtypes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch

from autograder.protocol.events import Event
from autograder.worker.devices.base import Device
from autograder.worker.tracing.dtypes import CpuLog
from autograder.worker.tracing.looks import ForNumpy, Otherwise, is_guard
from autograder.worker.tracing.modes import Events


class Cpu(Device):
    """The CPU, where everything is anyway. A log, if there is one, writes down what leaves a dtype."""

    device = torch.device("cpu")

    def __init__(self, log: CpuLog | None, otherwise: Otherwise | None = None) -> None:
        self._log, self._otherwise = log, otherwise
        self.events = log.events if log is not None else Events()
        self.quiet = False
        self._stack = ExitStack()

    def __enter__(self) -> Cpu:
        if self._log is not None and self._log.sees_making:
            self._stack.enter_context(self._log)
        if self._otherwise is not None:
            self._stack.enter_context(ForNumpy(self._otherwise, self.events))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.close()

    def wrap(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def given(self, tensors: Iterable[torch.Tensor]) -> None:
        """Say what the call is made with: a log follows it."""
        if self._log is not None:
            self._log.given(tensors)
            if not self._log.sees_making:
                self._stack.enter_context(self._log)

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        """Say what came of it."""
        if self._log is not None:
            self._log.ended(results)
            if not self._log.sees_making:
                self._stack.close()

    def stopped(self, error: BaseException) -> None:
        """Say what stopped it."""
        if self._otherwise is not None and is_guard(error):
            self.events.note(Event("guard"))
