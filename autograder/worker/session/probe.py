"""One call on another device or in another dtype, the same for every kind of device.

    ProbeCall(target=Target("Layer"), made=Made(args=(3, 5)), args=(x,), device="pretend")
    ProbeCall(target=Target("Layer"), made=Made(args=(3, 5)), args=(x,), dtype="bfloat16", trace="all")

What is moved is moved for good: the modules among the arguments and the target are to be made for the one
call (`made` builds the target), because putting a module back is what no module can do by itself: a copy of
one may still call the original, and tensors that it holds outside its parameters do not come back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from autograder.protocol.answers import Probed
from autograder.protocol.messages import ProbeCall
from autograder.protocol.tensors import DTYPES, tensors_in
from autograder.protocol.values import ByName, map_tree
from autograder.worker.portability.dtypes import CoarserLog, DtypeLog
from autograder.worker.portability.gpu import SimulatedGpu
from autograder.worker.portability.modules import load, move
from autograder.worker.portability.places import Place, Watched, gpu_of
from autograder.worker.portability.tensor import DEVICE, SimulatedTensor
from autograder.worker.session.objects import Objects, settled
from autograder.worker.session.operations import modules_in
from autograder.worker.tracing.gradients import gradients_of
from autograder.worker.tracing.lines import describe_exception
from autograder.worker.tracing.modes import NumpyOfBfloat16, unwatched
from autograder.worker.tracing.module_contents import (
    asks_for_gradients,
    buffers_of,
    device_of,
    parameters_of,
    parameters_of_all,
)
from autograder.worker.tracing.provenance import Origins


@dataclass
class _Seen:
    """The part of the answer that is known so far: it is told whatever then stops the call."""

    value: Any = None
    places: list[str] = field(default_factory=list)
    stayed: list[str] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    parameters: ByName = field(default_factory=dict)
    gradient_places: list[str] = field(default_factory=list)


def probe_call(objects: Objects, message: ProbeCall) -> Probed:
    """Make one call there. What stops it is in `error`, beside all that was seen until then."""
    origins = Origins()
    place = _place(message, origins)
    seen, error = _Seen(), None
    sent: ByName = {}
    with warnings.catch_warnings(), _one_way_of_attention(), _same_defaults():
        warnings.simplefilter("ignore")  # of torch's about the student's code, nobody would see them
        try:
            # Outside the device: in it, copies for the call and its answer would be seen as the student's.
            args, _ = objects.arguments(message.args)
            with place:
                _make_and_call(objects, message, args, place, origins, seen)
            values = {"value": seen.value, "inputs": tuple(seen.inputs), "parameters": seen.parameters}
            sent = {name: objects.plain(_plainly(value)) for name, value in values.items()}
        except (Exception, SystemExit) as raised:
            error = describe_exception(raised)
            place.stopped(raised)
    return Probed(
        device=str(place.device),
        places=tuple(seen.places),
        stayed=tuple(seen.stayed),
        gradient_places=tuple(seen.gradient_places) if error is None else (),
        events=tuple(place.events),
        error=error,
        **sent,
    )


@contextmanager
def _one_way_of_attention() -> Iterator[None]:
    """Switch off the fast path of torch's transformers: on the CPU it leaves other numbers in padding."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@contextmanager
def _same_defaults() -> Iterator[None]:
    """Restore torch's default device after the call."""
    context: Any = torch._GLOBAL_DEVICE_CONTEXT
    before = getattr(context, "device_context", None)
    try:
        yield
    finally:
        if getattr(context, "device_context", None) is not before:
            torch.set_default_device(None if before is None else before.device)


def _place(message: ProbeCall, origins: Origins) -> Place:
    if message.device == "pretend":
        return SimulatedGpu(origins)
    if message.device != "cpu":
        return Place(gpu_of(message.device))
    if message.dtype is not None and message.trace:
        dtype = DTYPES[message.dtype]
        return Watched(CoarserLog(dtype) if message.trace == "coarser" else DtypeLog(origins, dtype))
    return Place(torch.device("cpu"))


def _make_and_call(
    objects: Objects,
    message: ProbeCall,
    args: tuple[Any, ...],
    place: Place,
    origins: Origins,
    seen: _Seen,
) -> None:
    """Make the call; `seen` gets what is known on the way, tensors as they lie there."""
    target = objects.target(message.target)
    if message.made is not None:
        torch.default_generator.manual_seed(message.seed)
        made_with, _ = objects.arguments(message.made.args)
        target = target(*made_with)
        if message.made.state is not None:
            place.quiet = True
            load(target, message.made.state)
            place.quiet = False
    modules = modules_in((target, getattr(target, "__self__", None)), args)
    place.quiet = True
    dtype = DTYPES[message.dtype] if message.dtype is not None else None
    for module in modules:
        as_made = module is target and message.as_made
        move(module, None if as_made else dtype, place)
    registered = _registered(modules)
    seen.stayed = [name for name, tensor in registered if _device_of(tensor) != place.device]
    leaves: list[torch.Tensor] = []
    args = tuple(
        arg
        if position in message.on_cpu
        else map_tree(arg, lambda leaf: _given(leaf, place, leaves, message.gradients))
        for position, arg in enumerate(args)
    )
    place.quiet = False
    origins.begun()
    place.begins([*tensors_in(args), *(tensor for _, tensor in registered)])
    if message.method:
        target = getattr(target, message.method)
    torch.default_generator.manual_seed(message.seed)
    with NumpyOfBfloat16():
        value = settled(target(*args))
    tensors = tensors_in(value)
    place.ended(tensors)
    seen.value = value
    seen.places = [_place_of(tensor) for tensor in tensors]
    if message.gradients:
        _take_gradients(modules, leaves, tensors, place, seen)


def _registered(modules: Sequence[nn.Module]) -> list[tuple[str, torch.Tensor]]:
    """Return the modules' tensors by name, without uninitialized ones of lazy modules."""
    named = [pair for m in modules for pair in (*parameters_of(m).items(), *buffers_of(m).items())]
    return [(name, tensor) for name, tensor in named if not is_lazy(tensor)]


def _given(value: Any, place: Place, leaves: list[torch.Tensor], gradients: bool) -> Any:
    """An argument as the student gets it: there, and one step into the graph if gradients are wanted."""
    if not isinstance(value, torch.Tensor):
        return value
    there = place.wrap(value)
    if not gradients or not value.is_floating_point():
        return there
    leaves.append(there.requires_grad_())
    return there.clone()


def _take_gradients(
    modules: Sequence[nn.Module],
    leaves: Sequence[torch.Tensor],
    tensors: Sequence[torch.Tensor],
    place: Place,
    seen: _Seen,
) -> None:
    """Take gradients under drawn weights, by input in order and by parameter, and note where they are."""
    generator = torch.Generator().manual_seed(1)
    outputs = [tensor for tensor in tensors if tensor.is_floating_point()]
    with unwatched():
        weights = [
            torch.randn(o.shape, generator=generator, dtype=torch.float64).to(o.dtype) for o in outputs
        ]
    named = {name: p for name, p in parameters_of_all(modules).items() if asks_for_gradients(p)}
    wanted = [*leaves, *named.values()]
    live = [
        (output, place.wrap(weight) if _place_of(output) != "cpu" else weight)
        for output, weight in zip(outputs, weights, strict=True)
        if asks_for_gradients(output)
    ]
    if not live or not wanted:
        return
    # From one number: torch imports sympy, a second of work, to look at gradients that it is handed.
    total = reduce(add, [(output * weight).sum() for output, weight in live])
    grads = gradients_of(total, wanted)
    seen.inputs = list(grads[: len(leaves)])
    seen.parameters = dict(zip(named, grads[len(leaves) :], strict=True))
    seen.gradient_places = [_place_of(grad) for grad in grads if grad is not None]


def _device_of(tensor: torch.Tensor) -> torch.device:
    return DEVICE if isinstance(tensor, SimulatedTensor) else device_of(tensor)


def _place_of(tensor: torch.Tensor) -> str:
    return str(_device_of(tensor))


def _plainly(value: Any) -> Any:
    """Return the same nested value with the CPU tensors that tensors of the pretend device carry."""
    if isinstance(value, SimulatedTensor):
        return value.numbers
    if isinstance(value, dict):
        return {key: _plainly(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_plainly(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value
