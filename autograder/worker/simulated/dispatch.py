"""Runs each kernel of a call on the pretend device: on the CPU, refusing what lies elsewhere."""

from __future__ import annotations

import weakref
from functools import cache
from typing import Any

import torch

from autograder.protocol.values import Keywords
from autograder.worker.simulated.ledger import Ledger
from autograder.worker.simulated.tensor import LABEL, Holds, MixedDevices, Root, SimulatedTensor
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
_PACKED_BACK = aten._pack_padded_sequence_backward.default
# The argument whose numbers say how large their results are.
_SHAPED_BY = {
    aten.nonzero.default: (0,),
    aten.masked_select.default: (1,),
    aten._unique2.default: (0,),
    aten.unique_dim.default: (0,),
    aten.unique_consecutive.default: (0,),
    aten.bincount.default: (0,),
    aten.repeat_interleave.Tensor: (0,),
}


# Zeros without memory, as forward-mode gradients begin with: a mark on them says so, and a wrapper hides it.
_NO_MEMORY = aten._efficientzerotensor.default


_BETWEEN = frozenset((aten.copy_.default, aten._to_copy.default, _PACKED_BACK))
"""They go from device to device."""
_NO_TENSORS = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout))


class Kernel(OpSchema):
    """All that is asked about a kernel each time it runs, looked up once."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.operation = operation_of(func)
        # Without the function around it, which only hands on what it is given.
        self.run = (aten.zeros.default if func is _NO_MEMORY else func)._op
        self.strict = func in _STRICT
        self.indexing = func in _INDEXING
        self.packing = func in _PACKING
        self.between = func in _BETWEEN
        self.moving = func is aten._to_copy.default
        self.shaping = self.indexing or func in _SHAPED_BY
        self.special = _SPECIAL.get(func)


@cache
def _kernel_of(func: Any) -> Kernel:
    return Kernel(func)


class Kernels(Watching):
    def __init__(self, gpu: Ledger) -> None:
        super().__init__()
        self.gpu = weakref.proxy(gpu)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        kernel = _kernel_of(func)
        asked = kwargs.get("device") if kwargs else None
        # `types` are those of the arguments that see kernels themselves, as wrappers do: none is here.
        if not types and (asked is None or asked.type != LABEL.type):
            return self._run_here(kernel, args, kwargs or {})
        ours: list[SimulatedTensor] = []
        plain: list[torch.Tensor] = []
        inner: list[Any] = []
        for arg in args:
            if type(arg) is SimulatedTensor:  # as `_opened` does, without a call for what most arguments are
                ours.append(arg)
                inner.append(arg.numbers)
            else:
                inner.append(arg if type(arg) in _NO_TENSORS else _opened(arg, ours, plain))
        named = {key: _opened(value, ours, plain) for key, value in kwargs.items()} if kwargs else {}
        there = bool(ours) if asked is None else asked.type == LABEL.type
        if asked is not None and there:
            named["device"] = torch.device("cpu")
        if not there and not ours:
            return self._run_here(kernel, args, named)
        if ours:
            if plain or kernel.packing:
                self._refuse_mixed(kernel, args, plain)
            if kernel.shaping:
                for value in _shaping(func, args):
                    seen = self.gpu.shaped_by(value, kernel.operation)
                    if seen is not value.numbers:
                        inner = _exchanged(inner, value.numbers, seen)
            if kernel.special is not None:
                return kernel.special(self.gpu, args, inner, named)
        if kernel.moving and bool(ours) != there:
            return self._moved(kernel, inner, named, ours, plain)
        made = kernel.run(*inner, **named)
        if not there:
            return made
        if kernel.views and ours:
            root = ours[0].root
        else:
            root = Root(Holds.LENGTHS if kernel.shape_only else _most(ours))
            if root.holds is Holds.TRUTHS and _counts(made):
                root.holds = Holds.LENGTHS
        for position, name in kernel.written:
            into = args[position] if position < len(args) else kwargs and kwargs.get(name)
            if isinstance(into, SimulatedTensor):
                into.root.holds = max(into.root.holds, root.holds)
                if kernel.reshaped:
                    _follow(into)
        if kernel.returned is not None:
            position, name = kernel.returned
            return args[position] if position < len(args) else kwargs and kwargs[name]
        return self._wrapped(made, root, keep_last=kernel.packing)

    def _run_here(self, kernel: Kernel, args: tuple[Any, ...], kwargs: Keywords) -> Any:
        """Run a kernel that has nothing to do with the pretend device."""
        made = kernel.run(*args, **kwargs)
        if isinstance(made, torch.Tensor):
            self.gpu.origins.note(made, (*args, *kwargs.values()))
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
        if ours:
            if named["device"].type == "meta":  # a shape, and no numbers
                return kernel.run(*inner, **named)
            # `loss.cpu()` reads a number, as `loss.item()` does.
            seen = self.gpu.read(ours[0], "copy to the CPU", "readback" if ours[0].dim() else "sync")
            made: torch.Tensor = kernel.run(seen, *inner[1:], **named)
            self.gpu.origins.note(made)
            return made
        self.gpu.event("copied", "to", plain[0])
        # A module on its way is data; what a student moves was made here, perhaps from lengths.
        holds = Holds.NUMBERS if self.gpu.quiet else Holds.LENGTHS
        return SimulatedTensor(kernel.run(*inner, **named), Root(holds))

    def _wrapped(self, made: Any, root: Root, *, keep_last: bool = False) -> Any:
        if isinstance(made, torch.Tensor):
            return SimulatedTensor(made, root)
        if isinstance(made, (list, tuple)):
            wrapped = [self._wrapped(item, root) for item in made]
            if keep_last:  # the sizes of the steps and the lengths of sequences stay on the CPU
                wrapped[-1] = made[-1]
            return type(made)(wrapped)
        return made

    def _refuse_mixed(self, kernel: Kernel, args: tuple[Any, ...], plain: list[torch.Tensor]) -> None:
        """Stop where CUDA would stop, because tensors lie on several devices."""
        operation = kernel.operation
        if kernel.packing:
            if isinstance(args[1], SimulatedTensor):
                self.gpu.event("mixed", operation)
                raise MixedDevices(
                    "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:7 Long tensor"
                )
            if not isinstance(args[0], SimulatedTensor):
                raise self.gpu.mixed(operation, args[0])
            return
        if not plain or kernel.between:
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
    """The argument as the CPU takes it; its tensors are added to the lists of those there and those here."""
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


def operation_of(func: Any) -> str:
    """A kernel's name, as in `torch.<name>`."""
    return str(func._schema.name).removeprefix("aten::")


def _most(tensors: list[SimulatedTensor]) -> Holds:
    most = Holds.LENGTHS
    for tensor in tensors:
        holds = tensor.root.holds
        if holds is Holds.NUMBERS:
            return holds
        most = max(most, holds)
    return most


def _counts(made: Any) -> bool:
    """Return whether these are whole numbers: what is counted in a given mask are lengths."""
    return isinstance(made, torch.Tensor) and made.dtype in (torch.int64, torch.int32)


def _shaping(func: Any, args: tuple[Any, ...]) -> list[SimulatedTensor]:
    """The arguments whose numbers say how large the result is."""
    if func in _INDEXING:
        if _fills(args):
            return []
        asked = [index for index in args[1] if index is not None and index.dtype in (torch.bool, torch.uint8)]
    else:
        asked = [args[position] for position in _SHAPED_BY.get(func, ())]
    return [value for value in asked if isinstance(value, SimulatedTensor)]


def _fills(args: tuple[Any, ...]) -> bool:
    """Return whether one number of the CPU is put where one mask says, for torch a `masked_fill`."""
    given = [index for index in args[1] if index is not None]
    number = args[2] if len(args) > 2 else None
    return (
        isinstance(number, torch.Tensor)
        and not isinstance(number, SimulatedTensor)
        and number.numel() == 1
        and len(given) == 1
        and given[0].dtype in (torch.bool, torch.uint8)
    )


def _exchanged(inner: Any, one: torch.Tensor, other: torch.Tensor) -> Any:
    """The arguments of a kernel with one tensor in the place of another."""
    if type(inner) in (list, tuple):
        return type(inner)([_exchanged(item, one, other) for item in inner])
    return other if inner is one else inner


def _follow(into: SimulatedTensor) -> None:
    """Give a wrapper the shape that the tensor it carries has got in place."""
    inner = into.numbers
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    aten.as_strided_.default.redispatch(keys, into, inner.size(), inner.stride(), inner.storage_offset())


def _copy(gpu: Ledger, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
    """`copy_` goes across devices without a word: `output[:, t] = h` into a buffer on the CPU."""
    into, source = args[0], args[1]
    if not isinstance(into, SimulatedTensor) and source.root.holds:
        kind = "number written" if source.numel() == 1 else "written"
        inner = [into, gpu.looked(source.numbers, "copy_", kind, into), *inner[2:]]
    aten.copy_.default(*inner, **named)
    if not isinstance(into, SimulatedTensor):
        return into
    if isinstance(source, SimulatedTensor):
        into.root.holds = max(into.root.holds, source.root.holds)
    elif source.dim() > 0:
        gpu.event("copied", "copy_", source)
    return into


def _number(gpu: Ledger, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
    return gpu.read(args[0], "a Python number").item()


def _compared(kernel: Any) -> Any:
    """A kernel that answers with a truth of Python's."""

    def answer(gpu: Ledger, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
        ours = [value for value in args if isinstance(value, SimulatedTensor)]
        truth = SimulatedTensor(torch.tensor(kernel(*inner, **named), device="cpu"), Root(_most(ours)))
        return bool(gpu.read(truth, operation_of(kernel)))

    return answer


def _dropout(gpu: Ledger, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
    """Torch has another kernel for other devices, which draws otherwise: this is the CPU's way."""
    x, p = inner[0], inner[1]
    noise = torch.empty_like(x).bernoulli_(1 - p)
    kept = noise.bool()
    dropped = SimulatedTensor(x * noise.div_(1 - p), Root(args[0].root.holds))
    return dropped, SimulatedTensor(kept, Root(Holds.LENGTHS))


def _conjugate(gpu: Ledger, args: tuple[Any, ...], inner: list[Any], named: Keywords) -> Any:
    """Torch only marks a tensor as conjugate; the mark would stay where no kernel looks."""
    return SimulatedTensor(torch.conj_physical(inner[0]), args[0].root)


_SPECIAL: dict[Any, Any] = {
    aten._conj.default: _conjugate,
    aten._conj_physical.default: _conjugate,
    aten.copy_.default: _copy,
    aten._local_scalar_dense.default: _number,
    aten.equal.default: _compared(aten.equal.default),
    aten.allclose.default: _compared(aten.allclose.default),
    aten.native_dropout.default: _dropout,
}
