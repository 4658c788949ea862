"""Stops a call of a student's function that does not return, where nobody else can: in the student's kernel.

An exception is raised in the student's code, from the outside: by a timer's signal where there is one (Linux
and macOS, in the main thread), elsewhere (Windows, other threads) by a second thread. It is raised in the
student's code only, never while ours puts something back, and again and again until that code is left:
first by itself, then at every line, so that no `except:` keeps it for good. A debugger, and whoever is asked
for input, may take all the time in the world. One call into C that never returns cannot be stopped so.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from types import CodeType, FrameType
from typing import Any, TypeVar

import torch

import autograder.protocol
import autograder.worker
from autograder.worker.tracing.provenance import is_student_file, line_of

CALL_SECONDS = 20.0
"""The seconds that one call may take in a notebook: over fifty times what the slowest right answer takes."""
LATER_SECONDS = 5.0
"""Seconds for a call once another has used that up: nobody should wait ten times for an endless loop."""
_TICK = 0.1
"""After that, seconds between two attempts to stop it."""
_OURS = tuple(
    os.path.join(os.path.dirname(os.path.abspath(file)), "")
    for file in (autograder.protocol.__file__, autograder.worker.__file__, torch.__file__, os.__file__)
)
_INSTALLED = ("site-packages", "dist-packages")
_WAITING = frozenset({"bdb", "debugpy", "ipykernel", "pdb", "pydevd", "_pydevd_bundle"})
"""The packages that run in a call only while somebody is asked for something."""

Value = TypeVar("Value")


class TimeUp(BaseException):
    """Raised in a student's code that has not returned."""


class Late(Exception):
    """A call had not returned in time: the seconds that it had, and the student's line it was at, or `""`."""

    def __init__(self, seconds: float, line: str) -> None:
        super().__init__(seconds, line)
        self.seconds, self.line = seconds, line


class Limit:
    """A limit on how long each call may take; shorter once a call has been stopped."""

    def __init__(self, seconds: float | None = None, afterwards: float | None = None) -> None:
        self.seconds = CALL_SECONDS if seconds is None else seconds
        self.afterwards = LATER_SECONDS if afterwards is None else afterwards

    def run(self, call: Callable[[], Value]) -> Value:
        """Make a call and return its value, or raise `Late`, whatever the call makes of being stopped."""
        if _debugged():
            return call()
        signals = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        watch = _BySignal(self.seconds) if signals else _ByThread(self.seconds)
        try:
            try:
                watch.begin()
                value = call()
            finally:
                watch.end()
        except TimeUp:
            watch.end()
        except BaseException:
            if not watch.fired:
                raise
        if watch.fired:
            late = Late(self.seconds, watch.line)
            self.seconds = min(self.seconds, self.afterwards)
            raise late
        return value


class _Watch:
    """Stops the call that is made between `begin` and `end`, in the thread that begins."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.fired = False
        self.line = ""
        self._thread = threading.get_ident()
        self._trace_before: Any = None
        self._tracing = False
        self._ended = False

    def begin(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Leave all as it was; may be called twice."""
        self._ended = True
        if self._tracing:
            sys.settrace(self._trace_before)
            self._tracing = False

    def inside(self, frame: FrameType | None) -> bool:
        """Return whether a frame belongs to the student's code, or to code that it has called."""
        return any(not _is_ours(each.f_code) for each in self._frames(frame))

    def _frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """A frame and those that it was called from, up to the call that is watched."""
        while frame is not None and frame.f_code is not Limit.run.__code__:
            yield frame
            frame = frame.f_back

    def to_be_stopped(self, frame: FrameType | None) -> bool:
        """Return whether the running code is to be stopped now; if so, note that, and the student's line."""
        if not self.inside(frame):
            return False
        if not self.fired:
            students = (each for each in self._frames(frame) if is_student_file(each.f_code.co_filename))
            line = line_of(next(students, None))
            self.line = str(line) if line is not None else ""
        self.fired = True
        return True

    def waits(self, frame: FrameType | None) -> bool:
        """Return whether the call waits for a person, at a debugger or an input prompt."""
        names = (str(each.f_globals.get("__name__", "")) for each in self._frames(frame))
        return any(name.partition(".")[0] in _WAITING for name in names)

    def trace(self, frame: FrameType | None) -> None:
        """Have the exception raised at the next line that is run of the student's code."""
        if self._ended or not self.inside(frame):
            return
        for each in self._frames(frame):
            if not _is_ours(each.f_code):
                each.f_trace = self._traced
        if not self._tracing:
            self._trace_before, self._tracing = sys.gettrace(), True
        sys.settrace(self._traced)

    def _traced(self, frame: FrameType, event: str, _: Any) -> Any:
        if _is_ours(frame.f_code) or not self.inside(frame):
            return None
        if event in ("call", "line"):
            raise self.stubborn
        return self._traced

    @cached_property
    def stubborn(self) -> type[TimeUp]:
        """The exception, made so that it comes again wherever it is caught.

        Python lets go of a tracing function that has raised. So one is put in place when the exception is
        made, for what runs where it is caught, and again when whoever caught it has done with it.
        """

        def trace(_: TimeUp) -> None:
            self.trace(sys._getframe(1))

        return type("TimeUp", (TimeUp,), {"__init__": trace, "__del__": trace})


class _BySignal(_Watch):
    """A watch by the timer of the process, whose signal interrupts waiting calls, too."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._started = time.monotonic()
        self._handler: Any = signal.getsignal(signal.SIGALRM)
        self._timer = (0.0, 0.0)

    def begin(self) -> None:
        signal.signal(signal.SIGALRM, self._rung)
        self._timer = signal.setitimer(signal.ITIMER_REAL, self.seconds, _TICK)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler or signal.SIG_DFL)
        delay, interval = self._timer
        if delay:  # somebody else's, and it goes on
            gone = time.monotonic() - self._started
            signal.setitimer(signal.ITIMER_REAL, max(delay - gone, 0.001), interval)
            self._timer = (0.0, 0.0)
        super().end()

    def _rung(self, _: int, frame: FrameType | None) -> None:
        if self.waits(frame):
            signal.setitimer(signal.ITIMER_REAL, self.seconds, _TICK)
            return
        again = self.fired
        if self.to_be_stopped(frame):
            raise self.stubborn if again else TimeUp


class _ByThread(_Watch):
    """A watch by a second thread, which asks the interpreter to raise an exception in the first."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._over = threading.Event()
        self._lock = threading.Lock()

    def begin(self) -> None:
        threading.Thread(target=self._look, name="autograder-limit", daemon=True).start()

    def end(self) -> None:
        super().end()
        try:
            with self._lock:
                self._over.set()
            for _ in range(2):
                pass  # what is still to be raised is raised here: Python 3.11 cannot take it back
        except TimeUp:
            self._over.set()

    def _look(self) -> None:
        wait = self.seconds
        while not self._over.wait(wait):
            with self._lock:
                if self._over.is_set():
                    return
                frame = sys._current_frames().get(self._thread)
                if self.waits(frame):
                    wait = self.seconds
                    continue
                again, wait = self.fired, _TICK
                if self.to_be_stopped(frame):
                    _raise_in(self._thread, self.stubborn if again else TimeUp)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Have the interpreter raise an exception in a thread as soon as it looks."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _debugged() -> bool:
    """Return whether somebody steps through the code or measures it: they are not to be disturbed."""
    monitoring = getattr(sys, "monitoring", None)
    return sys.gettrace() is not None or (
        monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None
    )


def _is_ours(code: CodeType) -> bool:
    """Return whether code is this package's, torch's or the standard library's, and not a student's."""
    return _is_our_file(code.co_filename)


@cache
def _is_our_file(filename: str) -> bool:
    if filename.startswith("<frozen "):
        return True
    path = os.path.abspath(filename)
    for home in _OURS:
        if path.startswith(home):
            return not any(part in path[len(home) :] for part in _INSTALLED)
    return False
