"""Tensors that say they lie on the simulated GPU, and the errors that a GPU would raise."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import torch

from autograder.worker.tracing.provenance import called_by_student

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


class Holds(IntEnum):
    """The contents of a piece of memory, by what it was computed from; the most of it counts."""

    LENGTHS = 0
    """Shapes, lengths, ids: integers that were given as such, and what only depends on them."""
    TRUTHS = 1
    """Masks that were given as such: to read one is to wait, to index with one is how masks are used."""
    NUMBERS = 2


class Root:
    """The state that all views of one piece of memory share."""

    __slots__ = ("holds",)

    def __init__(self, holds: Holds) -> None:
        self.holds = holds


class SimulatedTensor(torch.Tensor):
    """A tensor on the pretend device; `numbers` is the CPU tensor that holds its numbers."""

    numbers: torch.Tensor
    root: Root

    @staticmethod
    def __new__(cls, numbers: torch.Tensor, root: Root) -> SimulatedTensor:
        if torch.is_inference_mode_enabled():
            # Torch gives a wrapper made in inference mode no version, and then asks for it.
            with torch.inference_mode(False):
                return SimulatedTensor(numbers, root)
        made: SimulatedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            numbers.stride(),
            numbers.storage_offset(),
            dtype=numbers.dtype,
            layout=numbers.layout,
            device=LABEL,
        )
        made.numbers, made.root = numbers, root
        return made

    def _class_told(self) -> type:
        """Return the class, as `type(x)` does in patches.py: for students that of any other tensor."""
        if not called_by_student():
            return type(self)
        return torch.nn.Parameter if isinstance(self, torch.nn.Parameter) else torch.Tensor

    # Torch sets it where it swaps two tensors.
    __class__ = property(_class_told, object.__dict__["__class__"].__set__)

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as torch's own do

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares it as a function, and calls it on the class
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise Beyond("a tensor of the pretend device was used after the call, or as one of another class")
