"""One call on another device or in another dtype: the operation `place`, the same for every kind of device.

    {"op": "place", "name": "Layer", "make": {"args": [3, 5]}, "args": [x], "device": "pretend"}
    {"op": "place", "name": "Layer", "make": {"args": [3, 5]}, "args": [x], "dtype": …, "trace": "all"}

    {"op": "place", "name": "Layer", "make": {"args": [3, 5]}, "args": [x], "looks": [0, lines], …}

With `looks` the student's looks at numbers are answered otherwise (looks.py), and what the call leaves in the
modules is a part of the value.

`device` is `cpu`, `pretend` or a real one, `cuda:1`; `cuda` is the one of the highest number. What is moved
is moved for good: the modules among the arguments and the target are to be made for the one call (`make`
builds the target), because putting a module back is what no module can do by itself: a copy of one may still
call the original, and tensors that it holds outside its parameters do not come back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce
from operator import add
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from autograder.protocol.events import Line
from autograder.protocol.values import map_tree, tensors_in, tree_leaves
from autograder.worker.devices.autocast import GpuAutocast
from autograder.worker.devices.base import Device
from autograder.worker.devices.cpu import Cpu
from autograder.worker.devices.cuda import Cuda
from autograder.worker.devices.modules import load, move
from autograder.worker.simulated.device import SimulatedDevice
from autograder.worker.simulated.tensor import DEVICE, SimulatedTensor
from autograder.worker.tracing.dtypes import CoarserLog, DtypeLog
from autograder.worker.tracing.gradients import gradients_of
from autograder.worker.tracing.looks import Otherwise
from autograder.worker.tracing.modes import unwatched
from autograder.worker.tracing.module_contents import asks_for_gradients, parameters_of
from autograder.worker.tracing.provenance import Origins, describe_exception


class Owner(Protocol):
    """The objects of one notebook, as a call on a device needs them."""

    namespace: dict[str, Any]

    def target(self, request: dict[str, Any]) -> Any:
        """Return the object that a request is about."""

    def arguments(self, request: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what the object is called with."""

    def plain(self, value: Any) -> Any:
        """Return a value as it travels."""


def place(objects: Owner, request: dict[str, Any]) -> dict[str, Any]:
    """Make one call there. What stops it is in `error`, beside all that was seen until then."""
    origins = Origins()
    looks = request.get("looks")
    otherwise = None if looks is None else Otherwise(looks[0], _lines(looks[1]))
    machine = _machine(request, origins, objects.namespace, otherwise)
    answer: dict[str, Any] = {"device": str(machine.device), "places": [], "stayed": [], "error": None}
    with warnings.catch_warnings(), _one_way_of_attention(), _same_defaults():
        warnings.simplefilter("ignore")  # of torch's about the student's code, nobody would see them
        try:
            # Outside the device: in it, copies for the call and its answer would be seen as the student's.
            given = objects.arguments(request)
            with machine:
                found = _made_and_called(objects, request, given, machine, origins, answer)
            answer |= {name: objects.plain(_plainly(value)) for name, value in found.items()}
        except (Exception, SystemExit) as error:
            answer["error"] = describe_exception(error)
            machine.stopped(error)
    events = machine.events if otherwise is None else [*machine.events, *otherwise.events]
    answer["events"] = [event.as_data() for event in events]
    return answer


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
    """What the student's code makes torch's default device stays so for no longer than the call."""
    context: Any = torch._GLOBAL_DEVICE_CONTEXT
    before = getattr(context, "device_context", None)
    try:
        yield
    finally:
        if getattr(context, "device_context", None) is not before:
            torch.set_default_device(None if before is None else before.device)


def _machine(
    request: dict[str, Any], origins: Origins, names: dict[str, Any], otherwise: Otherwise | None
) -> Device:
    name = request.get("device", "cpu")
    if name == "cpu":
        match request.get("trace"), request.get("dtype"):
            case "coarser", torch.dtype() as dtype:
                return Cpu(CoarserLog(dtype))
            case "all", torch.dtype() as dtype:
                return Cpu(DtypeLog(origins, dtype))
        return Cpu(None, otherwise)
    if name == "pretend":
        return SimulatedDevice(origins, names, otherwise)
    return Cuda(torch.device(name), origins, otherwise, cudnn=request.get("cudnn", True))


def _made_and_called(
    objects: Owner,
    request: dict[str, Any],
    given: tuple[tuple[Any, ...], dict[str, Any]],
    machine: Device,
    origins: Origins,
    answer: dict[str, Any],
) -> dict[str, Any]:
    """Make the call and return what it gave, as it lies there; `answer` gets what is known on the way."""
    seed = int(request.get("seed", 0))
    target = objects.target(request)
    make = request.get("make")
    if make is not None:
        torch.default_generator.manual_seed(seed)
        made_with, named = objects.arguments(make)
        target = target(*made_with, **named)
        if make.get("state") is not None:
            machine.quiet = True
            load(target, make["state"])
            machine.quiet = False
    args, kwargs = given
    modules = [m for m in (target, getattr(target, "__self__", None)) if isinstance(m, nn.Module)]
    modules += [m for m in tree_leaves((args, kwargs)) if isinstance(m, nn.Module)]
    machine.quiet = True
    for module in modules:
        as_made = module is target and request.get("as_made")
        move(module, None if as_made else request.get("dtype"), machine)
    registered = _registered(modules)
    answer["stayed"] = [name for name, tensor in registered if _device_of(tensor) != machine.device]
    leaves: list[torch.Tensor] = []
    backward = request.get("backward")
    keep = set(request.get("on_cpu", ()))
    args = tuple(
        arg if position in keep else map_tree(arg, lambda leaf: _given(leaf, machine, leaves, backward))
        for position, arg in enumerate(args)
    )
    kwargs = map_tree(kwargs, lambda leaf: _given(leaf, machine, leaves, backward))
    machine.quiet = False
    origins.begun()
    machine.given([*tensors_in([args, kwargs]), *(tensor for _, tensor in registered)])
    for attribute in request.get("method", []):
        target = getattr(target, attribute)
    torch.default_generator.manual_seed(int(request.get("call_seed", seed)))
    with ExitStack() as stack:
        if request.get("autocast"):
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
            if request["autocast"] == "cuda":
                stack.enter_context(GpuAutocast())
        value = target(*args, **kwargs)
    tensors = tensors_in(value)
    machine.ended(tensors)
    found = {"value": value}
    if "looks" in request:
        modules += [part for part in tree_leaves(value) if isinstance(part, nn.Module)]
        found["value"] = (value, [tensor.detach() for _, tensor in _registered(modules)])
    answer["places"] = [_place_of(tensor) for tensor in tensors]
    if backward is not None:
        found["gradients"] = _gradients(modules, leaves, tensors, machine, int(backward))
    if request.get("repeat"):
        answer["memory"] = machine.memory(lambda: target(*args, **kwargs), int(request["repeat"]))
    return found


def _registered(modules: Sequence[nn.Module]) -> list[tuple[str, torch.Tensor]]:
    """The modules' tensors by name, but those that wait for a first input to get their shape."""
    named = [pair for m in modules for pair in (*parameters_of(m).items(), *m.named_buffers())]
    return [(name, tensor) for name, tensor in named if not is_lazy(tensor)]


def _given(value: Any, machine: Device, leaves: list[torch.Tensor], backward: int | None) -> Any:
    """An argument as the student gets it: there, and one step into the graph if gradients are wanted."""
    if not isinstance(value, torch.Tensor):
        return value
    there = machine.wrap(value)
    if backward is None or not value.is_floating_point():
        return there
    leaves.append(there.requires_grad_())
    return there.clone()


def _gradients(
    modules: Sequence[nn.Module],
    leaves: Sequence[torch.Tensor],
    tensors: Sequence[torch.Tensor],
    machine: Device,
    seed: int,
) -> dict[str, Any]:
    """Gradients under weights drawn from the seed, by input in order and by parameter, and where they are."""
    generator = torch.Generator().manual_seed(seed)
    outputs = [tensor for tensor in tensors if tensor.is_floating_point()]
    with unwatched():
        weights = [
            torch.randn(o.shape, generator=generator, dtype=torch.float64).to(o.dtype) for o in outputs
        ]
    named = [(n, p) for m in modules for n, p in parameters_of(m).items() if asks_for_gradients(p)]
    wanted = [*leaves, *(p for _, p in named)]
    live = [
        (output, machine.wrap(weight) if _place_of(output) != "cpu" else weight)
        for output, weight in zip(outputs, weights, strict=True)
        if asks_for_gradients(output)
    ]
    if not live or not wanted:
        return {"inputs": [], "parameters": {}, "places": []}
    # From one number: torch imports sympy, a second of work, to look at gradients that it is handed.
    total = reduce(add, [(output * weight).sum() for output, weight in live])
    grads = gradients_of(total, wanted)
    names = [name for name, _ in named]
    return {
        "inputs": list(grads[: len(leaves)]),
        "parameters": dict(zip(names, grads[len(leaves) :], strict=True)),
        "places": [_place_of(grad) for grad in grads if grad is not None],
    }


def _device_of(tensor: torch.Tensor) -> torch.device:
    return DEVICE if isinstance(tensor, SimulatedTensor) else tensor.device


def _place_of(tensor: torch.Tensor) -> str:
    return str(_device_of(tensor))


def _plainly(value: Any) -> Any:
    """The same nested value with the CPU tensors that tensors of the pretend device carry."""
    if isinstance(value, SimulatedTensor):
        return value.numbers
    if isinstance(value, dict):
        return {key: _plainly(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_plainly(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def _lines(told: Any) -> list[Line | None] | None:
    """Return the lines of a request; `None` among them is whatever runs outside the student's cells."""
    return None if told is None else [Line.from_data(each) for each in told]
