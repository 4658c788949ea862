"""Questions that Python asks of tensors on the simulated GPU: where they are, and for their numbers."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from autograder.protocol.values import map_tree
from autograder.worker.portability.ledger import Ledger
from autograder.worker.portability.tensor import DEVICE, LABEL, MixedDevices, SimulatedTensor
from autograder.worker.tracing.provenance import called_by_student

_T = torch.Tensor


class Calls(TorchFunctionMode):
    """The mode above autograd: it translates the device's name."""

    def __init__(self, gpu: Ledger) -> None:
        super().__init__()
        self.gpu = weakref.proxy(gpu)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        is_ours = bool(args) and isinstance(args[0], SimulatedTensor)
        if is_ours and func in _OF_SIMULATED:
            return _OF_SIMULATED[func](self.gpu, func, args, kwargs)
        if func in _OF_ALL:
            return _OF_ALL[func](self.gpu, func, args, kwargs)
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": self.gpu.place_of(kwargs["device"])}
        args = tuple(self.gpu.place_of(arg) if type(arg) is torch.device else arg for arg in args)
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if isinstance(error, MixedDevices) or str(LABEL) not in str(error):
                raise
            # Some of torch's functions look at the devices themselves, before any kernel.
            strays = [value for value in _plain((args, kwargs)) if value.dim() > 0]
            if strays:
                self.gpu.note("mixed", getattr(func, "__name__", ""), strays[0])
            raise MixedDevices(str(error).replace(str(LABEL), str(DEVICE))) from None


def _plain(value: Any) -> list[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _plain(item)]
    return [value] if isinstance(value, _T) and not isinstance(value, SimulatedTensor) else []


def _to(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": gpu.place_of(kwargs["device"])}
    where = (torch.device, str, int)
    args = (args[0], *(gpu.place_of(arg) if type(arg) in where else arg for arg in args[1:2]), *args[2:])
    return func(*args, **kwargs)


def _cuda(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    asked = args[1] if len(args) > 1 else kwargs.get("device")
    return args[0].to(gpu.place_of("cuda" if asked is None else asked))


def _made_from_data(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`torch.tensor` and its like fill CPU memory first; they would look for the device themselves."""
    kwargs = dict(kwargs)
    device = kwargs.pop("device", None)
    place = None if device is None else gpu.place_of(device)
    if args and isinstance(args[0], _T):
        return args[0].detach().clone().to(device=place, dtype=kwargs.get("dtype"))
    made = func(*map_tree(args, lambda leaf: getattr(leaf, "numbers", leaf)), **kwargs)
    return made if place is None else made.to(place)


def _as_tensor(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if args and isinstance(args[0], _T):
        place = kwargs.get("device")
        place = args[0].device if place is None else gpu.place_of(place)
        return args[0].to(device=place, dtype=kwargs.get("dtype"))
    return _made_from_data(gpu, func, args, kwargs)


def _new_tensor(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    return _made_from_data(gpu, torch.tensor, args[1:], {"dtype": args[0].dtype, "device": DEVICE, **kwargs})


def _new(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`x.new(2, 3)`, as it was written before `new_zeros`."""
    if args[1:] and isinstance(args[1], (list, tuple)) and not isinstance(args[1], torch.Size):
        return torch.tensor(args[1], dtype=args[0].dtype).to(LABEL)
    return torch.empty(*args[1:], dtype=args[0].dtype, device=LABEL)


def _default_device(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    asked = args[0] if args else kwargs.get("device")
    return func(None if asked is None else gpu.place_of(asked))


def _device(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    return DEVICE


def _is_cuda(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """For students it is a GPU; torch's own code would go for kernels that are not there."""
    return True if called_by_student() else func(*args, **kwargs)


def _read(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`tolist`, `print` and the like answer with the numbers."""
    return func(gpu.reads(args[0].numbers, func.__name__), *args[1:], **kwargs)


def _to_numpy(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Hand out the numbers, though without a `.cpu()` a real GPU's would stop here: for a `print` of them."""
    tensor = args[0]
    if not isinstance(tensor, SimulatedTensor):
        gpu.read_by_numpy = gpu.copied(tensor) or gpu.read_by_numpy
        return func(*args, **kwargs)
    if tensor.requires_grad and not kwargs.get("force"):
        return func(tensor.numbers.detach().requires_grad_())  # which says so
    gpu.note("numpy", func.__name__)
    gpu.read_by_numpy = gpu.seen("readback", "numpy")
    gpu.takes_away(tensor.numbers, gpu.read_by_numpy)
    return func(tensor.numbers, *args[1:], **kwargs)


def _type(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`x.type(torch.float64)`, or `y.type(x.type())`, which names the device with the dtype."""
    tensor, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None:
        is_ours = isinstance(tensor, SimulatedTensor)
        return tensor.numbers.type().replace("torch.", "torch.cuda.") if is_ours else tensor.type()
    if isinstance(wanted, torch.dtype):
        return tensor.to(wanted)
    if isinstance(wanted, type):
        wanted = f"{wanted.__module__}.{wanted.__name__}"
        if wanted.startswith("torch.cuda."):
            gpu.place_of("cuda")
    dtype = torch.empty(0).type(wanted.replace(".cuda", "")).dtype
    return tensor.to(LABEL if ".cuda." in wanted else "cpu", dtype)


def _indexed(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Torch makes a tensor of a list of indices, on the device, below where Python could see it."""
    return func(args[0], _with_tensors(args[1]), *args[2:], **kwargs)


def _set_item(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Assign to an index; torch accepts a number on the CPU for a tensor on CUDA."""
    if isinstance(args[2], (bool, int, float, complex)):
        args = (*args[:2], torch.tensor(args[2], dtype=args[0].dtype, device="cpu"))
    return _indexed(gpu, func, args, kwargs)


def _with_tensors(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(_with_tensors(part) for part in index)
    if type(index) not in (list, range) or not index:
        return index
    return torch.tensor(index) if all(type(part) in (int, bool, list) for part in index) else index


def _set_data(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    into, value = args
    if isinstance(into, SimulatedTensor) != isinstance(value, SimulatedTensor):
        gpu.note("mixed", "data", into if isinstance(value, SimulatedTensor) else value)
    elif isinstance(into, SimulatedTensor):
        into.numbers = value.numbers
    return func(*args, **kwargs)


_Handler = Callable[[Ledger, Any, tuple[Any, ...], Any], Any]
_OF_SIMULATED: dict[Any, _Handler] = {
    _T.device.__get__: _device,
    _T.is_cuda.__get__: _is_cuda,  # type: ignore[attr-defined]  # a descriptor, declared as what it gives
    _T.get_device: lambda *of_call: DEVICE.index,
    _T.__getitem__: _indexed,
    _T.__setitem__: _set_item,
    _T.tolist: _read,
    _T.__repr__: _read,
    _T.__format__: _read,
    _T.new: _new,
    _T.new_tensor: _new_tensor,
}
"""Questions to the simulated GPU's tensors."""
_OF_ALL: dict[Any, _Handler] = {
    _T.to: _to,
    _T.cuda: _cuda,
    _T.numpy: _to_numpy,
    _T.__array__: _to_numpy,
    _T.type: _type,
    _T.data.__set__: _set_data,  # type: ignore[attr-defined]  # a descriptor, too
    torch.set_default_device: _default_device,
    torch.tensor: _made_from_data,
    torch.as_tensor: _as_tensor,
    torch.asarray: _as_tensor,
}
"""Functions that may name a device, or take numbers to numpy."""
