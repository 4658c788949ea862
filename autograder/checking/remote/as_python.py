"""A student's objects as Python's own: called with values of any kind, read by their attributes.

squares = submission.squares.plain
squares(3)                                  # a list, a set, an array: what the student's code returns
submission.Account.plain(10).balance        # an object stays where it is; its attributes are asked for
"""

from __future__ import annotations

from typing import Any

import torch

from autograder.checking.remote.connection import Connection, Request, expected
from autograder.checking.remote.errors import NoAnswer
from autograder.checking.remote.odd_answers import Unreadable
from autograder.protocol import answers, messages
from autograder.protocol.answers import AnyAnswer
from autograder.protocol.messages import Target
from autograder.protocol.packed import pack, unpack
from autograder.protocol.values import Opaque, Ref, map_tree


class Plain:
    """A function, a class or an object of the student's: `Handle.plain`, or what a call through it gave.

    Where it is called, values travel as they are: sets, numpy's arrays, frames of pandas, ints of any length.
    """

    def __init__(self, connection: Connection, target: Target, kind: str = "") -> None:
        self._connection, self._target, self._kind = connection, target, kind

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.request(*args, **kwargs).ask()

    def request(self, *args: Any, **kwargs: Any) -> Request[Any]:
        """Describe a call, as `expect_raises` takes it."""
        message = messages.Call(
            target=self._target,
            args=pack(args, _outgoing),
            kwargs=pack(kwargs, _outgoing) if kwargs else None,
            packed=True,
        )
        return self._connection.request(message, self._called)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._held(self._target.attribute(name))

    def __eq__(self, other: object) -> bool:
        """Return what the student's class says of two of its objects; of any other value it has no say."""
        return isinstance(other, Plain) and self._special("__eq__", other) is True

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return True

    def _special(self, name: str, *args: Any) -> Any:
        method = Plain(self._connection, self._target.attribute(name))
        return method(*args)

    def __repr__(self) -> str:
        return f"an object of type {self._kind}" if self._kind else f"`{self._target.name}`"

    def _held(self, target: Target) -> Any:
        """Return what a name of the student's stands for."""
        return self._connection.request(messages.Attribute(target=target, packed=True), self._value).ask()

    def _called(self, answer: AnyAnswer) -> Any:
        return self._read(expected(answer, answers.Called).value)

    def _value(self, answer: AnyAnswer) -> Any:
        return self._read(expected(answer, answers.Value).value)

    def _read(self, value: Any) -> Any:
        def leaf(item: Any) -> Any:
            if isinstance(item, Ref):
                return Plain(self._connection, Target(number=item.id), item.type)
            return Unreadable(item.what, item.own) if isinstance(item, Opaque) else item

        try:
            return unpack(map_tree(value, leaf))
        except Exception as error:  # a hostile process may send anything, and numpy trip over it
            raise NoAnswer("what no value is packed as") from error

    def _ref(self) -> Ref:
        """Return its name as an argument of a call."""
        if not self._target.number:
            message = messages.Attribute(target=self._target)
            found = expected(self._connection.request(message, lambda answer: answer).ask(), answers.Value)
            if not isinstance(found.value, Ref):
                raise NoAnswer("no object")
            return found.value
        return Ref(self._target.number, self._kind)


def _asked(name: str) -> Any:
    def method(self: Plain, *args: Any) -> Any:
        return self._special(name, *args)

    return method


# Nothing by which Python goes through an object: a student's may have no end.
for _name in ("__len__", "__contains__", "__str__", "__add__", "__sub__", "__lt__"):
    setattr(Plain, _name, _asked(_name))


def _outgoing(value: Any) -> Any:
    """Return a leaf of some arguments as a message holds it: what is none of Python's plain values."""
    if isinstance(value, Plain):
        return value._ref()
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    raise TypeError(f"an object of type {type(value).__name__} cannot be handed to a student's function")
