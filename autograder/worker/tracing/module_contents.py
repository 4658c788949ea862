"""The contents of tensors and modules, read where torch keeps them: their own methods may say something else.

Taken when this was imported: what students put in the place of torch's methods later is not asked.
Sources that a check sends have this module under the name `contents` (`Submission.given` lists what for).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from autograder.protocol.values import ByName
from autograder.worker.tracing.modes import unwatched

_Base: Any = torch._C.TensorBase
"""The class below `torch.Tensor`: nobody can put anything in the place of its methods."""
detach = torch._C.TensorBase.detach
clone = torch._C.TensorBase.clone
fill = torch._C.TensorBase.fill_
equal = torch.equal
_unseen = torch._C.DisableTorchFunction
"""A block that no mode sees, the student's neither: modes ask `torch.Tensor`, where something may be put."""
_empty_like, _ones_like = torch.empty_like, torch.ones_like
_inference_mode, _no_grad = torch.inference_mode, torch.no_grad
_modules, _parameters = nn.Module.named_modules, nn.Module.named_parameters
_buffers = nn.Module.named_buffers


def asks_for_gradients(tensor: torch.Tensor) -> bool:
    """Return `tensor.requires_grad`."""
    return bool(_asked(_Base.requires_grad, tensor))


def is_leaf(tensor: torch.Tensor) -> bool:
    """Return `tensor.is_leaf`."""
    return bool(_asked(_Base.is_leaf, tensor))


def is_inference(tensor: torch.Tensor) -> bool:
    """Return whether a tensor was made in `torch.inference_mode()`."""
    with _unseen():
        return bool(_Base.is_inference(tensor))


def has_graph(tensor: torch.Tensor) -> bool:
    """Return whether a tensor was computed from others that ask for gradients."""
    return _asked(_Base.grad_fn, tensor) is not None


def device_of(tensor: torch.Tensor) -> torch.device:
    """Return `tensor.device`."""
    device: torch.device = _asked(_Base.device, tensor)
    return device


def gradient_of(parameter: torch.Tensor) -> torch.Tensor | None:
    """Return `parameter.grad`."""
    gradient: torch.Tensor | None = _asked(_Base.grad, parameter)
    return gradient


def lend_gradient(parameter: torch.Tensor) -> None:
    """Give a parameter a gradient of ones."""
    _Base.grad.__set__(parameter, _ones_like(parameter))


def take_gradient(parameter: torch.Tensor) -> None:
    """Leave a parameter without a gradient."""
    _Base.grad.__set__(parameter, None)


def address_of(tensor: torch.Tensor) -> int:
    """Return where a tensor's numbers begin in memory; 0 where nothing is stored."""
    with _unseen():
        return int(_Base.data_ptr(tensor)) if _Base.numel(tensor) else 0


def unlike_dense(tensor: torch.Tensor, dtypes: frozenset[torch.dtype], most_bytes: int) -> str:
    """Say what a tensor is whose numbers cannot be sent as they lie there, or `""`."""
    with _unseen():
        dtype, many = _Base.dtype.__get__(tensor), _Base.numel(tensor)
        if _Base.layout.__get__(tensor) is not torch.strided or _Base.is_quantized.__get__(tensor):
            return "a tensor that is not dense"
        if _Base.is_meta.__get__(tensor):
            return "a tensor on the meta device, without values"
        if dtype not in dtypes:
            return f"a tensor of dtype {str(dtype).removeprefix('torch.')}"
        if many * _Base.element_size(tensor) > most_bytes:
            return f"a tensor of {many} numbers, too large to look at"
    return ""


def numbers_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor's numbers in a plain one, on the CPU and in memory of its own."""
    with unwatched():
        plain = detach(tensor)
        if _Base.is_conj(plain) or _Base.is_neg(plain):
            plain = _Base.resolve_neg(_Base.resolve_conj(plain))
        if _Base.is_cpu.__get__(plain) and not _Base.is_inference(plain):
            return clone(plain)
        # A mode-free copy: what an inference-mode call returned may be used like any other tensor.
        with _inference_mode(False), _no_grad():
            copy: torch.Tensor = _Base.copy_(_empty_like(plain, device="cpu"), plain)
            return copy


def _asked(attribute: Any, tensor: torch.Tensor) -> Any:
    with _unseen():
        return attribute.__get__(tensor)


def is_training(module: nn.Module) -> bool:
    """Return `module.training`."""
    kept: ByName = object.__getattribute__(module, "__dict__")
    if "training" not in kept:  # torch.jit keeps it elsewhere
        return bool(module.training)
    return bool(kept["training"])


def settings_of(module: nn.Module) -> dict[str, bool | int | float | str]:
    """Return the plain attributes of one of torch's own modules, such as `batch_first`, without its mode."""
    if not type(module).__module__.startswith("torch.nn."):
        return {}
    kept: ByName = object.__getattribute__(module, "__dict__")
    return {
        name: value
        for name, value in kept.items()
        if name != "training" and type(value) in (bool, int, float, str)
    }


def modules_of(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Give a module and all below it with their names, each once, as `named_modules` does."""
    if isinstance(module, torch.jit.ScriptModule):  # keeps them elsewhere
        yield from _modules(module)
        return
    seen: set[int] = set()
    waiting = [("", module)]
    while waiting:
        name, part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield name, part
        if isinstance(part, torch.jit.ScriptModule):
            below = [(inner, each) for inner, each in _modules(part) if inner]
        else:
            held = _of(part, "_modules")
            below = [(inner, each) for inner, each in held.items() if each is not None]
        prefix = f"{name}." if name else ""
        waiting += [(prefix + inner, each) for inner, each in reversed(below)]


def parameters_of(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return what a module registers as parameters, by name, each once, as `named_parameters` does."""
    if isinstance(module, torch.jit.ScriptModule):
        return dict(_parameters(module))
    found: dict[str, nn.Parameter] = {}
    seen: set[int] = set()
    for name, part in modules_of(module):
        if isinstance(part, torch.jit.ScriptModule):
            held: Any = dict(_parameters(part, recurse=False))
        else:
            held = _of(part, "_parameters")
        for inner, parameter in held.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                found[f"{name}.{inner}" if name else inner] = parameter
    return found


def parameters_of_all(modules: Sequence[nn.Module]) -> dict[str, nn.Parameter]:
    """Return the parameters of the modules of one call by name.

    Before the names of the second come `1.`, before those of the third `2.`, and so on: `1.weight`.
    """
    return {
        f"{place}.{name}" if place else name: parameter
        for place, module in enumerate(modules)
        for name, parameter in parameters_of(module).items()
    }


def buffers_of(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return what a module registers as buffers, by name, as `named_buffers` does."""
    if isinstance(module, torch.jit.ScriptModule):
        return dict(_buffers(module))
    return {
        f"{name}.{inner}" if name else inner: buffer
        for name, part in modules_of(module)
        for inner, buffer in (
            _buffers(part, recurse=False)
            if isinstance(part, torch.jit.ScriptModule)
            else _of(part, "_buffers").items()
        )
        if buffer is not None
    }


def _of(module: nn.Module, name: str) -> ByName:
    held: ByName = object.__getattribute__(module, "__dict__").get(name, {})
    return held
