"""`torch.cuda` while a GPU is pretended: what right code asks of it answers, and nothing needs a driver.

Code that has looked (`if x.is_cuda:`) may time, synchronise, seed or enter its input's device. Torch's own
code goes on as on the machine that it is on: it sees the module as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from autograder.worker.simulated.ledger import Ledger
from autograder.worker.simulated.tensor import DEVICE, LABEL, SimulatedTensor
from autograder.worker.tracing.provenance import is_student_file

_NOTHING = (
    "synchronize", "empty_cache", "ipc_collect", "manual_seed", "manual_seed_all", "seed", "seed_all", "init",
    "reset_peak_memory_stats", "reset_accumulated_memory_stats", "set_rng_state",
)  # fmt: skip
_ZERO = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
_FOR_ALL = ("get_rng_state", "set_rng_state")
"""Answered to torch's code, too: `torch.random.fork_rng` asks for the input's device."""


class _Seen(ModuleType):
    """A module of torch's that answers the student's lines otherwise."""

    def __init__(self, module: ModuleType, answers: dict[str, Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(_module=module, _answers=answers)

    def __getattr__(self, name: str) -> Any:
        if name in self._answers and (
            name in _FOR_ALL or is_student_file(sys._getframe(1).f_code.co_filename)
        ):
            return self._answers[name]
        return getattr(self._module, name)


class _Stream:
    """A stream or an event: work here is done when it is asked for."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self.device = DEVICE

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing waits."""

    def query(self) -> bool:
        """Return whether all is done."""
        return True

    def elapsed_time(self, end: _Stream) -> float:
        """Milliseconds between two events: nobody can rely on them."""
        return 0.0

    def record_event(self, event: Any = None) -> _Stream:
        """An event that has happened."""
        return event or _Stream()

    def synchronize(self, *args: Any) -> None:
        """Nothing to wait for."""

    record = wait = wait_event = wait_stream = synchronize


@contextmanager
def cuda_of(gpu: Ledger) -> Iterator[None]:
    """While this lasts `torch.cuda` speaks of the pretend device."""
    patched: Any = torch
    cuda, accelerator = torch.cuda, torch.accelerator

    def nothing(*args: Any, **named: Any) -> None:
        return None

    def zero(*args: Any, **named: Any) -> int:
        return 0

    def is_available() -> bool:
        # Not before the call: a constructor goes by the machine that the module is made on.
        return gpu.origins.calling or cuda.is_available()

    @contextmanager
    def entered(device: Any) -> Iterator[None]:
        """Inside, `cuda` without a number is this device."""
        before = gpu.current
        gpu.current = before or (device is not None and gpu.place_of(device) == LABEL)
        try:
            yield
        finally:
            gpu.current = before

    def stream(given: Any = None, *args: Any) -> _Stream:
        return given if isinstance(given, _Stream) else _Stream()

    answers = {
        **dict.fromkeys(_NOTHING, nothing),
        **dict.fromkeys(_ZERO, zero),
        **dict.fromkeys(("stream", "current_stream", "default_stream"), stream),
        **dict.fromkeys(("Stream", "Event"), _Stream),
        "nvtx": SimpleNamespace(range_push=nothing, range_pop=nothing, mark=nothing),
        "is_available": is_available,
        "device": entered,
        "device_of": lambda tensor: entered(DEVICE if isinstance(tensor, SimulatedTensor) else None),
        "device_count": lambda: (DEVICE.index or 0) + 1,
        "current_device": lambda: (DEVICE.index or 0) if gpu.current else 0,
        "is_bf16_supported": lambda *args: True,
        "get_device_name": lambda *args: "a pretend GPU",
        "get_device_capability": lambda *args: (8, 0),
        "get_rng_state": lambda *args: torch.default_generator.get_state(),
    }
    patched.cuda = _Seen(cuda, answers)
    patched.accelerator = _Seen(
        accelerator,
        {
            "synchronize": nothing,
            "is_available": is_available,
            "current_accelerator": lambda *args: torch.device("cuda"),
        },
    )
    patched.Tensor.record_stream = nothing
    module_of = torch.get_device_module

    def get_device_module(device: Any = None) -> Any:
        # Torch's own remembers its answers: those of before, or ours afterwards.
        named = device is not None and torch.device(device).type == "cuda"
        return patched.cuda if named else module_of(device)

    patched.get_device_module = get_device_module
    try:
        yield
    finally:
        patched.cuda, patched.accelerator, patched.get_device_module = cuda, accelerator, module_of
        del patched.Tensor.record_stream  # the inherited one is there again
