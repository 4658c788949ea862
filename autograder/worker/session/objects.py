"""The objects of one notebook: found by name or number, handed out under numbers, sent as plain data.

What goes out is numbers, text, containers, plain tensors that share no memory with the student's, `Ref` for
what stays here and `Opaque` for what does not travel.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import nn

from autograder.protocol.frames import MAX_BODY, MAX_NESTING
from autograder.protocol.messages import Target
from autograder.protocol.packed import pack, unpack
from autograder.protocol.tensors import DTYPES
from autograder.protocol.values import ByName, Keywords, Opaque, Ref, map_tree
from autograder.worker.session.calls.left import Left
from autograder.worker.tracing.module_contents import numbers_of, unlike_dense

_DTYPES = frozenset(DTYPES.values())
_PLAIN = frozenset({type(None), bool, int, float, str})
_PLAIN_TYPES = (torch.Tensor, nn.Parameter)


@dataclass(frozen=True)
class KeptCall:
    """A call, as the gradients need it that are taken of it later."""

    outputs: list[torch.Tensor]
    """The floating ones."""
    leaves: list[torch.Tensor]
    """Its floating arguments."""
    modules: list[nn.Module]


class Objects:
    """The objects of one notebook, by name in `namespace` and by the numbers handed out for them."""

    def __init__(self, namespace: ByName) -> None:
        self.namespace = namespace
        self.calls: dict[int, KeptCall] = {}
        self.left = Left()
        self._numbered: dict[int, Any] = {}
        self._next = 1

    def forget(self) -> None:
        """Let go of everything handed out and kept so far."""
        self._numbered.clear()
        self.calls.clear()
        self.left = Left()

    def keep(self, number: int, value: Any) -> None:
        """Put an object under a number that the other side has given it."""
        self._numbered[number] = value

    def target(self, target: Target) -> Any:
        """Return the object that a message is about."""
        found = self._numbered[target.number] if target.number else self.namespace[target.name]
        for attribute in target.path:
            found = getattr(found, attribute)
        return found

    def arguments(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, packed: bool = False
    ) -> tuple[tuple[Any, ...], Keywords]:
        """Return what a call is made with: copies, for in a notebook these are the check's own tensors.

        What was `packed` is unpacked.
        """

        def leaf(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.detach().clone()
            return self._numbered[value.id] if isinstance(value, Ref) else value

        given: tuple[tuple[Any, ...], Keywords] = map_tree((tuple(args), dict(kwargs or {})), leaf)
        return (unpack(given[0]), unpack(given[1])) if packed else given

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Return a value as it travels."""
        if depth >= MAX_NESTING - 4:  # above it are the reply and the answer
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
            return self._handed_out(value)
        return Opaque(_kind(value), type(value).__module__ == "__main__")

    def packed(self, value: Any) -> Any:
        """Return a value as it travels where sets and arrays do, and where the student's objects stay."""

        def leaf(item: Any) -> Any:
            return self._handed_out(item) if type(item).__module__ == "__main__" else item

        return self.plain(pack(settled(value), leaf))

    def _plain_key(self, key: Any) -> Any:
        return key if type(key) in (str, int, float, bool) or key is None else _kind(key)

    def _handed_out(self, value: Any) -> Ref:
        known = (number for number, other in self._numbered.items() if other is value)
        number = next(known, self._next)
        if number == self._next:
            self._next += 1
            self._numbered[number] = value
        return Ref(number, type(value).__name__, isinstance(value, nn.Module))


def settled(value: Any) -> Any:
    """Return an answer in plain containers: a class of the student's own may hold other things later."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [settled(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def is_floating(value: torch.Tensor) -> bool:
    """Return whether it is a plain tensor of floating numbers."""
    return type(value) in _PLAIN_TYPES and value.is_floating_point()


def _plain_tensor(value: torch.Tensor) -> Any:
    if type(value) not in _PLAIN_TYPES:
        return Opaque(f"a {type(value).__name__}, a subclass of torch.Tensor")
    unlike = unlike_dense(value, _DTYPES, MAX_BODY)
    return Opaque(unlike) if unlike else numbers_of(value)


def _of_numpy(value: Any) -> bool:
    """Return whether it is one of numpy's numbers or truth values, which print and count as Python's own."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.bool_, numpy.integer, numpy.floating))


def _kind(value: Any) -> str:
    cls = type(value)
    module = "" if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__.split('.')[0]}."
    article = "an" if (module or cls.__name__)[:1].lower() in "aeiou" else "a"
    return f"{article} {module}{cls.__name__}"
