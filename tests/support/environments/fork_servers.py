"""Fork servers that commands run in a test's own process share: starting one takes two seconds."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from autograder.grading.workers.forkserver import TORCH, ForkServer, RunLimits, clean_environment
from autograder.worker.sandbox.probe import Level

_idle: dict[object, list[ForkServer]] = {}
"""Servers that nobody uses, by all that one is started with."""


@contextmanager
def kept() -> Iterator[None]:
    """Have each fork server of this process taken from those that are idle, and kept when it is closed."""
    start, close, warm = ForkServer.__init__, ForkServer.close, ForkServer.warm

    def take(
        self: ForkServer,
        limits: RunLimits | None = None,
        level: Level | None = None,
        preload: Sequence[str] | None = TORCH,
        *,
        torch: bool = True,  # another test may want it: these servers all have it
    ) -> None:
        limits = limits or RunLimits()
        key = limits.memory_bytes, limits.gpu_bytes, level, repr(clean_environment())
        idle = [other for other in _idle.pop(key, []) if other.is_alive]
        if idle:
            vars(self).update(vars(idle.pop()), limits=limits)
        else:
            start(self, limits, level, None)
        _idle[key] = idle
        self._key, self._has = key, getattr(self, "_has", None)
        if preload is not None:
            self.warm(preload)

    def warm_once(self: ForkServer, preload: Sequence[str]) -> None:
        if self._has is not None and not set(preload) <= self._has:
            limits, level = self.limits, self._key[2]
            close(self)
            start(self, limits, level, None)
        if not self._warm:
            warm(self, preload)
            self._has = set(preload)

    def keep(self: ForkServer) -> None:
        self.dismiss()
        self.wait_for_left()
        if self._warm and self.is_alive:
            other = ForkServer.__new__(ForkServer)
            vars(other).update(vars(self))
            _idle[self._key].append(other)
        else:
            close(self)

    with (
        patch.object(ForkServer, "__init__", take),
        patch.object(ForkServer, "warm", warm_once),
        patch.object(ForkServer, "close", keep),
    ):
        yield


@atexit.register
def end() -> None:
    """End those that are idle."""
    for servers in _idle.values():
        while servers:
            servers.pop().close()
