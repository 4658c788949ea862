"""A GPU that is not there: tensors that say they lie on `cuda:7` and carry a CPU tensor that does the work.

What would stop on a GPU stops here, with torch's own words; what would go there and back through the CPU is
written down as an event. Values are those of the CPU, since the CPU computes them.

Two modes do it. Below autograd, `Kernels` (kernels.py) sees every kernel: it opens the wrappers, runs the
kernel on the CPU and wraps the results. Above it, `Calls` (functions.py) sees every call that Python makes:
it answers for the name of the device, which torch itself must not try to reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from autograder.worker.portability.functions import Calls
from autograder.worker.portability.kernels import Kernels
from autograder.worker.portability.ledger import Ledger
from autograder.worker.portability.tensor import LABEL
from autograder.worker.tracing.provenance import Origins, called_by_student

_NOTHING = ("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "reset_peak_memory_stats")
_ZERO = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")


class SimulatedGpu(Ledger):
    """The simulated GPU while one call is looked at."""

    def __init__(self, origins: Origins | None = None) -> None:
        super().__init__(origins or Origins())
        self._modes = (Kernels(self), Calls(self))

    def __enter__(self) -> SimulatedGpu:
        self._stack.enter_context(_names_of_torch(self))
        for mode in self._modes:
            self._stack.enter_context(mode)
        return self


def _answering(answer: Any) -> Callable[..., Any]:
    """Return a function of its own for each name: torch._dynamo asks for that, where it is imported then."""
    return lambda *args, **named: answer


@contextmanager
def _names_of_torch(gpu: Ledger) -> Iterator[None]:
    """Have the parts of torch that take no tensor know the device, for right code that asks for them."""
    patched: Any = torch
    plain = torch.Generator

    class Generator(torch.Generator):
        """A generator of the simulated GPU is one of the CPU."""

        def __new__(cls, device: Any = "cpu") -> Any:
            place = gpu.place_of(device)
            return plain.__new__(cls, "cpu" if place == LABEL else place)  # type: ignore[call-arg]  # torch declares none

    def is_available() -> bool:
        # Not before the call: a constructor goes by the machine that the module is made on.
        return (gpu.origins.calling and called_by_student()) or before["is_available"]()

    names = {
        **{name: _answering(None) for name in _NOTHING},
        **{name: _answering(0) for name in _ZERO},
        "is_available": is_available,
    }
    before = {name: getattr(torch.cuda, name) for name in names}
    patched.Generator = Generator
    for name, other in names.items():
        setattr(torch.cuda, name, other)
    try:
        yield
    finally:
        patched.Generator = plain
        for name, own in before.items():
            setattr(torch.cuda, name, own)
