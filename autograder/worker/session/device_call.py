"""One call on another device or in another dtype, the same for every kind of device.

    RunOnDevice(target=Target("Layer"), made=Made(args=(3, 5)), args=(x,), device="pretend")
    RunOnDevice(target=Target("Layer"), made=Made(args=(3, 5)), args=(x,), dtype=torch.bfloat16, trace="all")
    RunOnDevice(target=Target("Layer"), made=Made(args=(3, 5)), args=(x,), looks=Looks(0, lines))

With `looks` the student's looks at numbers are answered otherwise (looks.py), and what the call leaves in the
modules is a part of the value.

What is moved is moved for good: the modules among the arguments and the target are to be made for the one
call (`made` builds the target), because putting a module back is what no module can do by itself: a copy of
one may still call the original, and tensors that it holds outside its parameters do not come back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from autograder.protocol.answers import RanOnDevice
from autograder.protocol.messages import RunOnDevice
from autograder.protocol.values import ByName, map_tree, tensors_in
from autograder.worker.devices.autocast import GpuAutocast
from autograder.worker.devices.base import Device
from autograder.worker.devices.cpu import Cpu
from autograder.worker.devices.cuda import Cuda
from autograder.worker.devices.modules import load, move
from autograder.worker.session.objects import Objects, settled
from autograder.worker.session.operations import modules_in
from autograder.worker.simulated.device import SimulatedDevice
from autograder.worker.simulated.tensor import DEVICE, SimulatedTensor
from autograder.worker.tracing.dtypes import CoarserLog, DtypeLog
from autograder.worker.tracing.gradients import gradients_of
from autograder.worker.tracing.looks import Otherwise
from autograder.worker.tracing.modes import unwatched
from autograder.worker.tracing.module_contents import (
    asks_for_gradients,
    buffers_of,
    device_of,
    parameters_of,
    parameters_of_all,
)
from autograder.worker.tracing.provenance import Origins, describe_exception


@dataclass
class _Seen:
    """The part of the answer that is known so far: it is told whatever then stops the call."""

    value: Any = None
    places: list[str] = field(default_factory=list)
    stayed: list[str] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    parameters: ByName = field(default_factory=dict)
    gradient_places: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def run_on_device(objects: Objects, message: RunOnDevice) -> RanOnDevice:
    """Make one call there. What stops it is in `error`, beside all that was seen until then."""
    origins = Origins()
    looks = message.looks
    otherwise = None if looks is None else Otherwise(looks.way, looks.lines)
    machine = _machine(message, origins, objects.namespace, otherwise)
    seen, error = _Seen(), None
    sent: ByName = {}
    with warnings.catch_warnings(), _one_way_of_attention(), _same_defaults():
        warnings.simplefilter("ignore")  # of torch's about the student's code, nobody would see them
        try:
            # Outside the device: in it, copies for the call and its answer would be seen as the student's.
            args, _ = objects.arguments(message.args)
            with machine:
                _make_and_call(objects, message, args, machine, origins, seen)
            values = {"value": seen.value, "inputs": tuple(seen.inputs), "parameters": seen.parameters}
            sent = {name: objects.plain(_plainly(value)) for name, value in values.items()}
        except (Exception, SystemExit) as raised:
            error = describe_exception(raised)
            machine.stopped(raised)
    return RanOnDevice(
        device=str(machine.device),
        places=tuple(seen.places),
        stayed=tuple(seen.stayed),
        gradient_places=tuple(seen.gradient_places) if error is None else (),
        events=(*machine.events, *(otherwise.events if otherwise is not None else ())),
        memory=tuple(seen.memory),
        error=error,
        **sent,
    )


@contextmanager
def _one_way_of_attention() -> Iterator[None]:
    """Torch's transformers take a short cut on the CPU that leaves padding with other numbers."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@contextmanager
def _same_defaults() -> Iterator[None]:
    """Keep what the student's code makes torch's default device for no longer than the call."""
    context: Any = torch._GLOBAL_DEVICE_CONTEXT
    before = getattr(context, "device_context", None)
    try:
        yield
    finally:
        if getattr(context, "device_context", None) is not before:
            torch.set_default_device(None if before is None else before.device)


def _machine(message: RunOnDevice, origins: Origins, names: ByName, otherwise: Otherwise | None) -> Device:
    if message.device == "pretend":
        return SimulatedDevice(origins, names, otherwise)
    if message.device != "cpu":
        return Cuda(torch.device(message.device), origins, otherwise, cudnn=message.cudnn)
    if message.dtype is not None and message.trace == "coarser":
        return Cpu(CoarserLog(message.dtype))
    if message.dtype is not None and message.trace == "all":
        return Cpu(DtypeLog(origins, message.dtype))
    return Cpu(None, otherwise)


def _make_and_call(
    objects: Objects,
    message: RunOnDevice,
    args: tuple[Any, ...],
    machine: Device,
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
            machine.quiet = True
            load(target, message.made.state)
            machine.quiet = False
    modules = modules_in((target, getattr(target, "__self__", None)), args)
    machine.quiet = True
    for module in modules:
        as_made = module is target and message.as_made
        move(module, None if as_made else message.dtype, machine)
    registered = _registered(modules)
    seen.stayed = [name for name, tensor in registered if _device_of(tensor) != machine.device]
    leaves: list[torch.Tensor] = []
    args = tuple(
        arg
        if position in message.on_cpu
        else map_tree(arg, lambda leaf: _given(leaf, machine, leaves, message.gradients))
        for position, arg in enumerate(args)
    )
    machine.quiet = False
    origins.begun()
    machine.given([*tensors_in(args), *(tensor for _, tensor in registered)])
    if message.method:
        target = getattr(target, message.method)
    torch.default_generator.manual_seed(message.seed if message.call_seed is None else message.call_seed)
    with ExitStack() as stack:
        if message.autocast:
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
            stack.enter_context(_on_any_processor())
            if message.autocast == "cuda":
                stack.enter_context(GpuAutocast())
        value = settled(target(*args))
    tensors = tensors_in(value)
    machine.ended(tensors)
    seen.value = value
    if message.looks is not None:
        modules += modules_in((), value)
        seen.value = (value, [tensor.detach() for _, tensor in _registered(modules)])
    seen.places = [_place_of(tensor) for tensor in tensors]
    if message.gradients:
        _take_gradients(modules, leaves, tensors, machine, seen)
    if message.repeat:
        seen.memory = machine.memory(lambda: target(*args), message.repeat)


@contextmanager
def _on_any_processor() -> Iterator[None]:
    """Keep oneDNN out where the processor has no instructions for bfloat16.

    Under autocast torch 2.13 asks for a bfloat16 kernel that processors without AVX-512 do not have, and
    stops: "could not create a primitive descriptor". (`torch.backends.mkldnn.flags` would warn of TF32.)
    """
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(enabled and torch.ops.mkldnn._is_mkldnn_bf16_supported())
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _registered(modules: Sequence[nn.Module]) -> list[tuple[str, torch.Tensor]]:
    """The modules' tensors by name, but those that wait for a first input to get their shape."""
    named = [pair for m in modules for pair in (*parameters_of(m).items(), *buffers_of(m).items())]
    return [(name, tensor) for name, tensor in named if not is_lazy(tensor)]


def _given(value: Any, machine: Device, leaves: list[torch.Tensor], gradients: bool) -> Any:
    """An argument as the student gets it: there, and one step into the graph if gradients are wanted."""
    if not isinstance(value, torch.Tensor):
        return value
    there = machine.wrap(value)
    if not gradients or not value.is_floating_point():
        return there
    leaves.append(there.requires_grad_())
    return there.clone()


def _take_gradients(
    modules: Sequence[nn.Module],
    leaves: Sequence[torch.Tensor],
    tensors: Sequence[torch.Tensor],
    machine: Device,
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
        (output, machine.wrap(weight) if _place_of(output) != "cpu" else weight)
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
