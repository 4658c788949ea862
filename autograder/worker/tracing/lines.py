"""The student's own lines: those that led to an exception, that are running, that assign a name.

A student's frames are known by the names that notebooks give to their cells. Lines are told as text,
`line 7: h = torch.zeros(2, 3)`, so that they can be shown where the source is not at hand.
"""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from functools import cache
from types import FrameType

from autograder.protocol.answers import Raised
from autograder.protocol.events import Line

_STUDENT_FILES = ("<cell ", "<ipython-input", "ipykernel_")
_LONGEST = 200
_SCRIPTED = re.compile(r"^RuntimeError: (Unavailable): (.*)$", re.MULTILINE)
"""The words that TorchScript makes of the exception `Unavailable` (worker/session/taken_away.py)."""


@cache  # asked of every frame of every operation that is watched
def is_student_file(filename: str) -> bool:
    """Return whether a notebook's cell has this file name."""
    return any(part in filename for part in _STUDENT_FILES)


def describe_exception(error: BaseException) -> Raised:
    """Return an exception's type, its message, and the student's own lines that led to it."""
    walked = traceback.walk_tb(error.__traceback__)
    frames = [(f.f_code, number) for f, number in walked if is_student_file(f.f_code.co_filename)][-5:]
    lines = [str(line_at(code.co_filename, number))[:300] for code, number in frames]
    owners = [code.co_qualname.partition(".")[0].strip("<>") for code, _ in frames]
    try:
        message = str(error)
    except Exception:  # the student's own class may raise anything when it is asked for its words
        message = "(its message could not be read)"
    kind = type(error).__name__
    scripted = _SCRIPTED.search(message) if type(error) is RuntimeError else None
    if scripted is not None:
        kind, message = scripted.groups()
    if isinstance(error, SyntaxError) and is_student_file(error.filename or ""):
        message = error.msg  # the whole text has the cell's file name in it
        lines, owners = [str(Line(error.lineno or 0, (error.text or "").strip()[:_LONGEST]))[:300]], [""]
    return Raised(
        type=kind[:100],
        message=message[:2000],
        lines=tuple(lines),
        owners=tuple(owners),
        bases=tuple(base.__name__[:100] for base in type(error).__mro__[1:-1]),
    )


def student_frame() -> FrameType | None:
    """The innermost running frame of the student's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_student_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def line_of(frame: FrameType | None) -> Line | None:
    """Return the line that a frame is at."""
    return line_at(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def line_at(filename: str, number: int) -> Line:
    return Line(number, linecache.getline(filename, number).strip()[:_LONGEST])


def line_that_names(name: str, frame: FrameType | None) -> Line | None:
    """Return the first line of the running cell that assigns a name."""
    found = assignment_of(name, frame) if name and frame is not None else None
    return line_at(*found) if found is not None else None


def assignment_of(name: str, frame: FrameType) -> tuple[str, int] | None:
    assigned = re.compile(rf"^\s*{re.escape(name)}\b\s*(:[^=]+)?=[^=]")
    filename = frame.f_code.co_filename
    numbered = enumerate(linecache.getlines(filename), 1)
    return next(((filename, number) for number, text in numbered if assigned.match(text)), None)
