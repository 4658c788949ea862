"""Tensors that say they lie on the simulated GPU, and the errors that a GPU would raise."""

from __future__ import annotations

from typing import Any

import torch

DEVICE = torch.device("cuda", 7)
"""The device that students see. Nobody has one of that number: `cuda` and `cuda:0` are other devices."""
LABEL = torch.device("lazy", 0)
"""The device that torch's C++ code sees: without kernels, and served by autograd on the calling thread."""


class MixedDevices(RuntimeError):
    """Stands for torch's RuntimeError when a call's tensors lie on several devices."""


class HardCoded(RuntimeError):
    """Stands for torch's error when a device is asked for that the machine does not have."""


class Beyond(RuntimeError):
    """Raised where the simulation ends: a tensor of it reached code that cannot handle it. No GPU would."""


class SimulatedTensor(torch.Tensor):
    """A tensor on the simulated GPU; `numbers` is the CPU tensor that holds its numbers."""

    numbers: torch.Tensor

    @staticmethod
    def __new__(cls, numbers: torch.Tensor) -> SimulatedTensor:
        if torch.is_inference_mode_enabled():
            # Torch gives a wrapper made in inference mode no version, and then asks for it.
            with torch.inference_mode(False):
                return SimulatedTensor(numbers)
        made: SimulatedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            numbers.stride(),
            numbers.storage_offset(),
            dtype=numbers.dtype,
            layout=numbers.layout,
            device=LABEL,
        )
        made.numbers = numbers
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as torch's own do

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares it as a function, and calls it on the class
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise Beyond("a tensor of the simulated GPU was used after the call, or as one of another class")
