"""Runs each kernel of a call on the simulated GPU: on the CPU, refusing what lies elsewhere."""

from __future__ import annotations

import weakref
from functools import cache
from typing import Any

import torch

from autograder.protocol.values import Keywords
from autograder.worker.portability.ledger import Ledger
from autograder.worker.portability.tensor import DEVICE, LABEL, MixedDevices, SimulatedTensor
from autograder.worker.tracing.modes import Watching
from autograder.worker.tracing.schema import OpSchema

aten = torch.ops.aten
# CUDA takes a single number from the CPU in arithmetic, but not in these.
_STRICT = frozenset(
    op.default if hasattr(op, "default") else op
    for op in (aten.cat, aten.stack, aten.mm, aten.bmm, aten.addmm, aten.baddbmm, aten.mv, aten.dot,
               aten.embedding, aten.index_select, aten.gather, aten.index_add, aten.index_copy,
               aten.native_layer_norm, aten.convolution)
)  # fmt: skip
# Their indices may lie on the CPU while the data does not.
_INDEXING = frozenset(
    (
        aten.index.Tensor,
        aten.index_put.default,
        aten.index_put_.default,
        aten._index_put_impl_.default,
        aten._unsafe_index.Tensor,
        aten._unsafe_index_put.default,
    )
)
_PACKING = frozenset((aten._pack_padded_sequence.default, aten._pad_packed_sequence.default))
_BETWEEN = frozenset((aten.copy_.default, aten._to_copy.default, aten._pack_padded_sequence_backward.default))
"""They go from device to device."""
# Zeros without memory, as forward-mode gradients begin with: a mark on them says so, and a wrapper hides it.
_NO_MEMORY = aten._efficientzerotensor.default
_READING = frozenset((aten._local_scalar_dense.default, aten.equal.default, aten.allclose.default))
"""They answer with a number or a truth of Python's."""


class Kernel(OpSchema):
    """All that is asked about a kernel each time it runs, looked up once."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.operation = str(func._schema.name).removeprefix("aten::")
        # Without the function around it, which only hands on what it is given.
        self.run = (aten.zeros.default if func is _NO_MEMORY else func)._op
        self.strict = func in _STRICT
        self.indexing = func in _INDEXING
        self.packing = func in _PACKING
        self.between = func in _BETWEEN
        self.moving = func is aten._to_copy.default
        self.copying = func is aten.copy_.default
        self.reading = func in _READING
        self.dropping = func is aten.native_dropout.default


@cache
def _kernel_of(func: Any) -> Kernel:
    return Kernel(func)


class Kernels(Watching):
    """The mode below autograd."""

    def __init__(self, gpu: Ledger) -> None:
        super().__init__()
        self.gpu = weakref.proxy(gpu)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        kernel = _kernel_of(func)
        kwargs = kwargs or {}
        asked = kwargs.get("device")
        # `types` are those of the arguments that see kernels themselves, as wrappers do: none is here.
        if not types and (asked is None or asked.type != LABEL.type):
            return self._run_here(kernel, args, kwargs)
        ours: list[SimulatedTensor] = []
        plain: list[torch.Tensor] = []
        inner = [_opened(arg, ours, plain) for arg in args]
        named = {key: _opened(value, ours, plain) for key, value in kwargs.items()}
        there = bool(ours) if asked is None else asked.type == LABEL.type
        if asked is not None and there:
            named["device"] = torch.device("cpu")
        if ours:
            if plain or kernel.packing:
                self._refuse_mixed(kernel, args, plain)
            if kernel.copying:
                return self._copy(args, inner, named)
            if kernel.reading:
                self.gpu.reads(ours[0].numbers, kernel.operation)
                return kernel.run(*inner, **named)
            if kernel.dropping:
                return _dropout(*inner[:2])
        if kernel.moving and bool(ours) != there:
            return self._moved(kernel, inner, named, ours, plain)
        made = kernel.run(*inner, **named)
        if not there:
            return made
        if kernel.returned is not None:
            position, name = kernel.returned
            into = args[position] if position < len(args) else kwargs[name]
            if kernel.reshaped:
                _follow(into)
            return into
        return _wrapped(made, keep_last=kernel.packing)

    def _run_here(self, kernel: Kernel, args: tuple[Any, ...], kwargs: Keywords) -> Any:
        """Run a kernel that has nothing to do with the simulated GPU."""
        made = kernel.run(*args, **kwargs)
        given = (*args, *kwargs.values())
        self.gpu.follow(given, [made])
        if isinstance(made, torch.Tensor):
            self.gpu.origins.note(made, given)
        return made

    def _moved(
        self,
        kernel: Kernel,
        inner: list[Any],
        named: Keywords,
        ours: list[SimulatedTensor],
        plain: list[torch.Tensor],
    ) -> torch.Tensor:
        """Take a tensor from one device to the other."""
        made: torch.Tensor = kernel.run(*inner, **named)
        if not ours:
            self.gpu.comes_back(plain)
            return SimulatedTensor(made)
        if not made.is_meta:  # a shape, and no numbers
            self.gpu.origins.note(made)
            if made.is_floating_point():  # lengths and ids may always be moved
                self.gpu.takes_away(made, self.gpu.seen("readback", "copy to the CPU"))
        return made

    def _copy(self, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
        """`copy_` goes across devices without a word: `output[:, t] = h` into a buffer on the CPU."""
        into, source = args[:2]
        aten.copy_.default(*inner, **named)
        if not isinstance(into, SimulatedTensor):
            if source.dim() > 0 and source.is_floating_point():
                self.gpu.takes_away(into, self.gpu.seen("written", "copy_", into))
        elif not isinstance(source, SimulatedTensor):
            self.gpu.comes_back([source])
        return into

    def _refuse_mixed(self, kernel: Kernel, args: tuple[Any, ...], plain: list[torch.Tensor]) -> None:
        """Stop where CUDA would stop, because tensors lie on several devices."""
        operation = kernel.operation
        if kernel.packing:
            if isinstance(args[1], SimulatedTensor):
                self.gpu.note("mixed", operation)
                raise MixedDevices(
                    f"'lengths' argument should be a 1D CPU int64 tensor, but got 1D {DEVICE} Long tensor"
                )
            if not isinstance(args[0], SimulatedTensor):
                raise self.gpu.mixed(operation, args[0])
            return
        if kernel.between:
            return
        if kernel.indexing:
            if not isinstance(args[0], SimulatedTensor):
                raise self.gpu.mixed(operation, args[0], " (indices should be where the indexed tensor is)")
            strays = [value for value in args[2:3] if any(value is other for other in plain)]
        else:
            strays = plain
        strays = [value for value in strays if value.dim() > 0 or kernel.strict]
        into = args[0] if kernel.written and args else None
        if isinstance(into, torch.Tensor) and not isinstance(into, SimulatedTensor):
            strays = [into]
        if strays:
            raise self.gpu.mixed(operation, strays[0])


def _opened(value: Any, ours: list[SimulatedTensor], plain: list[torch.Tensor]) -> Any:
    """Return the argument as the CPU takes it; its tensors are added to those there and those here."""
    # No closure: one that calls itself keeps the tensors until Python looks for cycles, and torch then
    # refuses to swap a parameter of which a view is still alive.
    if isinstance(value, SimulatedTensor):
        ours.append(value)
        return value.numbers
    if isinstance(value, torch.Tensor):
        plain.append(value)
    elif type(value) in (list, tuple):
        return type(value)([_opened(item, ours, plain) for item in value])
    return value


def _wrapped(made: Any, *, keep_last: bool = False) -> Any:
    if isinstance(made, torch.Tensor):
        return SimulatedTensor(made)
    if isinstance(made, (list, tuple)):
        wrapped = [_wrapped(item) for item in made]
        if keep_last:  # the sizes of the steps and the lengths of sequences stay on the CPU
            wrapped[-1] = made[-1]
        return type(made)(wrapped)
    return made


def _follow(into: SimulatedTensor) -> None:
    """Give a wrapper the shape that the tensor it carries has got in place."""
    inner = into.numbers
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    aten.as_strided_.default.redispatch(keys, into, inner.size(), inner.stride(), inner.storage_offset())


def _dropout(x: torch.Tensor, p: float) -> tuple[SimulatedTensor, SimulatedTensor]:
    """Draw as the CPU does: torch has another kernel for other devices."""
    noise = torch.empty_like(x).bernoulli_(1 - p)
    kept = noise.bool()
    return SimulatedTensor(x * noise.div_(1 - p)), SimulatedTensor(kept)
