"""Modules as most are: of torch's own parts, or of parts that leave to torch how they are moved.

`.to()` asks a dozen things of every tensor, and where a call is watched each costs as much as a product. What
comes of it is known here beforehand: no code of the student's runs, and no tensor is of an uncommon kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from autograder.protocol.tensors import DTYPES
from autograder.worker.tracing.modes import unwatched

_REAL = frozenset(dtype for dtype in DTYPES.values() if not dtype.is_complex)


def plain_parts(module: nn.Module) -> list[nn.Module] | None:
    """A plain module's parts in the order in which `.to()` comes to them, itself last; `None` of others."""
    parts: dict[nn.Module, None] = {}
    with unwatched():
        if not _is_torchs_own(module, "to") or not _gathered(module, parts, set()):
            return None
    return list(parts)


def is_of(parts: Sequence[nn.Module], dtype: torch.dtype) -> bool:
    """Return whether `.to(dtype)` leaves all tensors as they are."""
    held = [t for part in parts for own in (part._parameters, part._buffers) for t in own.values()]
    with unwatched():
        return all(t is None or t.dtype is dtype or not t.is_floating_point() for t in held)


def gather_weights(parts: Sequence[nn.Module]) -> None:
    """Do what torch's recurrent modules do after every `.to()`."""
    for part in parts:
        if isinstance(part, nn.RNNBase):
            part._init_flat_weights()


def swap(parts: Sequence[nn.Module], wrap: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Put a wrapped copy in the place of each tensor, as `.to()` does where it swaps; `False` if one refuses.

    Then the rest is still to be moved: it has a second owner, and `.to()` says so.
    """
    try:
        with unwatched():
            for part in parts:
                if isinstance(part, nn.RNNBase):
                    part._flat_weight_refs = []  # a tensor that is referred to weakly cannot be swapped
                for held in part._parameters.values():
                    if type(held) is nn.Parameter:  # one that is shared has been wrapped already
                        made = wrap(held.detach().clone()).requires_grad_(held.requires_grad)
                        made._is_param = True  # as nn.Parameter has it of wrappers
                        torch.utils.swap_tensors(held, made)
                for name, buffer in part._buffers.items():
                    if buffer is not None:
                        part._buffers[name] = wrap(buffer.clone())
                gather_weights([part])
    except RuntimeError:
        return False
    return True


def fill(module: nn.Module, state: Mapping[str, torch.Tensor]) -> bool:
    """Copy a state into a module, as `load_state_dict` does where it has nothing else to do.

    `False` where it has, and is to be called: names or shapes that do not fit, code of the module's own.
    """
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    if swaps or not _is_torchs_own(module, "load_state_dict"):
        return False
    places: dict[str, torch.Tensor] = {}
    with unwatched():
        try:
            plain = _held(module, "", places, frozenset())
        except RecursionError:
            return False
        if not plain or places.keys() != state.keys():
            return False
        if any(type(state[name]) is not torch.Tensor or state[name].shape != held.shape
               for name, held in places.items()):  # fmt: skip
            return False
        try:
            with torch.no_grad():
                for name, held in places.items():
                    held.copy_(state[name])
        except RuntimeError:  # memory that cannot be written into, as an expanded tensor's
            return False
    return True


def _held(part: nn.Module, prefix: str, places: dict[str, torch.Tensor], above: frozenset[int]) -> bool:
    """Add a part's tensors and its own parts', each by its name in the state; `False` if one is uncommon."""
    hooks = (part._load_state_dict_pre_hooks, part._load_state_dict_post_hooks)
    if (
        id(part) in above
        or not _is_torchs_own(part, "_load_from_state_dict", "set_extra_state")
        or isinstance(part, torch.jit.ScriptModule)
        or any((*hooks, part._non_persistent_buffers_set))
    ):
        return False
    for own, kind in ((part._parameters, nn.Parameter), (part._buffers, torch.Tensor)):
        for name, held in own.items():
            if held is None:
                continue
            # Neither name can torch take for this tensor's, though one put past its checks may have it.
            if "." in name or name == "_extra_state" or not _is_common(held, kind):
                return False
            places[prefix + name] = held
    inner = [(name, child) for name, child in part._modules.items() if child is not None]
    return all(_held(child, f"{prefix}{name}.", places, above | {id(part)}) for name, child in inner)


def _gathered(part: nn.Module, parts: dict[nn.Module, None], met: set[nn.Module]) -> bool:
    """Add a plain part to the others, after its own."""
    if part in met:
        return True
    met.add(part)
    inner = [child for child in part._modules.values() if child is not None]
    if not _is_plain(part) or not all(_gathered(child, parts, met) for child in inner):
        return False
    parts[part] = None
    return True


def _is_plain(part: nn.Module) -> bool:
    return (
        (_is_recurrent(part) or _is_torchs_own(part, "_apply"))
        and _is_torchs_own(part, "children", "named_children")
        and not isinstance(part, torch.jit.ScriptModule)
        and all(held is None or _is_common(held, nn.Parameter) for held in part._parameters.values())
        and all(held is None or _is_common(held, torch.Tensor) for held in part._buffers.values())
    )


def _is_recurrent(part: nn.Module) -> bool:
    """Return whether it is one of torch's recurrent modules: their `_apply` sees to lists of weights, too."""
    return isinstance(part, nn.RNNBase) and type(part).__module__ == nn.RNNBase.__module__


def _is_torchs_own(part: nn.Module, *names: str) -> bool:
    kind, own = type(part), vars(part)
    return all(getattr(kind, name) is getattr(nn.Module, name) and name not in own for name in names)


def _is_common(tensor: torch.Tensor, kind: type[torch.Tensor]) -> bool:
    return (
        type(tensor) is kind
        and tensor.is_cpu
        and tensor.dtype in _REAL
        and tensor.layout is torch.strided
        and not (tensor.is_neg() or tensor.is_inference())
        and tensor.is_leaf
        and (kind is nn.Parameter or not tensor.requires_grad)
        and tensor.grad is None
    )
