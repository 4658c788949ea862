"""Operations on a notebook's objects: a function for each message of `protocol/messages.py`.

A call on a device is in `device_call.py`. What the student's code raises passes through to the executor.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch import nn

from autograder.protocol import answers, messages
from autograder.protocol.tensors import DTYPES, tensors_in
from autograder.protocol.values import ByName, map_tree, tree_leaves
from autograder.worker.portability.modules import assembled, load
from autograder.worker.session.calls.left import Marks
from autograder.worker.session.objects import KeptCall, Objects, is_floating, settled
from autograder.worker.tracing import module_contents
from autograder.worker.tracing.gradients import gradients_of
from autograder.worker.tracing.modes import NumpyOfBfloat16
from autograder.worker.tracing.module_contents import (
    address_of,
    asks_for_gradients,
    buffers_of,
    detach,
    is_inference,
    is_leaf,
    modules_of,
    parameters_of,
    parameters_of_all,
)

DONE = answers.Done()


def begin(objects: Objects, message: messages.Begin) -> answers.Done | answers.Missing:
    """Let go of everything handed out so far, and seed."""
    objects.forget()
    # `torch.manual_seed` keeps a whole traceback for when CUDA comes.
    torch.default_generator.manual_seed(message.seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(message.seed)
    return DONE if message.name in objects.namespace else answers.Missing()


def construct(objects: Objects, message: messages.Construct) -> answers.Done:
    """Make one of torch's modules, or an object from source text that a check ships."""
    args, kwargs = objects.arguments(message.args, message.kwargs)
    parts = message.assembled
    if message.source is not None:
        home: ByName = {"torch": torch, "nn": nn, "F": nn.functional, "contents": module_contents}
        home["__name__"] = "given"
        exec(compile(message.source, "<given by the check>", "exec"), home)
        made = home[message.name](*args, **kwargs)
    elif parts is not None:
        kind = getattr(nn, message.name)
        made = assembled(kind, message.state or {}, parts.settings, parts.lists, parts.absent)
    else:
        made = getattr(nn, message.name)(*args, **kwargs)
    if message.dtype is not None:
        made = made.to(DTYPES[message.dtype])
    if message.state is not None and parts is None:
        load(made, message.state)
    objects.keep(message.number, made)
    return DONE


def make(objects: Objects, message: messages.Make) -> answers.Done | answers.NoModule:
    """Make a module by calling its class."""
    args, kwargs = objects.arguments(message.args, message.kwargs)
    target = objects.target(message.target)
    with objects.left.noted():
        made = target(*args, **kwargs)
    if not isinstance(made, nn.Module):
        return answers.NoModule(value=objects.plain(made))
    objects.keep(message.number, made)
    return DONE


def load_state(objects: Objects, message: messages.Load) -> answers.Done:
    """Give a module its parameters and buffers."""
    load(objects.target(message.target), message.state)
    return DONE


def convert_module(objects: Objects, message: messages.Convert) -> answers.Done:
    """Give a module's tensors a dtype."""
    objects.target(message.target).to(DTYPES[message.dtype])
    return DONE


def call(objects: Objects, message: messages.Call) -> answers.Done | answers.Called:
    """Call a target, and say what was seen of the call."""
    target = objects.target(message.target)
    args, kwargs = objects.arguments(message.args, message.kwargs, message.packed)
    leaves: list[torch.Tensor] = []
    if message.grad:
        # The student gets a copy one step into the graph: writing into it stays an error of
        # its own rule, and does not hide whether gradients flow.
        args, kwargs = map_tree((args, kwargs), lambda leaf: _attach(leaf, leaves))
    marks = Marks(args if message.arguments else ())
    with ExitStack() as stack:
        stack.enter_context(torch.enable_grad())
        if message.numpy:
            stack.enter_context(NumpyOfBfloat16())
        with objects.left.noted():
            value = settled(target(*args, **kwargs))
    tensors = tensors_in(value)
    if message.number:
        modules = modules_in((target, getattr(target, "__self__", None)), args, kwargs)
        objects.calls[message.number] = KeptCall(list(filter(is_floating, tensors)), leaves, modules)
    if message.unanswered:
        return DONE
    given: tuple[Any, ...] = ()
    left: list[str | tuple[int, str]] = []
    if message.arguments:
        given = objects.plain(args)
        modules_left = marks.changed()
        objects.left.of_call_in_float32(target, lambda: objects.arguments(message.args, message.kwargs))
        left = [*sorted(objects.left.names), *modules_left]
        if any(map(is_inference, tensors)):
            left.append("inference")
    return answers.Called(
        value=objects.packed(value) if message.packed else objects.plain(value),
        attached=tuple([asks_for_gradients(tensor) for tensor in tensors]),
        arguments=given,
        left=tuple(left),
    )


def modules_in(targets: tuple[Any, ...], *arguments: Any) -> list[nn.Module]:
    """Return the modules among the targets of a call and its arguments."""
    return [m for m in (*targets, *tree_leaves(arguments)) if isinstance(m, nn.Module)]


def backward(objects: Objects, message: messages.Backward) -> answers.Gradients:
    """Take the gradients of the weighted sum of a call's floating outputs, for its inputs and parameters."""
    kept, weights = objects.calls[message.call], message.weights
    leaves = kept.leaves
    if len(weights) != len(kept.outputs):
        raise ValueError("one weight for each floating tensor of the answer is needed")
    named = parameters_of_all(kept.modules)
    frozen = tuple(name for name, p in named.items() if not asks_for_gradients(p))
    wanted = leaves + [p for name, p in named.items() if name not in frozen]
    live = [(o, w) for o, w in zip(kept.outputs, weights, strict=True) if asks_for_gradients(o)]
    if not live or not wanted:
        nothing = dict.fromkeys(named)
        return answers.Gradients(
            inputs=(None,) * len(leaves), parameters=nothing, attached=False, frozen=frozen
        )
    total = sum((output * weight.to(output.dtype)).sum() for output, weight in live)
    grads = gradients_of(total, wanted)
    rest = iter(grads[len(leaves) :])
    parameters = {name: None if name in frozen else next(rest) for name in named}
    return answers.Gradients(
        inputs=objects.plain(tuple(grads[: len(leaves)])),
        parameters=objects.plain(parameters),
        attached=True,
        frozen=frozen,
    )


def registered(objects: Objects, message: messages.ListRegistered) -> answers.Registered:
    """Say what a module registers: names, and the shapes of its parameters."""
    module = objects.target(message.target)
    if not isinstance(module, nn.Module):
        return answers.Registered(is_module=False, type=type(module).__name__)
    named = parameters_of(module)
    bases = {base for _, part in modules_of(module) for base in type(part).__mro__}
    return answers.Registered(
        is_module=True,
        type=type(module).__name__,
        shapes={name: tuple(p.shape) for name, p in named.items()},
        trainable=tuple(name for name, p in named.items() if asks_for_gradients(p)),
        leaves=tuple(name for name, p in named.items() if is_leaf(p)),
        saved=tuple(str(name) for name in module.state_dict()),
        shared=_shared(named),
        modules={name: type(part).__qualname__ for name, part in modules_of(module) if name},
        kinds=tuple(sorted({b.__qualname__ for b in bases if b.__module__.startswith("torch.nn.modules.")})),
    )


def parameters(objects: Objects, message: messages.Parameters) -> answers.ParameterValues:
    """Send a module's parameters by name, with its buffers if asked, whatever its `state_dict()` gives."""
    module = objects.target(message.target)
    named: dict[str, torch.Tensor] = {**parameters_of(module)}
    if message.computed:
        named |= buffers_of(module)
    return answers.ParameterValues(parameters=objects.plain({n: detach(p) for n, p in named.items()}))


def attribute(objects: Objects, message: messages.Attribute) -> answers.Value:
    """Send an object itself."""
    found = objects.target(message.target)
    return answers.Value(value=objects.packed(found) if message.packed else objects.plain(found))


def _attach(value: Any, leaves: list[torch.Tensor]) -> Any:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    leaf = value.requires_grad_()
    leaves.append(leaf)
    return leaf.clone()


def _shared(named: dict[str, nn.Parameter]) -> tuple[tuple[str, ...], ...]:
    """Return the names of parameters that begin at one place in memory, where there are several."""
    places: dict[int, list[str]] = {}
    for name, parameter in named.items():
        place = address_of(parameter)
        if place:
            places.setdefault(place, []).append(name)
    return tuple(tuple(names) for names in places.values() if len(names) > 1)
