"""The common parts of the modes that watch a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.protocol.events import Event
from autograder.protocol.values import Keywords

_MOST = 40


class Watching(TorchDispatchMode):
    """A mode that sees every kernel."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch asks; else the first kernel that is seen imports torch._dynamo, a second of work."""
        return False


@contextmanager
def unwatched() -> Iterator[None]:
    """A context in which no mode sees what is computed with plain tensors."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        yield


class Events(list[Event]):
    """Events of a call, each once, and no more of them than a person reads."""

    def note(self, event: Event) -> None:
        if event not in self and len(self) < _MOST:
            self.append(event)


def tensors_of(args: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors among a kernel's arguments or results, those in lists included."""
    found: list[torch.Tensor] = []
    for arg in args:
        if isinstance(arg, torch.Tensor):
            found.append(arg)
        elif type(arg) in (list, tuple):
            found += tensors_of(arg)
    return found


class NumpyOfBfloat16(TorchFunctionMode):
    """Hands numpy float32 for the bfloat16 that it does not have, so that a `print` of it stops no call."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Keywords | None = None
    ) -> Any:
        if func in (torch.Tensor.numpy, torch.Tensor.__array__) and args[0].dtype is torch.bfloat16:
            args = (args[0].float(), *args[1:])
        return func(*args, **(kwargs or {}))
