"""`torch.cuda` while a GPU is pretended: what right code asks of it answers, and nothing needs a driver.

Code that has looked (`if x.is_cuda:`) may time, synchronise, seed or enter its input's device. Which devices
there are is told to the student's own lines only; torch's code must go on as on the machine that it is on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from autograder.worker.origins import called_by_student
from autograder.worker.pretend import DEVICE, LABEL, Pretend

if TYPE_CHECKING:
    from autograder.worker.pretend import PretendDevice

_NOTHING = (
    "synchronize", "empty_cache", "ipc_collect", "manual_seed", "manual_seed_all", "seed", "seed_all", "init",
    "reset_peak_memory_stats", "reset_accumulated_memory_stats", "set_rng_state",
)  # fmt: skip
_ZERO = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")


class _Stream:
    """A stream or an event: work here is done when it is asked for."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self.device = DEVICE

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing waits."""

    def query(self) -> bool:
        """Whether all is done."""
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
def cuda_of(gpu: PretendDevice) -> Iterator[None]:
    """While this lasts `torch.cuda` speaks of the pretend device."""
    cuda, accelerator = torch.cuda, torch.accelerator

    def nothing(*args: Any, **named: Any) -> None:
        return None

    def zero(*args: Any, **named: Any) -> int:
        return 0

    def told(original: Callable[..., Any], answer: Any) -> Callable[..., Any]:
        # Not before the call: a constructor goes by the machine that the module is made on.
        def ask(*args: Any, **named: Any) -> Any:
            return answer if gpu.origins.calling and called_by_student() else original(*args, **named)

        return ask

    @contextmanager
    def entered(device: Any) -> Iterator[None]:
        """Inside, `cuda` without a number is this device."""
        before = gpu.current
        gpu.current = gpu.current or (device is not None and gpu.place_of(device) == LABEL)
        try:
            yield
        finally:
            gpu.current = before

    def device_of(tensor: torch.Tensor) -> Any:
        return entered(DEVICE if isinstance(tensor, Pretend) else None)

    def current_device() -> int:
        return (DEVICE.index or 0) if gpu.current else 0

    def stream(given: Any = None, *args: Any) -> _Stream:
        return given if isinstance(given, _Stream) else _Stream()

    def random_state(*args: Any, **named: Any) -> torch.Tensor:
        return torch.default_generator.get_state()

    there: dict[tuple[Any, str], Any] = {
        **{(cuda, name): nothing for name in _NOTHING},
        **{(cuda, name): zero for name in _ZERO},
        **{(cuda, name): stream for name in ("stream", "current_stream", "default_stream")},
        **{(cuda, name): _Stream for name in ("Stream", "Event")},
        **{(torch.cuda.nvtx, name): nothing for name in ("range_push", "range_pop", "mark")},
        (cuda, "is_available"): told(cuda.is_available, True),
        (cuda, "device_count"): told(cuda.device_count, (DEVICE.index or 0) + 1),
        (cuda, "is_bf16_supported"): told(cuda.is_bf16_supported, True),
        (cuda, "get_device_name"): told(cuda.get_device_name, "a pretend GPU"),
        (cuda, "get_device_capability"): told(cuda.get_device_capability, (8, 0)),
        (cuda, "get_rng_state"): random_state,
        (cuda, "current_device"): current_device,
        (cuda, "device"): entered,
        (cuda, "device_of"): device_of,
        (torch.Tensor, "record_stream"): nothing,
        (accelerator, "synchronize"): nothing,
        (accelerator, "is_available"): told(accelerator.is_available, True),
        (accelerator, "current_accelerator"): told(accelerator.current_accelerator, torch.device("cuda")),
    }
    before = {(owner, name): vars(owner).get(name) for owner, name in there}
    try:
        for (owner, name), answer in there.items():
            setattr(owner, name, answer)
        yield
    finally:
        for (owner, name), original in before.items():
            if original is None:  # it was inherited
                delattr(owner, name)
            else:
                setattr(owner, name, original)
