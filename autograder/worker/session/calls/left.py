"""Notes what a call changes that outlives it: torch's settings, and the modules that it was given.

A module's numbers are looked at outside; here it is what no number shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import nn

from autograder.worker.session.calls.printed import Printed
from autograder.worker.tracing.modes import unwatched
from autograder.worker.tracing.module_contents import (
    asks_for_gradients,
    clone,
    equal,
    gradient_of,
    is_training,
    lend_gradient,
    modules_of,
    parameters_of,
    settings_of,
    take_gradient,
)

# As they were before a student's code ran: what it puts in their place is not asked.
_gradients_are_on, _in_inference_mode = torch.is_grad_enabled, torch.is_inference_mode_enabled
_default_dtype, _set_default_dtype = torch.get_default_dtype, torch.set_default_dtype
_CPU = torch.device("cpu")


class Left:
    """The settings of torch that the calls of one check have left otherwise than they found them, by name."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block leaves behind. The default device is put back, as the others are elsewhere."""
        before, device = _settings(), _default_device()
        try:
            yield
        finally:
            after = _settings()
            self.names |= {name for name, value in after.items() if value != before[name]}
            if _default_device() != device:
                torch.set_default_device(device)

    def of_call_in_float32(self, target: Callable[..., Any], arguments: Callable[[], Any]) -> None:
        """Note what a call leaves where float32 is the default, as it is for students.

        Under the checks' own default nobody would see that it sets that. How it ends is for other checks.
        """
        args, kwargs = arguments()
        before = _default_dtype()
        with Printed(), suppress(Exception, SystemExit):
            _set_default_dtype(torch.float32)
            with torch.enable_grad(), self.noted():
                target(*args, **kwargs)
        _set_default_dtype(before)


def _settings() -> dict[str, Any]:
    return {
        "gradients": _gradients_are_on() and not _in_inference_mode(),
        "dtype": _default_dtype(),
        "device": _default_device() or _CPU,
    }


def _default_device() -> torch.device | None:
    """Return it, `None` where nobody has set one. torch's own function asks for a GPU where that is set."""
    context = getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
    return getattr(context, "device", None)


class Marks:
    """Marks of modules besides their numbers, before a call: modes, and what gradients need.

    Parameters without a gradient get one for the time of the call: who clears gradients clears it, too.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        with unwatched():
            self._modules = {
                place: _Marked(module)
                for place, module in enumerate(arguments)
                if isinstance(module, nn.Module)
            }

    def changed(self) -> list[tuple[int, str]]:
        """Return what has changed, by the argument's position.

        That is its `"mode"`, what is `"trainable"` in it, its `"gradients"`, or its `"settings"`.
        """
        with unwatched():
            return [(place, kind) for place, marked in self._modules.items() for kind in marked.changed()]


class _Marked:
    def __init__(self, module: nn.Module) -> None:
        self._modes = [(part, is_training(part)) for _, part in modules_of(module)]
        self._settings = [(part, settings_of(part)) for part, _ in self._modes]
        self._parameters = [(each, asks_for_gradients(each)) for each in parameters_of(module).values()]
        self._lent = [each for each, trainable in self._parameters if trainable and gradient_of(each) is None]
        for each in self._lent:
            lend_gradient(each)
        held = ((each, gradient_of(each)) for each, _ in self._parameters)
        self._gradients = [(each, clone(gradient)) for each, gradient in held if gradient is not None]

    def changed(self) -> list[str]:
        found = []
        if any(is_training(part) is not mode for part, mode in self._modes):
            found.append("mode")
        if any(settings_of(part) != held for part, held in self._settings):
            found.append("settings")
        if any(asks_for_gradients(each) is not trainable for each, trainable in self._parameters):
            found.append("trainable")
        now = ((gradient_of(each), was) for each, was in self._gradients)
        if not all(gradient is not None and equal(gradient, was) for gradient, was in now):
            found.append("gradients")
        for each in self._lent:
            take_gradient(each)
        return found
