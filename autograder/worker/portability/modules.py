"""Modules, moved to a device and a dtype or given their numbers, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from autograder.worker.portability.places import Place


def move(module: nn.Module, dtype: torch.dtype | None, place: Place) -> None:
    """Move a module for good; `None` leaves the dtypes as they are."""
    if dtype is not None:
        module.to(dtype)
    if place.device.type == "cpu":
        return
    # A parameter with two names stays one when it goes to a real GPU. Here its tensor becomes one of another
    # class, which only swapping does in place; a scripted module keeps its tensors where Python cannot swap.
    scripted = any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())
    waiting = _hold_back_lazy(module)
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(not scripted)
    try:
        module.to(place.device)
    except RuntimeError as error:
        if "swap" not in str(error):
            raise
        # Somebody else holds a tensor, as parametrizations do: what has not moved yet is set anew.
        torch.__future__.set_swap_module_params_on_conversion(False)
        with _tied_again(module):
            module.to(place.device)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
        for part, parameters, buffers in waiting:
            part._parameters.update(parameters)
            part._buffers.update(buffers)
    for part, _, _ in waiting:
        _move_once_shaped(part, place)


def load(module: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Give a module copies of a state's tensors."""
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


def _move_once_shaped(part: nn.Module, place: Place) -> None:
    """Move a lazy module when its first input has shaped it; its own hook, which does that, runs before."""

    def shaped(module: nn.Module, args: Any) -> None:
        hook.remove()
        before, place.quiet = place.quiet, True
        move(module, None, place)
        place.quiet = before

    hook = part.register_forward_pre_hook(shaped)
