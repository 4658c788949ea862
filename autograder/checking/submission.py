"""The handle through which a check reaches a student's objects, wherever they live.

`submission.rnn_cell(x, h, …)` calls the student's function and returns plain data. In a
notebook the objects are next door; when grading they are behind the wall, and only tensors,
numbers and text ever come back. Whatever the worker says about itself (what it modified, which
kernels ran, what a module registers) is the student's word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from autograder.checking.answers import Exchange
from autograder.checking.errors import NotDefined, StudentError
from autograder.checking.observed import Gradients, Module, Placed
from autograder.worker.frames import Ref
from autograder.worker.nested import map_tree

_MOST_LATER = 8
"""Requests that may wait for the next one: each may bring a module's parameters, and a frame has limits."""

Perform = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries one request to the student's objects and brings the answer back."""


@dataclass(frozen=True)
class Call:
    """One call and its answer: the value, the arguments as the call left them, what ran."""

    value: Any
    arguments: tuple[Any, ...]
    attached: list[bool]
    kernels: tuple[str, ...]
    _number: int
    _submission: Submission

    def backward(self, weights: list[torch.Tensor]) -> Gradients:
        """Gradients of the sum of the floating outputs, each weighted. The call needs `grad=True`."""
        told = self._submission.ask({"op": "backward", "call": self._number, "weights": weights})
        return Gradients(told["inputs"], told["parameters"], told["attached"])


class Target:
    """One of the student's objects: a function, a class, a module, or an attribute of one."""

    def __init__(
        self, submission: Submission, where: dict[str, Any], type_name: str = "", is_module: bool = False
    ) -> None:
        self._submission, self._where, self.type = submission, where, type_name
        self.is_module = is_module
        """Whether it is an `nn.Module`; known of objects that an answer held."""

    @property
    def on_gpu(self) -> bool:
        """Whether it can be called on a real GPU."""
        return self._submission.on_gpu

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it and return the value."""
        return self.run(args, kwargs, arguments=False).value

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        *,
        grad: bool = False,
        kernels: bool = False,
        default_dtype: torch.dtype | None = torch.float64,
        arguments: bool = True,
    ) -> Call:
        """Call it and return everything seen of the call.

        `default_dtype` is torch's default while it runs: float64, so that a state created without
        a dtype is judged by the dtype check alone; `None` leaves it as it is.
        """
        wanted = {"grad": grad, "kernels": kernels, "arguments": arguments}
        options = {name: True for name, value in wanted.items() if value}
        told = self._submission.ask(self._call(args, kwargs, default_dtype) | options)
        return Call(
            value=self._submission.incoming(told["value"]),
            arguments=told.get("arguments", ()),
            attached=told["attached"],
            kernels=tuple(told.get("kernels", ())),
            _number=told["call"],
            _submission=self._submission,
        )

    def placed(
        self,
        args: tuple[Any, ...],
        *,
        device: str,
        made_with: tuple[Any, ...] | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        dtype: torch.dtype | None = None,
        default_dtype: torch.dtype | None = torch.float64,
        method: str | None = None,
        on_cpu: tuple[int, ...] = (),
        gradients: bool = False,
        **more: Any,
    ) -> Placed:
        """Call it on `cpu`, on the `pretend` device or on a real one, and return what was seen.

        A real one is `cuda:1`, or `cuda`, the one of the highest number.

        `made_with` are the arguments that make the module to be called, which then gets `state`; without
        them it is called as it is. Modules among the arguments move, too, and stay moved. `on_cpu` are the
        positions of arguments that are left on the CPU. `more` are fields of the operation `place`.
        """
        request: dict[str, Any] = {
            "op": "place",
            **self._where,
            "args": _outgoing(args),
            "device": device,
            "default_dtype": default_dtype,
            "seed": 0,
            "on_cpu": list(on_cpu),
            **more,
        }
        if made_with is not None:
            request["make"] = {"args": _outgoing(made_with), "state": dict(state) if state else None}
        if dtype is not None:
            request["dtype"] = dtype
        if method is not None:
            request["method"] = [method]
        if gradients:
            request["backward"] = 1
        told = self._submission.ask(request)
        slopes = told.get("gradients", {})
        return Placed(
            device=str(told.get("device", "")),
            value=self._submission.incoming(told.get("value")),
            places=tuple(map(str, told.get("places", ()))),
            stayed=tuple(map(str, told.get("stayed", ()))),
            inputs=slopes.get("inputs", []),
            parameters=slopes.get("parameters", {}),
            gradient_places=tuple(map(str, slopes.get("places", ()))),
            events=tuple(_event(event) for event in told.get("events", ())),
            memory=tuple(told.get("memory", ())),
            error=StudentError(told["error"]) if told.get("error") else None,
        )

    def made(self, args: tuple[Any, ...], kwargs: dict[str, Any], refuse: Callable[[Any], object]) -> Target:
        """The module that calling it makes, before the next request.

        If it makes something else, `refuse` is called with that in the next request's place, and raises.
        """
        request = self._call(_copies(args), _copies(kwargs), torch.float64) | {"op": "make"}
        return self._submission.named(request, str(self._where.get("name", "")), refuse)

    def attribute(self, *path: str) -> Any:
        """An attribute's value, or a `Target` if it is an object."""
        where = {**self._where, "path": [*self._where.get("path", []), *path]}
        return self._submission.incoming(self._submission.ask({"op": "attribute", **where})["value"])

    def describe(self) -> Module:
        """What it registers, if it is a module."""
        told = self._submission.ask({"op": "describe", **self._where})
        return Module(
            is_module=told["module"],
            type=told["type"],
            shapes={name: tuple(shape) for name, shape in told.get("shapes", {}).items()},
            trainable=tuple(told.get("trainable", ())),
            leaves=tuple(told.get("leaves", ())),
            modules=told.get("modules", {}),
            kinds=tuple(told.get("kinds", ())),
            saved=tuple(told.get("saved", ())),
            shared=tuple(tuple(map(str, names)) for names in told.get("shared", ())),
        )

    def parameters(self) -> dict[str, torch.Tensor]:
        """The parameters that a module registers, by name."""
        return dict(self._submission.ask({"op": "parameters", **self._where})["parameters"])

    def method(self, name: str) -> Target:
        """A method, to be called."""
        return Target(self._submission, {**self._where, "path": [*self._where.get("path", []), name]})

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give a module its parameters, before the next request."""
        self.method("load_state_dict")._call_later(dict(state))

    def state_dict(self) -> dict[str, torch.Tensor]:
        """A module's parameters and buffers, by name."""
        return dict(self.method("state_dict")())

    def train(self, mode: bool = True) -> None:
        """Put a module into training mode, before the next request."""
        self.method("train")._call_later(mode)

    def eval(self) -> None:
        """Put a module into evaluation mode, before the next request."""
        self.method("eval")._call_later()

    def to(self, dtype: torch.dtype) -> None:
        """Convert a module in place, before the next request."""
        self._submission.later(
            {"op": "convert", **self._where, "dtype": dtype, "default_dtype": torch.float64}
        )

    def outgoing(self) -> Ref:
        """How it is named when it is itself an argument."""
        return Ref(int(self._where["object"]), self.type)

    def _call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, default_dtype: torch.dtype | None
    ) -> dict[str, Any]:
        request = {"op": "call", **self._where, "args": _outgoing(args), "default_dtype": default_dtype}
        return request | ({"kwargs": _outgoing(kwargs)} if kwargs else {})

    def _call_later(self, *args: Any) -> None:
        self._submission.later(self._call(_copies(args), None, torch.float64))


class Submission:
    """A student's objects by name: `submission.rnn_cell` is the function, ready to be called."""

    def __init__(
        self,
        perform: Perform,
        sources: Mapping[str, str] | None = None,
        cell_errors: Mapping[str, StudentError] | None = None,
        *,
        on_gpu: bool = False,
    ) -> None:
        self._perform = perform
        self.on_gpu = on_gpu
        """Whether the objects' process has a real GPU, on which checks of devices are made, too."""
        self.sources: Mapping[str, str] = sources or {}
        """The student's cells as they were read on the trusted side, in order, by task or name."""
        self.cell_errors: Mapping[str, StudentError] = cell_errors or {}
        """What stopped a solution cell, by task, where it did not run to its end."""
        self.exchanges: list[Exchange] = []
        """What was asked and answered since the check began."""
        self._begin: dict[str, Any] | None = None
        """What the next request is to begin with."""
        self._later: list[dict[str, Any]] = []
        """What is to be done before the next request."""
        self._refuse: dict[int, Callable[[Any], object]] = {}
        """For each module made in this check, by its number: what to do if it is none."""
        self._last_named = 0

    def __getattr__(self, name: str) -> Target:
        if name.startswith("__"):
            raise AttributeError(name)
        return Target(self, {"name": name})

    def begin(self, name: str, seed: int) -> None:
        """Begin a check: let go of what earlier calls left behind, and seed the student's generator.

        That goes with the check's first request, which raises `NotDefined` unless the submission defines
        the name that the check is about.
        """
        self.exchanges.clear()
        self._later.clear()
        self._refuse.clear()
        self._last_named = 0
        self._begin = {"name": name, "seed": seed}

    def finish(self) -> None:
        """End a check: have done what was left for later, and raise what that or the beginning raises."""
        if self._begin is not None or self._later:
            self.ask({"op": "nothing"})

    def given(
        self,
        name: str,
        *args: Any,
        source: str | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        dtype: torch.dtype | None = torch.float64,
        **kwargs: Any,
    ) -> Target:
        """What a task is given: `nn.<name>`, or what `source` defines by that name, on the student's side.

        It is there with the next request.
        """
        request: dict[str, Any] = {
            "op": "build",
            "name": name,
            "args": _outgoing(_copies(args)),
            "kwargs": _outgoing(_copies(kwargs)),
            "dtype": dtype,
        }
        if source is not None:
            request["source"] = source
        if state is not None:
            request["state"] = _copies(dict(state))
        return self.named(request, name)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have one request performed; what the student's code raises there is a `StudentError` here."""
        begin, self._begin = self._begin, None
        first, self._later = self._later, []
        answer = self._perform(
            request | ({"begin": begin} if begin else {}) | ({"first": first} if first else {})
        )
        if begin and "missing" in answer:
            raise NotDefined(begin["name"])
        done = first
        if "at" in answer:
            done, (request, *_) = first[: answer["at"]], first[answer["at"] :]
        self.exchanges += [(each, {"done": True}) for each in done]
        self.exchanges.append((request, answer))
        if "raised" in answer:
            raise StudentError(answer["raised"])
        if "made" in answer:
            self._refuse[request["as"]](self.incoming(answer["made"]))
        return answer

    def later(self, request: dict[str, Any]) -> None:
        """Have a request performed before the next one, in one go; what it raises is raised then."""
        if len(self._later) == _MOST_LATER:
            self.ask({"op": "nothing"})
        self._later.append(request)

    def named(
        self, request: dict[str, Any], kind: str, refuse: Callable[[Any], object] = lambda made: None
    ) -> Target:
        """What a request makes before the next one, under a number that it is given from here.

        The student's side numbers what it hands out from 1 upwards.
        """
        self._last_named -= 1
        self._refuse[self._last_named] = refuse
        self.later(request | {"as": self._last_named})
        return Target(self, {"object": self._last_named}, kind, is_module=True)

    def incoming(self, value: Any) -> Any:
        def leaf(item: Any) -> Any:
            return (
                Target(self, {"object": item.id}, item.type, item.is_module)
                if isinstance(item, Ref)
                else item
            )

        return map_tree(value, leaf)


def _outgoing(value: Any) -> Any:
    """Arguments of a request. Their tensors stay the check's own: a call is made with copies."""

    return map_tree(value, lambda item: item.outgoing() if isinstance(item, Target) else item)


def _copies(value: Any) -> Any:
    """The tensors as they are now: the check may change its own before the request is sent."""
    return map_tree(value, lambda item: item.detach().clone() if isinstance(item, torch.Tensor) else item)


def _event(told: Any) -> Mapping[str, str]:
    """An event of a call as the worker tells it, in lengths that a person reads."""
    fields = told if isinstance(told, dict) else {}
    return {
        name: "".join(c for c in str(fields.get(name, ""))[:300] if c.isprintable())
        for name in ("kind", "operation", "line", "made", "name", "held", "dtype")
    }
