"""Keeps what a student's code prints while it is called, in place of where it would have gone.

A check makes dozens of calls that nobody else made, so their prints mean nothing where they would stand:
what one call prints travels with its answer.
"""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any

KEPT_AT_EITHER_END = 3000
"""Characters kept of what one call prints: so many from its beginning, so many from its end."""
LEFT_OUT = "\n… what was printed here is left out …\n"


class Printed:
    """The output of the block, as `text`: all that is printed, logged, displayed and warned of.

    Output of C code goes past it, unless the notebook's kernel reads that itself. Figures that the block
    opens are closed with it.
    """

    def __init__(self) -> None:
        self._beginning, self._end, self._left_out = "", "", False
        self._stack = ExitStack()

    @property
    def text(self) -> str:
        """Return the output; of a long text, only the beginning and the end."""
        return self._beginning + (LEFT_OUT if self._left_out else "") + self._end

    def __enter__(self) -> Printed:
        self._stack.callback(_put_back, sys.stdout, sys.stderr, _STDOUT.printed)
        for held in (sys.stdout, sys.stderr):  # by a logging handler, or under another name
            self._shadow(held, "write", self.write)
        sys.stdout, sys.stderr = _STDOUT, _STDERR
        _STDOUT.printed = _STDERR.printed = self
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        if shell is not None:
            self._shadow(shell.display_pub, "publish", self._displayed)
            self._shadow(shell.display_pub, "clear_output", lambda *_, **__: None)
        # Left open, a figure would be drawn below the cell.
        self._stack.callback(_close_figures, _figures())
        # A warning is shown once for each line: within the block that count begins anew, and after it again.
        self._stack.enter_context(warnings.catch_warnings())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def write(self, text: str) -> int:
        """Keep a text as far as there is room for it."""
        text = str(text)
        room = KEPT_AT_EITHER_END - len(self._beginning)
        if room > 0:
            self._beginning += text[:room]
        rest = text[max(room, 0) :]
        if len(self._end) + len(rest) > KEPT_AT_EITHER_END:
            self._left_out = True
        if rest:
            self._end = (self._end + rest[-KEPT_AT_EITHER_END:])[-KEPT_AT_EITHER_END:]
        return len(text)

    def _displayed(self, data: Any = None, *_: Any, **__: Any) -> None:
        plain = data.get("text/plain") if isinstance(data, dict) else None
        if isinstance(plain, str):
            self.write(f"{plain}\n")

    def _shadow(self, owner: Any, name: str, function: Any) -> None:
        """Put a function in a method's place, for this one object and as long as the block runs."""
        with suppress(Exception):  # a stream of the student's own may refuse it: then it keeps its method
            before = {name: vars(owner)[name]} if name in vars(owner) else {}
            setattr(owner, name, function)
            self._stack.callback(_unshadow, vars(owner), name, before)


class _Stream(io.TextIOBase):
    """A stand-in for `sys.stdout` or `sys.stderr`, kept by a logging handler that is made in a call."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self._name = name
        self.printed: Printed | None = None

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.printed is not None:
            return self.printed.write(text)
        real = getattr(sys, self._name)
        return real.write(text) if real is not self else len(text)

    def close(self) -> None:
        """Stay open: the next call writes here, too."""


_STDOUT, _STDERR = _Stream("stdout"), _Stream("stderr")


def _put_back(stdout: Any, stderr: Any, printed: Printed | None) -> None:
    sys.stdout, sys.stderr = stdout, stderr
    _STDOUT.printed = _STDERR.printed = printed


def _unshadow(attributes: dict[str, Any], name: str, before: dict[str, Any]) -> None:
    attributes.pop(name, None)
    attributes.update(before)


def _figures() -> frozenset[int]:
    """The numbers of the figures that are open."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return frozenset(pyplot.get_fignums()) if pyplot is not None else frozenset()


def _close_figures(before: frozenset[int]) -> None:
    """Close the figures that were not open before."""
    for number in _figures() - before:
        sys.modules["matplotlib.pyplot"].close(number)
