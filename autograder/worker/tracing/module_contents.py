"""The contents of a module, read where torch keeps it: its own methods may say something else.

Taken when this was imported: what students put in the place of torch's methods later is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from autograder.protocol.values import ByName

detach = torch._C.TensorBase.detach
clone = torch._C.TensorBase.clone
equal = torch.equal
_data_ptr = torch._C.TensorBase.data_ptr
_asks: Any = torch._C.TensorBase.requires_grad
_modules, _parameters = nn.Module.named_modules, nn.Module.named_parameters
_buffers = nn.Module.named_buffers


def asks_for_gradients(tensor: torch.Tensor) -> bool:
    """Return `tensor.requires_grad`."""
    return bool(_asks.__get__(tensor))


def address_of(tensor: torch.Tensor) -> int:
    """Return where a tensor's numbers begin in memory."""
    return int(_data_ptr(tensor))


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
