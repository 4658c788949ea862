"""Stops a call of a student's function that does not return, where nobody else can: in the student's kernel.

A second thread has an exception raised in the one that is late. One call into C that never returns goes on.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from traceback import walk_stack
from typing import TypeVar

from autograder.protocol.answers import Late
from autograder.worker.tracing.lines import describe_exception

CALL_SECONDS = 20.0
"""The seconds that one call may take in a notebook: over fifty times what the slowest right answer takes."""
LATER_SECONDS = 5.0
"""Seconds for a call once another has used that up: nobody should wait ten times for an endless loop."""
_PROMPTS = frozenset({"_input_request", "cmdloop", "do_wait_suspend"})
"""The functions of ipykernel, pdb and debugpy in which a person is waited for, who may take any time."""

Value = TypeVar("Value")


class Limit:
    """A limit on how long each call may take; shorter once a call has been stopped."""

    def __init__(self, seconds: float | None = None, afterwards: float | None = None) -> None:
        self.seconds = CALL_SECONDS if seconds is None else seconds
        self.afterwards = LATER_SECONDS if afterwards is None else afterwards
        # A class of its own, which no `except Exception` catches, and no limit inside this one.
        self._time_up: type[BaseException] = type("TimeUp", (BaseException,), {})

    def run(self, call: Callable[[], Value]) -> Value | Late:
        """Make a call and return its value, or `Late` if it was stopped."""
        seconds, over = self.seconds, threading.Event()
        here = ctypes.c_ulong(threading.get_ident())
        watcher = threading.Thread(target=self._stop, args=(here, over), daemon=True)
        watcher.start()
        try:
            try:
                return call()
            finally:
                over.set()
                watcher.join()  # an exception that is under way is raised here, none comes afterwards
        except self._time_up as stopped:
            over.set()
            self.seconds = min(seconds, self.afterwards)
            return Late(seconds=seconds, line=(describe_exception(stopped).lines or ("",))[-1])

    def _stop(self, thread: ctypes.c_ulong, over: threading.Event) -> None:
        seconds = self.seconds
        while not over.wait(seconds):
            frames = walk_stack(sys._current_frames()[thread.value])
            if not any(frame.f_code.co_name in _PROMPTS for frame, _ in frames):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(self._time_up))
                seconds = 1.0  # in the callback of a weak reference, say, it is lost: raise it again
