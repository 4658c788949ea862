"""Answers calls to the objects of one notebook's namespace.

The same code serves the worker, where requests come over the wire, and a student's own notebook,
where they come from the next frame: `Objects(namespace).perform(request)`. A request is a dict
with `op`; an answer is plain data: numbers, text, containers, plain tensors that share no memory
with the student's, `Ref` for what stays here and `Opaque` for what does not travel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import nn

from autograder.protocol.frames import MAX_NESTING
from autograder.protocol.looks import NOT_A_NUMBER
from autograder.protocol.tensors import DTYPES, MAX_BODY
from autograder.protocol.values import Opaque, Ref, map_tree, tensors_in, tree_leaves
from autograder.worker.devices.modules import assembled, convert, load
from autograder.worker.session.calls.left import Left, Marks
from autograder.worker.session.calls.limit import Late, Limit
from autograder.worker.session.calls.printed import Printed
from autograder.worker.session.device_call import place
from autograder.worker.session.eager import as_plain_python
from autograder.worker.tracing.gradients import gradients_of
from autograder.worker.tracing.kernels import CallLog, KernelLog
from autograder.worker.tracing.looks import ForNumpy, Otherwise
from autograder.worker.tracing.module_contents import (
    address_of,
    asks_for_gradients,
    clone,
    detach,
    modules_of,
    parameters_of,
)
from autograder.worker.tracing.provenance import describe_exception

_DTYPES = frozenset(DTYPES.values())
_PLAIN = frozenset({type(None), bool, int, float, str})
_PLAIN_TYPES = (torch.Tensor, nn.Parameter)

Operation = Callable[["Objects", dict[str, Any]], dict[str, Any]]


class Objects:
    """The objects of one notebook, by name in `namespace` and by the numbers handed out for them."""

    def __init__(self, namespace: dict[str, Any], limit: Limit | None = None) -> None:
        """`limit` is for where nobody outside sees to it that each call ends."""
        self.namespace = namespace
        self._limit = limit
        self._objects: dict[int, Any] = {}
        self._calls: dict[int, tuple[list[torch.Tensor], list[torch.Tensor], list[nn.Module]]] = {}
        self._left = Left()
        self._next = 1

    def perform(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what the request says. What the student's code raises comes back as `{"raised": …}`.

        A request with `begin` is the first of a check: it starts with nothing that was handed out before.
        Where the name that the check is about is not there, all that comes back is `{"missing": name}`.
        Requests under `first` are done before it; one that raises, or makes no module where it should, is the
        last, and `at` says which it was. What a request makes goes by the number that it is given `as`.
        `printed` is what the student's code printed meanwhile, if it did; where it was stopped because it did
        not return, the answer is `{"late": {"seconds": …, "line": …}}`.
        """
        operation = _OPERATIONS.get(str(request.get("op")))
        if operation is None:
            raise ValueError(f"unknown operation {request.get('op')!r}")
        if operation is Objects._each:
            return self._each(request)
        with Printed() as printed:
            work = partial(self._perform, operation, request)
            try:
                told = work() if self._limit is None else self._limit.run(work)
            except Late as late:
                told = {"late": {"seconds": late.seconds, "line": late.line}}
        return {**told, "printed": printed.text} if printed.text else told

    def _perform(self, operation: Operation, request: dict[str, Any]) -> dict[str, Any]:
        if "begin" in request and not self._begin(**request["begin"]):
            return {"missing": request["begin"]["name"]}
        previous = torch.get_default_dtype()
        try:
            torch.set_default_dtype(request.get("default_dtype") or previous)
            # A cell may have switched gradients off for all that follows.
            with as_plain_python(), torch.enable_grad():
                for at, earlier in enumerate(request.get("first", ())):
                    told = self._perform(_OPERATIONS[earlier["op"]], earlier)
                    if "raised" in told or "made" in told:
                        return {**told, "at": at}
                return operation(self, request)
        except (Exception, SystemExit) as error:
            return {"raised": describe_exception(error)}
        finally:
            torch.set_default_dtype(previous)

    # Operations, in the order a check uses them.

    def _build(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make one of torch's modules, or an object from source text that a check ships."""
        args, kwargs = self.arguments(request)
        if "source" in request:
            home: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, "__name__": "given"}
            exec(compile(request["source"], "<given by the check>", "exec"), home)
            made = home[request["name"]](*args, **kwargs)
        elif "settings" in request:
            kind = getattr(nn, request["name"])
            made = assembled(kind, request["state"], request["settings"], request["lists"], request["absent"])
        else:
            made = getattr(nn, request["name"])(*args, **kwargs)
        if request.get("dtype") is not None:
            made = made.to(request["dtype"])
        if request.get("state") is not None and "settings" not in request:
            load(made, request["state"])
        self._objects[request["as"]] = made
        return {}

    def _make(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a module by calling its class; if that gives something else, it is `made`."""
        args, kwargs = self.arguments(request)
        target = self.target(request)
        with self._left.noted():
            made = target(*args, **kwargs)
        if not isinstance(made, nn.Module):
            return {"made": self.plain(made)}
        self._objects[request["as"]] = made
        return {}

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give a module its parameters and buffers."""
        load(self.target(request), request["state"])
        return {}

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call a target; `grad` makes every floating tensor among the arguments ask for a gradient."""
        target = self.target(request)
        args, kwargs = self.arguments(request)
        leaves: list[torch.Tensor] = []
        if request.get("grad"):
            # The student gets a copy one step into the graph: writing into it stays an error of
            # its own rule, and does not hide whether gradients flow.
            args, kwargs = map_tree((args, kwargs), lambda leaf: _attach(leaf, leaves))
        logs = (CallLog(), KernelLog()) if request.get("kernels") else ()
        marks = Marks(args if request.get("arguments") else ())
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode() if logs else torch.enable_grad())
            for log in logs:
                stack.enter_context(log)
            if request.get("numpy"):
                stack.enter_context(ForNumpy(Otherwise(NOT_A_NUMBER, None)))
            with self._left.noted():
                value = target(*args, **kwargs)
        call, self._next = self._next, self._next + 1
        modules = [m for m in (target, getattr(target, "__self__", None)) if isinstance(m, nn.Module)]
        modules += [m for m in tree_leaves((args, kwargs)) if isinstance(m, nn.Module)]
        tensors = tensors_in(value)
        self._calls[call] = ([tensor for tensor in tensors if _floating(tensor)], leaves, modules)
        answer = {
            "value": self.plain(value),
            "call": call,
            "attached": [asks_for_gradients(tensor) for tensor in tensors],
        }
        if request.get("arguments"):
            answer["arguments"] = self.plain(args)
            modules_left = marks.changed()
            self._left.of_call_in_float32(target, lambda: self.arguments(request))
            if self._left.names or modules_left:
                answer["left"] = [*sorted(self._left.names), *modules_left]
        if logs:
            answer["kernels"] = sorted(set().union(*(log.names for log in logs)))
        return answer

    def _backward(self, request: dict[str, Any]) -> dict[str, Any]:
        """Gradients of the weighted sum of a call's floating outputs, for its inputs and parameters.

        Without a number it is the last call that came to its end.
        """
        number = request["call"] if "call" in request else next(reversed(self._calls))
        outputs, leaves, modules = self._calls[number]
        weights = request["weights"]
        if len(weights) != len(outputs):
            raise ValueError("one weight for each floating tensor of the answer is needed")
        named = [pair for module in modules for pair in parameters_of(module).items()]
        wanted = leaves + [p for _, p in named if asks_for_gradients(p)]
        live = [(o, w) for o, w in zip(outputs, weights, strict=True) if asks_for_gradients(o)]
        if not live or not wanted:
            return {
                "inputs": [None] * len(leaves),
                "parameters": {name: None for name, _ in named},
                "attached": False,
            }
        total = sum((output * weight.to(output.dtype)).sum() for output, weight in live)
        grads = gradients_of(total, wanted)
        rest = iter(grads[len(leaves) :])
        parameters = {name: next(rest) if asks_for_gradients(p) else None for name, p in named}
        return {
            "inputs": self.plain(grads[: len(leaves)]),
            "parameters": self.plain(parameters),
            "attached": True,
        }

    def _describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a module registers, by name; of parameters the shapes."""
        module = self.target(request)
        if not isinstance(module, nn.Module):
            return {"module": False, "type": type(module).__name__}
        named = parameters_of(module)
        return {
            "module": True,
            "type": type(module).__name__,
            "shapes": {n: tuple(p.shape) for n, p in named.items()},
            "trainable": [n for n, p in named.items() if asks_for_gradients(p)],
            "leaves": [n for n, p in named.items() if p.is_leaf],
            "saved": [str(name) for name in module.state_dict()],
            "shared": _shared(named),
            "modules": {n: type(m).__qualname__ for n, m in modules_of(module) if n},
            "kinds": sorted({base.__qualname__ for _, m in modules_of(module) for base in type(m).__mro__
                             if base.__module__.startswith("torch.nn.modules.")}),
        }  # fmt: skip

    def _convert(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give a module's tensors a dtype."""
        convert(self.target(request), request["dtype"])
        return {}

    def _parameters(self, request: dict[str, Any]) -> dict[str, Any]:
        """A module's parameters by name, whatever its `state_dict()` gives."""
        module = self.target(request)
        return {"parameters": self.plain({n: detach(p) for n, p in parameters_of(module).items()})}

    def _attribute(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"value": self.plain(self.target(request))}

    def _each(self, request: dict[str, Any]) -> dict[str, Any]:
        """Several requests in turn, up to the first that stops."""
        answers: list[dict[str, Any]] = []
        for each in request["requests"]:
            answers.append(self.perform(each))
            if not answers[-1].keys().isdisjoint(("raised", "made", "missing", "late")):
                break
        return {"each": answers}

    def _nothing(self, request: dict[str, Any]) -> dict[str, Any]:
        return {}

    # What operations share; `place` is written elsewhere.

    def _begin(self, name: str, seed: int) -> bool:
        """Let go of everything handed out so far, and seed; whether the name is there."""
        self._objects.clear()
        self._calls.clear()
        self._left = Left()
        _seed(seed)
        return name in self.namespace

    def target(self, request: dict[str, Any]) -> Any:
        target = self._objects[request["object"]] if "object" in request else self.namespace[request["name"]]
        for attribute in request.get("path", []):
            target = getattr(target, attribute)
        return target

    def arguments(self, request: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a call is made with: copies, for in a notebook the request holds the check's own tensors."""

        def leaf(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.detach().clone()
            return self._objects[value.id] if isinstance(value, Ref) else value

        return map_tree((tuple(request.get("args", ())), dict(request.get("kwargs", {}))), leaf)

    def _keep(self, value: Any) -> Ref:
        number = next((number for number, known in self._objects.items() if known is value), self._next)
        if number == self._next:
            self._next += 1
            self._objects[number] = value
        return Ref(number, type(value).__name__, isinstance(value, nn.Module))

    def plain(self, value: Any, depth: int = 0) -> Any:
        if depth >= MAX_NESTING - 4:  # above it are the answer, and all answers to one request
            return Opaque("a value nested too deeply")
        if isinstance(value, torch.Tensor):
            return _plain_tensor(value)
        if type(value) in _PLAIN or isinstance(value, (torch.dtype, Ref, Opaque)):
            return value
        if _of_numpy(value):
            return self.plain(value.item(), depth + 1)
        if isinstance(value, (list, torch.Size, tuple)):
            items = [self.plain(item, depth + 1) for item in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict):
            return {self._plain_key(key): self.plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, (nn.Module, type, ModuleType)) or callable(value):
            return self._keep(value)
        return Opaque(_kind(value), type(value).__module__ == "__main__")

    def _plain_key(self, key: Any) -> Any:
        return key if type(key) in (str, int, float, bool) or key is None else _kind(key)


_OPERATIONS: dict[str, Operation] = {
    "build": Objects._build,
    "make": Objects._make,
    "load": Objects._load,
    "call": Objects._call,
    "backward": Objects._backward,
    "describe": Objects._describe,
    "parameters": Objects._parameters,
    "convert": Objects._convert,
    "attribute": Objects._attribute,
    "each": Objects._each,
    "nothing": Objects._nothing,
    "place": place,
}


def _seed(seed: int) -> None:
    """Seed torch's generators. `torch.manual_seed` keeps a whole traceback for when CUDA comes."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


def _attach(value: Any, leaves: list[torch.Tensor]) -> Any:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    leaf = value.requires_grad_()
    leaves.append(leaf)
    return leaf.clone()


def _shared(named: dict[str, nn.Parameter]) -> list[list[str]]:
    """The names of parameters that begin at one place in memory, for each place that has more than one."""
    places: dict[int, list[str]] = {}
    for name, parameter in named.items():
        place = address_of(parameter) if parameter.numel() else 0
        if place:  # 0 where nothing is stored
            places.setdefault(place, []).append(name)
    return [names for names in places.values() if len(names) > 1]


def _floating(value: torch.Tensor) -> bool:
    return type(value) in _PLAIN_TYPES and value.is_floating_point()


def _plain_tensor(value: torch.Tensor) -> Any:
    if type(value) not in _PLAIN_TYPES:
        return Opaque(f"a {type(value).__name__}, a subclass of torch.Tensor")
    if value.layout is not torch.strided or value.is_quantized:
        return Opaque("a tensor that is not dense")
    if value.is_meta:
        return Opaque("a tensor on the meta device, without values")
    if value.dtype not in _DTYPES:
        return Opaque(f"a tensor of dtype {str(value.dtype).removeprefix('torch.')}")
    if value.numel() * value.element_size() > MAX_BODY:
        return Opaque(f"a tensor of {value.numel()} numbers, too large to look at")
    plain = detach(value)
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    if plain.is_cpu and not plain.is_inference():
        return clone(plain)
    # A mode-free copy: what an inference-mode call returned may be used like any other tensor.
    with torch.inference_mode(False), torch.no_grad():
        return torch.empty_like(plain, device="cpu").copy_(plain)


def _of_numpy(value: Any) -> bool:
    """Whether it is one of numpy's numbers or truth values, which print and count as Python's own."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.bool_, numpy.integer, numpy.floating))


def _kind(value: Any) -> str:
    cls = type(value)
    module = "" if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__.split('.')[0]}."
    article = "an" if (module or cls.__name__)[:1].lower() in "aeiou" else "a"
    return f"{article} {module}{cls.__name__}"
