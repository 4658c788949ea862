"""One of a student's objects as a check holds it: called, made, described, put on a device.

It holds a name only. Whatever it is asked goes through its connection as a message (`protocol/messages.py`),
and `worker/session/executor.py` shows who does it. What the worker says about itself (what it modified, what
a module registers) is the student's word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from autograder.checking.explain.failure import CheckFailed
from autograder.checking.remote.as_python import Plain
from autograder.checking.remote.connection import Connection, Request, expected
from autograder.checking.remote.errors import NoAnswer, StudentError
from autograder.checking.remote.observations import Gradients, Probed, placed
from autograder.checking.remote.odd_answers import Named, NoTensor, Unreadable
from autograder.protocol import answers, messages
from autograder.protocol.answers import AnyAnswer
from autograder.protocol.messages import Target
from autograder.protocol.tensors import NAMES
from autograder.protocol.values import ByName, Keywords, Opaque, Ref, map_tree


@dataclass(frozen=True)
class Call:
    """One call and its answer: the value, and the arguments as the call left them.

    `Handle.run` and `run_request` give it. `value` is the answer, `arguments` are tensors and the like as
    they were afterwards. `attached` says of each tensor of the answer if it belongs to a graph. All but the
    value is the student's process's word.

        call = submission.attend.run((query, keys), grad=True)  # raises StudentError where it stops
        expect(call.value, right, names="context", dims="B D", sizes=sizes)
        gradients = call.backward([draw("B D")])  # .inputs in order, .parameters by name
    """

    value: Any
    arguments: tuple[Any, ...]
    attached: tuple[bool, ...]
    left: tuple[str | tuple[int, str], ...]
    """The settings of torch left otherwise, by name, and `(position, what)` of modules given to it."""
    _number: int
    _connection: Connection

    def backward(self, weights: list[torch.Tensor]) -> Gradients:
        """Return the gradients of the sum of the floating results, each times its weights.

        Weights have their result's shape, in order. They are those of the parameters and, of a call that was
        made with `grad=True`, of the inputs. Raises `StudentError` where the backward pass stops.
        """
        return _backward(self._connection, self._number, weights).ask()


class Handle:
    """One of the student's objects: a function, a class, a module, or an attribute of one.

    `submission.gru_cell` is one, and so is what `make_module` and `submission.given` return, or an answer
    that is no plain data. Calling it takes tensors, numbers, texts, tuples, lists and dicts of these, and
    handles of objects; torch's default dtype is float64 meanwhile. What the student's code raises is a
    `StudentError` here, raised when the answer is read.

        cell = make_module(submission.GRUCell, sizes.D, sizes.H, told="`GRUCell(…)`")
        cell.load_state_dict(parameters)  # goes with the call
        h_next = cell(x, h)
    """

    def __init__(
        self, connection: Connection, target: Target, type_name: str = "", is_module: bool = False
    ) -> None:
        self._connection, self._target, self.type = connection, target, type_name
        self.is_module = is_module
        """True if it is known to be an `nn.Module`: an answer held it, or its class was asked to make one."""

    @property
    def on_gpu(self) -> bool:
        """Return whether it can be called on a real GPU."""
        return self._connection.on_gpu

    @property
    def plain(self) -> Plain:
        """Return it as one of Python's own: it takes and gives sets, numpy's arrays, frames of pandas, too.

        An object that a call gives stays with the student's code; its attributes are asked for by name.
        """
        return Plain(self._connection, self._target)

    @property
    def value(self) -> Any:
        """Return what a variable of the student's holds, as `plain` gives it."""
        return self.plain._held(self._target)

    def remark(self, text: str) -> None:
        """Have the card say something of a check that passes."""
        self._connection.remark(text)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it and return the value."""
        return self.request(*args, **kwargs).ask()

    def request(self, *args: Any, **kwargs: Any) -> Request[Any]:
        """Describe a call, to be made in one exchange with others (`asked`). It gives the value."""

        def read(answer: AnyAnswer) -> Any:
            return incoming(self._connection, expected(answer, answers.Called).value)

        return self._connection.request(self._call(args, kwargs), read)

    def run(self, args: tuple[Any, ...], kwargs: Keywords | None = None, **how: Any) -> Call:
        """Call it and return everything seen of the call; `how` is what `run_request` takes."""
        return self.run_request(args, kwargs, **how).ask()

    def run_request(
        self,
        args: tuple[Any, ...],
        kwargs: Keywords | None = None,
        *,
        grad: bool = False,
        default_dtype: torch.dtype | None = torch.float64,
        arguments: bool = True,
        numpy: bool = False,
    ) -> Request[Call]:
        """Describe a call that gives everything seen of it.

        `args` and `kwargs` are its arguments. With `grad` the floating ones ask for gradients
        (`Call.backward`), without `arguments` these do not come back. `default_dtype` is torch's default
        while it runs: float64, so that a state created without a dtype is judged by the dtype check alone;
        `None` leaves it as it is. With `numpy` numpy gets float32 for the bfloat16 that it does not have.
        """
        number = self._connection.new_number()
        message = messages.Call(
            target=self._target,
            args=outgoing(args),
            kwargs=outgoing(kwargs) if kwargs else None,
            default_dtype=NAMES[default_dtype] if default_dtype is not None else None,
            number=number,
            grad=grad,
            arguments=arguments,
            numpy=numpy,
        )

        def read(answer: AnyAnswer) -> Call:
            seen = expected(answer, answers.Called)
            if arguments and len(seen.arguments) != len(args):
                raise NoAnswer("other arguments than the call's")
            return Call(
                value=incoming(self._connection, seen.value),
                arguments=seen.arguments,
                attached=seen.attached,
                left=seen.left,
                _number=number,
                _connection=self._connection,
            )

        return self._connection.request(message, read)

    def gradient_requests(
        self, args: tuple[Any, ...], weights: list[torch.Tensor]
    ) -> tuple[Request[Call], Request[Gradients]]:
        """Describe a call and its `backward(weights)`."""
        call = self.run_request(args, grad=True)
        assert isinstance(call.message, messages.Call)
        return call, _backward(self._connection, call.message.number, weights)

    def probed(self, args: tuple[Any, ...], **how: Any) -> Probed:
        """Call it on `cpu`, on the `pretend` device or on a real one, and return what was seen.

        A real one is `cuda:1`, or `cuda`, the one of the highest number; `how`: see `probe_request`.
        """
        return self.probe_request(args, **how).ask()

    def probe_request(
        self,
        args: tuple[Any, ...],
        *,
        device: str,
        made_with: tuple[Any, ...] | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        default_dtype: torch.dtype | None = torch.float64,
        method: str | None = None,
        dtype: torch.dtype | None = None,
        **more: Any,
    ) -> Request[Probed]:
        """Describe a call on a device.

        `made_with` are the arguments that make the module to be called, which then gets `state`; without
        them it is called as it is. Modules among the arguments move, too, and stay moved. `more` are
        fields of `messages.ProbeCall`.
        """
        made = None
        if made_with is not None:
            made = messages.Made(args=outgoing(made_with), state=outgoing(dict(state)) if state else None)
        message = messages.ProbeCall(
            target=self._target,
            args=outgoing(args),
            device=device,
            default_dtype=NAMES[default_dtype] if default_dtype is not None else None,
            made=made,
            method=method or "",
            dtype=NAMES[dtype] if dtype is not None else None,
            **more,
        )
        return self._connection.request(message, self._seen)

    def _seen(self, answer: AnyAnswer) -> Probed:
        seen = expected(answer, answers.Probed)
        return Probed(
            device=seen.device,
            value=incoming(self._connection, seen.value),
            places=seen.places,
            stayed=seen.stayed,
            inputs=[_tensor(self._connection, each) for each in seen.inputs],
            parameters=_tensors(self._connection, seen.parameters),
            gradient_places=seen.gradient_places,
            events=placed(seen.events, self._connection.own),
            error=StudentError(seen.error) if seen.error is not None else None,
        )

    def made(self, args: tuple[Any, ...], kwargs: Keywords, refuse: Callable[[Any], object]) -> Handle:
        """Return the module that calling it makes, which is done with the next request.

        If it makes something else, `refuse` is called with that when that request is read, and raises.
        """
        number = self._connection.new_number()
        message = messages.Make(
            target=self._target,
            number=number,
            args=outgoing(args),
            kwargs=outgoing(kwargs),
            default_dtype="float64",
        )

        def read(answer: AnyAnswer) -> None:
            if isinstance(answer, answers.NoModule):
                refuse(incoming(self._connection, answer.value))
            expected(answer, answers.Done)

        self._connection.defer(message, read)
        self._connection.name(number, self._target.name)
        return Handle(self._connection, Target(number=number), self._target.name, is_module=True)

    def defer(self, *args: Any) -> None:
        """Call it with the next request, whatever it returns; what it raises is raised then."""
        self._connection.defer(self._call(args, {}, unanswered=True))

    def attribute(self, *path: str) -> Any:
        """Return an attribute's value, or a `Handle` if it is an object; several names go down one by one."""

        def read(answer: AnyAnswer) -> Any:
            return incoming(self._connection, expected(answer, answers.Value).value)

        message = messages.Attribute(target=self._target.attribute(*path))
        return self._connection.request(message, read).ask()

    def registered(self) -> answers.Registered:
        """Return what it registers, if it is a module.

        `shapes` are its parameters' by name, `trainable` those that ask for gradients, `saved` the names in
        its `state_dict()`, `modules` the classes of its modules by name.
        """

        def read(answer: AnyAnswer) -> answers.Registered:
            seen = expected(answer, answers.Registered)
            if any(len(names) < 2 for names in seen.shared):
                raise NoAnswer("names that share memory with none")
            return seen

        return self._connection.request(messages.ListRegistered(target=self._target), read).ask()

    def parameters(self, *, computed: bool = False) -> dict[str, torch.Tensor]:
        """Return the parameters that a module registers, by name, whatever its own methods say.

        Say `computed=True` where the student's code computes or copies their numbers: known mistakes are then
        told apart by them, and buffers come, too. Numbers that are drawn at random differ from one right
        answer to the next.
        """
        return self.parameters_request(computed=computed).ask()

    def parameters_request(self, *, computed: bool = False) -> Request[dict[str, torch.Tensor]]:
        """Describe the request for a module's parameters, as `parameters` takes it."""

        def read(answer: AnyAnswer) -> dict[str, torch.Tensor]:
            sent = expected(answer, answers.ParameterValues)
            values = _tensors(self._connection, sent.parameters)
            if any(value is None for value in values.values()):
                raise NoAnswer("a parameter that is none")
            return Named(values, f"`named_parameters()` of `{self.type}`")

        return self._connection.request(messages.Parameters(target=self._target, computed=computed), read)

    def method(self, name: str) -> Handle:
        """Return a method, to be called."""
        return Handle(self._connection, self._target.attribute(name))

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give a module its parameters, with the next request."""
        message = messages.Load(target=self._target, state=outgoing(dict(state)), default_dtype="float64")
        self._connection.defer(message)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return a module's parameters and buffers, by name."""
        return self.state_request().ask()

    def state_request(self) -> Request[dict[str, torch.Tensor]]:
        """Describe the request for a module's parameters and buffers."""

        def read(answer: AnyAnswer) -> dict[str, torch.Tensor]:
            state = incoming(self._connection, expected(answer, answers.Called).value)
            if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
                raise CheckFailed(
                    f"The `state_dict()` of `{self.type}` must return a dict of tensors by name. Do you "
                    "define a method or an attribute named `state_dict` yourself?"
                )
            return Named(state, f"The `state_dict()` of `{self.type}`")

        return self._connection.request(self.method("state_dict")._call((), {}), read)

    def train(self, mode: bool = True) -> None:
        """Put a module into training mode, with the next request."""
        self.method("train").defer(mode)

    def eval(self) -> None:
        """Put a module into evaluation mode, with the next request."""
        self.method("eval").defer()

    def to(self, dtype: torch.dtype) -> None:
        """Convert a module in place, with the next request."""
        self._connection.defer(
            messages.Convert(target=self._target, dtype=NAMES[dtype], default_dtype="float64")
        )

    def ref(self) -> Ref:
        """Return its name as an argument of a call."""
        if not self._target.number:
            raise ValueError(f"hand over `submission.{self._target.name}.attribute()`, the object itself")
        return Ref(self._target.number, self.type)

    def _call(self, args: tuple[Any, ...], kwargs: Keywords, unanswered: bool = False) -> messages.Call:
        return messages.Call(
            target=self._target,
            args=outgoing(args),
            kwargs=outgoing(kwargs) if kwargs else None,
            default_dtype="float64",
            unanswered=unanswered,
        )


class Returned(Handle, NoTensor):
    """One of the student's objects that an answer held: a check may have asked for a tensor."""

    @property
    def _what(self) -> str:  # type: ignore[override]  # computed here, kept elsewhere
        return f"an object of type {self.type}"


def outgoing(value: Any) -> Any:
    """Return arguments as a message holds them: the student's objects by name, tensors as they are now."""

    def leaf(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            return item.detach().clone()  # the check may write into its own before the message is sent
        return item.ref() if isinstance(item, Handle) else item

    return map_tree(value, leaf)


def incoming(connection: Connection, value: Any) -> Any:
    """Return an answer's value, with handles to the student's objects in it."""

    def leaf(item: Any) -> Any:
        if isinstance(item, Ref):
            return Returned(connection, Target(number=item.id), item.type, item.is_module)
        return Unreadable(item.what, item.own) if isinstance(item, Opaque) else item

    return map_tree(value, leaf)


def _backward(connection: Connection, number: int, weights: list[torch.Tensor]) -> Request[Gradients]:
    def read(answer: AnyAnswer) -> Gradients:
        seen = expected(answer, answers.Gradients)
        inputs = [_tensor(connection, each) for each in seen.inputs]
        return Gradients(inputs, _tensors(connection, seen.parameters), seen.attached, seen.frozen)

    return connection.request(messages.Backward(call=number, weights=outgoing(weights)), read)


def _tensor(connection: Connection, value: Any) -> Any:
    """Return an answer's tensor, `None` where there is none, or what says of itself that it is none.

    Raises `NoAnswer` for anything else.
    """
    if value is None or isinstance(value, torch.Tensor):
        return value
    if not isinstance(value, Opaque):
        raise NoAnswer("no tensor")
    return incoming(connection, value)


def _tensors(connection: Connection, named: Mapping[str, Any]) -> ByName:
    return {name: _tensor(connection, value) for name, value in named.items()}
