"""The signals that end a command, SIGINT and SIGTERM: both interrupt it, and the last one is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


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
    signal came may be the signal's doing.
    """
    stopping, before = Stopping(), {}

    def stop(number: int, _: FrameType | None) -> None:
        stopping.number = number
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # a background job ignores Ctrl-C
                before[number] = signal.signal(number, stop)
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
