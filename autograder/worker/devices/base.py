"""Places where a call is made: the CPU, the pretend device, a real GPU, each a context for one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn

from autograder.worker.tracing.modes import Events


class Device:
    """A device, as a call on it needs one; one that does not care does nothing."""

    device: torch.device
    events: Events
    quiet: bool
    """While it is set nothing is written down: what goes on is not the student's doing."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *raised: Any) -> None:
        raise NotImplementedError

    def wrap(self, tensor: torch.Tensor) -> torch.Tensor:
        """A CPU tensor as one that lies there."""
        raise NotImplementedError

    def take(self, parts: Sequence[nn.Module]) -> bool:
        """Move a plain module there, if that can be done without its `.to()`."""
        return False

    def given(self, tensors: Iterable[torch.Tensor]) -> None:
        """Hear what the call is made with, its modules' tensors included."""

    def ended(self, results: Iterable[torch.Tensor]) -> None:
        """Hear what came of it."""

    def stopped(self, error: BaseException) -> None:
        """Hear what stopped it."""

    def memory(self, call: Callable[[], Any], times: int) -> list[int]:
        """Bytes in use after each of several more calls, where that can be told."""
        return []
