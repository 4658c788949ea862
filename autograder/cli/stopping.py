"""The signals that end a command, SIGINT and SIGTERM: both interrupt it, and the last one is kept."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_OUT_OF_THE_HOOK = 0.01
"""Seconds after which an interrupt that a hook swallowed is raised again: the hook has returned by then."""


@dataclass
class Stopping:
    """The signal that asked a command to end."""

    number: int = 0
    """The signal; 0 where none came."""

    @property
    def status(self) -> int:
        """The exit status that a shell gives to what the signal ended."""
        return 128 + (self.number or signal.SIGINT)


@contextmanager
def stoppable() -> Iterator[Stopping]:
    """Raise `KeyboardInterrupt` for Ctrl-C and for SIGTERM while the block runs.

    Libraries hide it behind errors of their own, nbgrader for one: so what ends the block otherwise after a
    signal came may be the signal's doing. Python itself drops what is raised in a hook, such as those that
    run after a fork, or in a `__del__`: there it is raised again, a moment later.
    """
    stopping, before, report = Stopping(), {}, sys.unraisablehook

    def stop(number: int, _: FrameType | None) -> None:
        stopping.number = number
        raise KeyboardInterrupt

    def stop_again(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def take_dropped(dropped: sys.UnraisableHookArgs) -> None:
        if stopping.number and issubclass(dropped.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _OUT_OF_THE_HOOK)
        else:
            report(dropped)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # a background job ignores Ctrl-C
                before[number] = signal.signal(number, stop)
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_again)
        sys.unraisablehook = take_dropped
    try:
        yield stopping
    finally:
        if before:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = report
        for number, handler in before.items():
            signal.signal(number, handler)
