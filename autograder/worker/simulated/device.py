"""A GPU that is not there: tensors that say they lie on `cuda:7` and carry a CPU tensor that does the work.

    with SimulatedDevice() as gpu:
        module.to(DEVICE)
        answer = gpu.back(module(gpu.wrap(x)))
    gpu.events

What would stop on a GPU stops here, with torch's own words; what a GPU would do slowly or in the wrong
place is written down as an event. Values are those of the CPU, since the CPU computes them.

Two modes do it. Below autograd, `Kernels` (dispatch.py) sees every kernel: it opens the wrappers, runs
the kernel on the CPU and wraps the results. Above it, `Calls` (functions.py) sees every call that Python
makes: it answers for the name of the device, which torch itself must not try to reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

from torch import nn

from autograder.protocol.events import Event
from autograder.protocol.values import ByName
from autograder.worker.devices.base import Device
from autograder.worker.devices.fast_modules import swap
from autograder.worker.simulated.cuda_module import cuda_of
from autograder.worker.simulated.dispatch import Kernels
from autograder.worker.simulated.functions import Calls
from autograder.worker.simulated.ledger import Ledger
from autograder.worker.simulated.patches import other_names
from autograder.worker.simulated.tensor import DEVICE, Beyond, Holds, Root, SimulatedTensor
from autograder.worker.tracing.looks import Otherwise, is_guard
from autograder.worker.tracing.provenance import Origins, describe_exception


class SimulatedDevice(Ledger, Device):
    """The simulated GPU while one call is looked at."""

    def __init__(
        self,
        origins: Origins | None = None,
        names: ByName | None = None,
        otherwise: Otherwise | None = None,
    ) -> None:
        super().__init__(origins, names, otherwise)
        self.device = DEVICE
        self._modes = (Kernels(self), Calls(self))
        self._stack = ExitStack()

    def __enter__(self) -> SimulatedDevice:
        self._stack.enter_context(other_names(self, self.names))
        self._stack.enter_context(cuda_of(self))
        for mode in self._modes:
            self._stack.enter_context(mode)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def take(self, parts: Sequence[nn.Module]) -> bool:
        """Wrap a plain module's tensors. They are data, whatever their dtype."""
        return swap(parts, lambda tensor: SimulatedTensor(tensor, Root(Holds.NUMBERS)))

    def stopped(self, error: BaseException) -> None:
        """Note that a call has ended at the limits of what is pretended, if it has: no student's fault."""
        told = describe_exception(error).message  # the text may hold tensors that cannot be read now
        if is_guard(error):  # whatever the student's code says when it raises: it was no limit
            self.events.note(Event("guard"))
        elif isinstance(error, Beyond) or "from the 'Lazy' backend" in told:
            self.events.note(Event("beyond", told[:200]))
