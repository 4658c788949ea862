"""Takes a module to a device and to a dtype, and gives it numbers, whatever the module is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from autograder.worker.devices.base import Device
from autograder.worker.devices.fast_modules import fill, gather_weights, is_of, plain_parts
from autograder.worker.tracing.modes import unwatched


def move(module: nn.Module, dtype: torch.dtype | None, machine: Device) -> None:
    """Move a module for good; `None` leaves the dtypes as they are."""
    plain = plain_parts(module)
    if dtype is not None:
        _convert(module, plain, dtype)
    if machine.device.type == "cpu" or (plain is not None and machine.take(plain)):
        return
    # A parameter with two names stays one when it goes to a real GPU. Here its tensor becomes one of another
    # class, which only swapping does in place; a scripted module keeps its tensors where Python cannot swap.
    scripted = any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())
    waiting = _hold_back_lazy(module)
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(not scripted)
    try:
        module.to(machine.device)
    except RuntimeError as error:
        if "swap" not in str(error):
            raise
        # Somebody else holds a tensor, as parametrizations do: what has not moved yet is set anew.
        torch.__future__.set_swap_module_params_on_conversion(False)
        with _tied_again(module):
            module.to(machine.device)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
        for part, parameters, buffers in waiting:
            part._parameters.update(parameters)
            part._buffers.update(buffers)
    for part, _, _ in waiting:
        _move_once_shaped(part, machine)


def convert(module: nn.Module, dtype: torch.dtype) -> None:
    """As `module.to(dtype)`, which takes as long as a call even where all is of that dtype."""
    _convert(module, plain_parts(module), dtype)


def load(module: Any, state: Mapping[str, torch.Tensor]) -> None:
    """As `module.load_state_dict` with copies of a state's tensors; torch's own takes as long as a call."""
    if not (isinstance(module, nn.Module) and fill(module, state)):
        module.load_state_dict({name: value.detach().clone() for name, value in state.items()})


def assembled(
    kind: type[nn.Module],
    state: Mapping[str, torch.Tensor],
    settings: Mapping[str, Any],
    lists: Mapping[str, Sequence[str]],
    absent: Sequence[str],
) -> nn.Module:
    """Return one of torch's modules as unpickling makes it, for where its constructor does not work.

    `settings` are the plain values that it keeps, `lists` its lists of parameters, by their names, and
    `absent` are the names of the parameters that it does without.
    """
    made = kind.__new__(kind)
    nn.Module.__init__(made)
    for name, value in state.items():
        made.register_parameter(name, nn.Parameter(value.detach().clone()))
    for name in absent:
        made.register_parameter(name, None)
    kept = {name: [made.get_parameter(each) for each in names] for name, names in lists.items()}
    made.__setstate__(vars(made) | dict(settings) | kept)
    return made


def _convert(module: nn.Module, plain: Sequence[nn.Module] | None, dtype: torch.dtype) -> None:
    if plain is None:
        module.to(dtype)
    elif is_of(plain, dtype):
        gather_weights(plain)  # all that `.to()` would do
    else:
        with unwatched():
            module.to(dtype)


@contextmanager
def _tied_again(module: nn.Module) -> Iterator[None]:
    """Give a parameter that several modules share to all of them again after each got its own."""
    tied: dict[int, list[tuple[nn.Module, str]]] = {}
    for part in module.modules():
        for name, held in part._parameters.items():
            if held is not None:
                tied.setdefault(id(held), []).append((part, name))
    yield
    for (first, name), *others in tied.values():
        for part, other in others:
            part._parameters[other] = first._parameters[name]


def _hold_back_lazy(module: nn.Module) -> list[tuple[nn.Module, dict[str, Any], dict[str, Any]]]:
    """Take out the tensors that get their shape from the first input: moved, they would forget that."""
    waiting = []
    for part in module.modules():
        lazy = [
            {k: v for k, v in held.items() if v is not None and is_lazy(v)}
            for held in (part._parameters, part._buffers)
        ]
        if any(lazy):
            part._parameters.update(dict.fromkeys(lazy[0]))
            part._buffers.update(dict.fromkeys(lazy[1]))
            waiting.append((part, lazy[0], lazy[1]))
    return waiting


def _move_once_shaped(part: nn.Module, machine: Device) -> None:
    """Move a lazy module when its first input has shaped it; its own hook, which does that, runs before."""

    def shaped(module: nn.Module, args: Any) -> None:
        hook.remove()
        before, machine.quiet = machine.quiet, True
        move(module, None, machine)
        machine.quiet = before

    hook = part.register_forward_pre_hook(shaped)
