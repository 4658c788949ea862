"""Answers that are no plain data, and parameters by name, as a check gets them.

A check takes an answer for a tensor where it should be one. If it is none, that is the student's mistake and
no fault of the check, so these fail it by themselves, in words, wherever they are used as a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from autograder.checking.explain.failure import CheckFailed, NoSuchAttribute, NoSuchName, NotOneOfSeveral
from autograder.protocol.values import Opaque

_TAKEN_FOR = (torch.Tensor, tuple, list, dict, str, float)


class NoTensor:
    """A value that is no tensor and says so when it is used as one; `_what` describes it in words."""

    _what: str

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not any(hasattr(kind, name) for kind in _TAKEN_FOR):
            raise AttributeError(f"an answer has no attribute {name!r}", name=name, obj=self)
        raise NoSuchAttribute(self._refusal)

    def __iter__(self) -> Iterator[Any]:
        raise NotOneOfSeveral(f"Expected several results; you returned {self._what}.")

    def __len__(self) -> int:
        raise NotOneOfSeveral(f"Expected several results; you returned {self._what}.")

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: object) -> NoReturn:
        raise NotOneOfSeveral(f"Expected several results; you returned {self._what}.")

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        odd = next((each for each in _leaves((args, kwargs or {})) if isinstance(each, NoTensor)), None)
        raise CheckFailed(odd._refusal if odd is not None else "Expected a tensor.")

    @property
    def _refusal(self) -> str:
        return f"Expected a tensor; you returned {self._what}."


@dataclass(frozen=True)
class Unreadable(Opaque, NoTensor):
    """An answer of which only its kind is known, such as a numpy array."""

    @property
    def _what(self) -> str:  # type: ignore[override]  # computed here, kept elsewhere
        return self.what


class Named(dict[str, Any]):
    """Tensors by name. One that is asked for and not there fails the check, in words."""

    def __init__(self, values: Mapping[str, Any], told: str) -> None:
        super().__init__(values)
        self._told = told

    def __missing__(self, name: str) -> NoReturn:
        raise NoSuchName(f"{self._told} has nothing under the name `{name}` (any more).")


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value
