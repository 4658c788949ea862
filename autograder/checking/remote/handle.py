"""One of a student's objects as a check holds it: called, made, described, put on a device.

It holds a name only. Whatever it is asked goes through its submission, as a request in plain data. What the
worker says about itself (what it modified, which kernels ran, what a module registers) is the student's word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import torch

from autograder.checking.explain.failure import CheckFailed
from autograder.checking.remote.errors import StudentError, reading
from autograder.checking.remote.observations import Gradients, Module, Placed
from autograder.checking.remote.odd_answers import Named, NoTensor
from autograder.protocol.events import Event, Line
from autograder.protocol.values import Ref, map_tree

Kind = TypeVar("Kind")


class Connection(Protocol):
    """The way to a student's objects, as a handle needs it."""

    on_gpu: bool

    def remark(self, text: str) -> None:
        """Have the card say something of a check that passes."""

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have a request performed, and return the answer."""

    def promise(self, request: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        """Have a request performed together with others; return what gives the answer."""

    def later(self, request: dict[str, Any]) -> None:
        """Have a request performed before the next one."""

    def named(
        self, request: dict[str, Any], kind: str, refuse: Callable[[Any], object] | None = None
    ) -> Handle:
        """Return a handle to what a request makes before the next one."""

    def incoming(self, value: Any) -> Any:
        """Return an answer's value, with handles to the student's objects in it."""

    def tensor(self, value: Any) -> Any:
        """Return an answer's tensor, or what says of itself that it is none."""


@dataclass(frozen=True)
class Call:
    """One call and its answer: the value, the arguments as the call left them, what ran."""

    value: Any
    arguments: tuple[Any, ...]
    attached: list[bool]
    kernels: tuple[str, ...]
    left: tuple[str | tuple[int, str], ...]
    """What was left otherwise: torch's settings by name, `(position, what)` of modules given to it."""
    _number: int
    _submission: Connection

    def backward(self, weights: list[torch.Tensor]) -> Gradients:
        """Gradients of the sum of the floating outputs, each weighted. The call needs `grad=True`."""
        request = {"op": "backward", "call": self._number, "weights": weights}
        return Handle(self._submission, {})._gradients(self._submission.ask(request))


class Handle:
    """One of the student's objects: a function, a class, a module, or an attribute of one."""

    def __init__(
        self, submission: Connection, where: dict[str, Any], type_name: str = "", is_module: bool = False
    ) -> None:
        self._submission, self._where, self.type = submission, where, type_name
        self.is_module = is_module
        """Whether it is known to be an `nn.Module`: an answer held it, or its class was asked to make one."""

    @property
    def on_gpu(self) -> bool:
        """Whether it can be called on a real GPU."""
        return self._submission.on_gpu

    def remark(self, text: str) -> None:
        """Have the card say something of a check that passes."""
        self._submission.remark(text)

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
        numpy: bool = False,
    ) -> Call:
        """Call it and return everything seen of the call.

        `default_dtype` is torch's default while it runs: float64, so that a state created without
        a dtype is judged by the dtype check alone; `None` leaves it as it is. With `numpy` numpy gets float32
        for the bfloat16 that it does not have, all nan (`expect_without_numpy`).
        """
        wanted = {"grad": grad, "kernels": kernels, "arguments": arguments, "numpy": numpy}
        options = {name: True for name, value in wanted.items() if value}
        return self._made_call(self._submission.ask(self._call(args, kwargs, default_dtype) | options))

    def run_promise(self, args: tuple[Any, ...]) -> Callable[[], Call]:
        """As `run`, together with the other calls that are promised: what gives everything seen."""
        request = self._call(args, None, torch.float64, copies=True) | {"arguments": True}
        taken = self._submission.promise(request)
        return lambda: self._made_call(taken())

    def promise(self, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """Call it in one request with the other calls that are promised, which costs less than one for each.

        Returns what gives the value, or raises what was raised there. All that is promised is called, in its
        order, when the first value is asked for:

            once, twice = cell.promise(x), cell.promise(y)
            expect(once(), …)
        """
        request = self._call(args, kwargs, torch.float64, copies=True)
        return partial(self._value, self._submission.promise(request))

    def run_and_backward_promise(
        self, args: tuple[Any, ...], weights: list[torch.Tensor]
    ) -> Callable[[], tuple[Call, Callable[[], Gradients]]]:
        """Promise what `run` with `grad=True` gives, and what gives the call's `backward(weights)`."""
        call = self._call(args, None, torch.float64, copies=True) | {"grad": True, "arguments": True}
        called = self._submission.promise(call)
        slopes = self._submission.promise({"op": "backward", "weights": weights})
        return lambda: (self._made_call(called()), lambda: self._gradients(slopes()))

    def _value(self, taken: Callable[[], dict[str, Any]]) -> Any:
        told = taken()
        with reading():
            return self._submission.incoming(told["value"])

    def _made_call(self, told: dict[str, Any]) -> Call:
        with reading():
            return Call(
                value=self._submission.incoming(told["value"]),
                arguments=_tuple(told.get("arguments", ())),
                attached=[_of(bool, each) for each in told["attached"]],
                kernels=_texts(told.get("kernels", ())),
                left=tuple(map(_left, _tuple(told.get("left", ())))),
                _number=_of(int, told["call"]),
                _submission=self._submission,
            )

    def placed(self, args: tuple[Any, ...], **how: Any) -> Placed:
        """Call it on `cpu`, on the `pretend` device or on a real one, and return what was seen.

        A real one is `cuda:1`, or `cuda`, the one of the highest number. `how` is what `_placing` takes.
        """
        return self.placed_promise(args, **how)()

    def placed_promise(self, args: tuple[Any, ...], **how: Any) -> Callable[[], Placed]:
        """As `placed`, together with the other calls that are promised: what gives what was seen."""
        taken = self._submission.promise(self._placing(args, **how))
        return lambda: self._seen(taken())

    def _placing(
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
        looks: tuple[int, Sequence[Line | None] | None] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """The request for a call on a device.

        `made_with` are the arguments that make the module to be called, which then gets `state`; without
        them it is called as it is. Modules among the arguments move, too, and stay moved. `on_cpu` are the
        positions of arguments that are left on the CPU. `looks` is how the student's looks at numbers are
        answered, and at which lines; at all with `None`. `more` are fields of the operation `place`.
        """
        request: dict[str, Any] = {
            "op": "place",
            **self._where,
            "args": outgoing(args),
            "device": device,
            "default_dtype": default_dtype,
            "seed": 0,
            "on_cpu": list(on_cpu),
            **more,
        }
        if made_with is not None:
            request["make"] = {"args": outgoing(made_with), "state": dict(state) if state else None}
        if dtype is not None:
            request["dtype"] = dtype
        if method is not None:
            request["method"] = [method]
        if gradients:
            request["backward"] = 1
        if looks is not None:
            way, lines = looks
            told = None if lines is None else [line.as_data() if line is not None else None for line in lines]
            request["looks"] = [way, told]
        return request

    def _seen(self, told: dict[str, Any]) -> Placed:
        with reading():
            slopes = told.get("gradients", {})
            return Placed(
                device=str(told.get("device", "")),
                value=self._submission.incoming(told.get("value")),
                places=tuple(map(str, told.get("places", ()))),
                stayed=tuple(map(str, told.get("stayed", ()))),
                inputs=self._slopes(slopes.get("inputs", [])),
                parameters=self._slopes_by_name(slopes.get("parameters", {})),
                gradient_places=tuple(map(str, slopes.get("places", ()))),
                events=tuple(map(Event.from_data, told.get("events", ()))),
                memory=tuple(_of(int, each) for each in told.get("memory", ())),
                error=StudentError(told["error"]) if told.get("error") else None,
            )

    def _slopes(self, told: Any) -> list[Any]:
        return [self._submission.tensor(each) for each in _of(list, told)]

    def _slopes_by_name(self, told: Any) -> dict[str, Any]:
        return {str(name): self._submission.tensor(each) for name, each in _of(dict, told).items()}

    def _gradients(self, told: dict[str, Any]) -> Gradients:
        with reading():
            return Gradients(
                self._slopes(told["inputs"]),
                self._slopes_by_name(told["parameters"]),
                _of(bool, told["attached"]),
            )

    def made(self, args: tuple[Any, ...], kwargs: dict[str, Any], refuse: Callable[[Any], object]) -> Handle:
        """The module that calling it makes, before the next request.

        If it makes something else, `refuse` is called with that in the next request's place, and raises.
        """
        request = self._call(args, kwargs, torch.float64, copies=True) | {"op": "make"}
        return self._submission.named(request, str(self._where.get("name", "")), refuse)

    def later(self, *args: Any) -> None:
        """Call it before the next request, whatever it returns; what it raises is raised then."""
        self._submission.later(self._call(args, None, torch.float64, copies=True))

    def attribute(self, *path: str) -> Any:
        """An attribute's value, or a `Handle` if it is an object."""
        where = {**self._where, "path": [*self._where.get("path", []), *path]}
        told = self._submission.ask({"op": "attribute", **where})
        with reading():
            return self._submission.incoming(told["value"])

    def describe(self) -> Module:
        """What it registers, if it is a module."""
        told = self._submission.ask({"op": "describe", **self._where})
        with reading():
            shapes = {_of(str, name): shape for name, shape in told.get("shapes", {}).items()}
            return Module(
                is_module=_of(bool, told["module"]),
                type=_of(str, told["type"]),
                shapes={name: tuple(_of(int, size) for size in shape) for name, shape in shapes.items()},
                trainable=_texts(told.get("trainable", ())),
                leaves=_texts(told.get("leaves", ())),
                modules={_of(str, n): _of(str, kind) for n, kind in told.get("modules", {}).items()},
                kinds=_texts(told.get("kinds", ())),
                saved=_texts(told.get("saved", ())),
                shared=tuple(_texts(names) for names in told.get("shared", ())),
            )

    def parameters(self) -> dict[str, torch.Tensor]:
        """The parameters that a module registers, by name."""
        told = self._submission.ask({"op": "parameters", **self._where})
        with reading():
            values = self._slopes_by_name(told["parameters"])
        return Named(values, f"`named_parameters()` of `{self.type}`")

    def method(self, name: str) -> Handle:
        """A method, to be called."""
        return Handle(self._submission, {**self._where, "path": [*self._where.get("path", []), name]})

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give a module its parameters, before the next request."""
        self._submission.later(
            {
                "op": "load",
                **self._where,
                "state": outgoing(dict(state), copies=True),
                "default_dtype": torch.float64,
            }
        )

    def state_dict(self) -> dict[str, torch.Tensor]:
        """A module's parameters and buffers, by name."""
        return self.state_dict_promise()()

    def state_dict_promise(self) -> Callable[[], dict[str, torch.Tensor]]:
        """As `state_dict`, together with the calls that are promised."""
        taken = self.method("state_dict").promise()
        return lambda: self._state_dict(taken())

    def _state_dict(self, told: Any) -> dict[str, torch.Tensor]:
        if not isinstance(told, dict) or not all(isinstance(name, str) for name in told):
            raise CheckFailed(
                f"The `state_dict()` of `{self.type}` must give a dict of tensors by name. Is there a "
                "method or an attribute of that name of your own?"
            )
        return Named(told, f"The `state_dict()` of `{self.type}`")

    def train(self, mode: bool = True) -> None:
        """Put a module into training mode, before the next request."""
        self.method("train").later(mode)

    def eval(self) -> None:
        """Put a module into evaluation mode, before the next request."""
        self.method("eval").later()

    def to(self, dtype: torch.dtype) -> None:
        """Convert a module in place, before the next request."""
        self._submission.later(
            {"op": "convert", **self._where, "dtype": dtype, "default_dtype": torch.float64}
        )

    def ref(self) -> Ref:
        """How it is named when it is itself an argument."""
        return Ref(int(self._where["object"]), self.type)

    def _call(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None,
        default_dtype: torch.dtype | None,
        *,
        copies: bool = False,
    ) -> dict[str, Any]:
        given = {"args": outgoing(args, copies=copies)}
        if kwargs:
            given["kwargs"] = outgoing(kwargs, copies=copies)
        return {"op": "call", **self._where, **given, "default_dtype": default_dtype}


class Returned(Handle, NoTensor):
    """One of the student's objects that an answer held: a check may have asked for a tensor."""

    @property
    def _what(self) -> str:  # type: ignore[override]  # computed here, kept elsewhere
        return f"an object of type {self.type}"


def outgoing(value: Any, *, copies: bool = False) -> Any:
    """Arguments as a request holds them: the student's objects by name, tensors the check's own.

    With `copies` the tensors are as they are now: the check may change its own before the request is sent.
    """

    def leaf(item: Any) -> Any:
        if copies and isinstance(item, torch.Tensor):
            return item.detach().clone()
        return item.ref() if isinstance(item, Handle) else item

    return map_tree(value, leaf)


def _left(told: Any) -> str | tuple[int, str]:
    if type(told) is str:
        return told
    place, kind = _tuple(told)
    return _of(int, place), _of(str, kind)


def _of(kind: type[Kind], value: Any) -> Kind:
    """A value of just this kind; `TypeError` for any other."""
    if type(value) is not kind:
        raise TypeError(kind.__name__)
    return value


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if type(value) is list else _of(tuple, value)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_of(str, each) for each in value)
