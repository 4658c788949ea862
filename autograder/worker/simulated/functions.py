"""Questions that Python asks of tensors on the pretend device: where they are, and for their numbers."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from autograder.protocol.values import Keywords, map_tree
from autograder.worker.simulated.ledger import Ledger
from autograder.worker.simulated.patches import refuse_other_generators
from autograder.worker.simulated.tensor import DEVICE, LABEL, MixedDevices, SimulatedTensor
from autograder.worker.tracing.provenance import called_by_student

_T = torch.Tensor
_Handler = Callable[["Ledger", Any, tuple[Any, ...], Keywords], Any]


class Calls(TorchFunctionMode):
    """Translates the device's name, and notes the calls that read numbers or name another device."""

    def __init__(self, gpu: Ledger) -> None:
        super().__init__()
        self.gpu = weakref.proxy(gpu)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        handler = _HANDLERS.get(func)
        if handler is not None:
            return handler(self.gpu, func, args, kwargs)
        if kwargs or torch.device in map(type, args):  # most calls name neither a device nor a generator
            args, kwargs = _translated(self.gpu, func, args, kwargs)
            refuse_other_generators(self.gpu, func, args, kwargs)
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if isinstance(error, MixedDevices) or str(LABEL) not in str(error):
                raise
            # Some of torch's functions look at the devices themselves, before any kernel.
            strays = [value for value in _plain((args, kwargs)) if value.dim() > 0]
            if strays:
                self.gpu.event("mixed", getattr(func, "__name__", ""), strays[0])
            raise MixedDevices(str(error).replace(str(LABEL), str(DEVICE))) from None


def _plain(value: Any) -> list[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _plain(item)]
    return [value] if isinstance(value, _T) and not isinstance(value, SimulatedTensor) else []


def _translated(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": gpu.place_of(kwargs["device"])}
    if any(type(arg) is torch.device for arg in args):
        args = tuple(gpu.place_of(arg) if type(arg) is torch.device else arg for arg in args)
    return args, kwargs


def _to(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if len(args) > 1 and isinstance(args[1], (str, int)):
        args = (args[0], gpu.place_of(args[1]), *args[2:])
    args, kwargs = _translated(gpu, func, args, kwargs)
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

    def read(leaf: Any) -> Any:
        return gpu.read(leaf, func.__name__) if isinstance(leaf, SimulatedTensor) else leaf

    made = func(*map_tree(args, read), **kwargs)  # tensors among the numbers are read one by one
    return made if place is None else made.to(place)


def _as_tensor(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if args and isinstance(args[0], _T):
        place = kwargs.get("device")
        place = args[0].device if place is None else gpu.place_of(place)
        return args[0].to(device=place, dtype=kwargs.get("dtype"))
    return _made_from_data(gpu, func, args, kwargs)


def _new_tensor(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(args[0], SimulatedTensor):
        return _made_from_data(gpu, lambda data, **named: func(args[0], data, **named), args[1:], kwargs)
    return _made_from_data(gpu, torch.tensor, args[1:], {"dtype": args[0].dtype, "device": DEVICE, **kwargs})


def _new(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`x.new(2, 3)`, as it was written before `new_zeros`."""
    if not isinstance(args[0], SimulatedTensor):
        return func(*args, **kwargs)
    if args[1:] and isinstance(args[1], (list, tuple)) and not isinstance(args[1], torch.Size):
        return torch.tensor(args[1], dtype=args[0].dtype).to(LABEL)
    return torch.empty(*args[1:], dtype=args[0].dtype, device=LABEL)


def _default_device(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    asked = args[0] if args else kwargs.get("device")
    return func(None if asked is None else gpu.place_of(asked))


def _device(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    return DEVICE if isinstance(args[0], SimulatedTensor) else func(*args, **kwargs)


def _is_cuda(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """For students it is a GPU; torch's own code would go for kernels that are not there."""
    if isinstance(args[0], SimulatedTensor) and called_by_student():
        return True
    return func(*args, **kwargs)


def _get_device(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if isinstance(args[0], SimulatedTensor) and called_by_student():
        return DEVICE.index
    return func(*args, **kwargs)


def _of_memory(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Tell students the memory of the numbers; torch's own code is to find none of the wrapper's."""
    if isinstance(args[0], SimulatedTensor) and called_by_student():
        args = (args[0].numbers, *args[1:])
    return func(*args, **kwargs)


def _listed(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(args[0], SimulatedTensor):
        return func(*args, **kwargs)
    return gpu.read(args[0], "tolist").tolist()


def _printed(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(args[0], SimulatedTensor):
        return func(*args, **kwargs)
    return func(gpu.read(args[0], "print"), *args[1:], **kwargs)


def _to_numpy(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(args[0], SimulatedTensor):
        return func(*args, **kwargs)
    if kwargs.get("force"):
        return func(gpu.looked(args[0].numbers, "copy to the CPU", "readback"), **kwargs)
    if args[0].requires_grad:
        return func(args[0].numbers.detach().requires_grad_())  # which says so
    # A GPU's would stop here, for want of a `.cpu()`: what comes of it says whether that is only a look's.
    return func(gpu.looked(args[0].numbers, "numpy", "readback"), *args[1:], **kwargs)


def _type(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """`x.type(torch.FloatTensor)` names a device with the dtype."""
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if not isinstance(args[0], SimulatedTensor):
        if isinstance(wanted, type) and wanted.__module__ == "torch.cuda":
            gpu.place_of("cuda")
        if not isinstance(wanted, str) or ".cuda." not in wanted:
            return func(*args, **kwargs)
        # The name that another tensor gave of itself says of the device only that it is a GPU.
        return func(args[0], wanted.replace(".cuda", "")).to(LABEL)
    plain = args[0].numbers.type()
    if wanted is None:
        return plain.replace("torch.", "torch.cuda.")
    if isinstance(wanted, torch.dtype):
        return args[0].to(wanted)
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    if ".cuda." in name:
        return args[0].to(torch.empty(0).type(name.replace(".cuda", "")).dtype)
    return gpu.read(args[0], name, "readback").type(name)


def _indexed(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Torch makes a tensor of a list of indices, on the device, below where Python could see it."""
    if not isinstance(args[0], SimulatedTensor):
        return func(*args, **kwargs)
    return func(args[0], _with_tensors(args[1]), *args[2:], **kwargs)


def _set_item(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """For CUDA torch leaves a number on the CPU: to put it where a mask says is to fill, without waiting."""
    if isinstance(args[0], SimulatedTensor) and isinstance(args[2], (bool, int, float, complex)):
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
        gpu.event("mixed", "data", into if isinstance(value, SimulatedTensor) else value)
    if isinstance(into, SimulatedTensor) and isinstance(value, SimulatedTensor):
        into.numbers, into.root = value.numbers, value.root
    return func(*args, **kwargs)


def _pinned(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """There is no driver that could pin memory; the copy is like any other."""
    if isinstance(args[0], SimulatedTensor):
        raise RuntimeError(f"cannot pin '{args[0].type()}' only dense CPU tensors can be pinned")
    return args[0].clone()


def _one_hot(gpu: Ledger, func: Any, args: Any, kwargs: Any) -> Any:
    """Given the number of classes, CUDA reads nothing back; for other devices torch looks at the ids."""
    classes = args[1] if len(args) > 1 else kwargs.get("num_classes", -1)
    ids = args[0] if args else kwargs.get("tensor", kwargs.get("self"))
    if not isinstance(ids, SimulatedTensor) or classes == -1:
        return func(*args, **kwargs)
    return gpu.wrap(func(ids.numbers, classes), ids.root)


_HANDLERS: dict[Any, _Handler] = {
    _T.to: _to,
    _T.cuda: _cuda,
    _T.device.__get__: _device,
    _T.is_cuda.__get__: _is_cuda,  # type: ignore[attr-defined]  # a descriptor, declared as what it gives
    _T.get_device: _get_device,
    _T.data_ptr: _of_memory,
    _T.storage: _of_memory,
    _T.untyped_storage: _of_memory,
    _T.data.__set__: _set_data,  # type: ignore[attr-defined]  # the same
    _T.__getitem__: _indexed,
    _T.__setitem__: _set_item,
    _T.tolist: _listed,
    _T.numpy: _to_numpy,
    _T.__array__: _to_numpy,
    _T.__repr__: _printed,
    _T.__format__: _printed,
    _T.type: _type,
    _T.new: _new,
    _T.pin_memory: _pinned,
    _T.new_tensor: _new_tensor,
    torch.set_default_device: _default_device,
    torch.tensor: _made_from_data,
    torch.as_tensor: _as_tensor,
    torch.asarray: _as_tensor,
    torch.nn.functional.one_hot: _one_hot,
}
