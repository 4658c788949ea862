"""Kernels and functions of torch's that a call ran, by whatever road it came to them."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from autograder.protocol.values import Keywords
from autograder.worker.tracing.modes import Watching


class KernelLog(Watching):
    """Records the names of the kernels that run, as `aten::tanh`.

    Under `torch.inference_mode()` fused recurrent kernels are seen as such; with gradients they
    are taken apart first and cannot be told from a student's own products.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        self.names.add(func.name().split(".")[0])
        return func(*args, **(kwargs or {}))


class CallLog(TorchFunctionMode):
    """Records the names of torch's functions that Python calls, as `torch::tanh`.

    Code that leaves inference mode for a moment has its kernels taken apart; its calls are seen all the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        self.names.add(f"torch::{getattr(func, '__name__', '')}")
        return func(*args, **(kwargs or {}))
