"""A fault of a check: an exception that is no finding about an answer, as the check's author needs it."""

from __future__ import annotations

import traceback
from pathlib import Path

from msgspec import Struct

_PACKAGE = Path(__file__).parents[2]
_MOST_FRAMES = 12
_MOST_TEXT = 1000
"""Characters of an exception's text, which may quote what a student's code returned."""


class Fault(Struct, frozen=True):
    """An error of a check itself: `file` and `line` are the innermost of the author's own code."""

    type: str
    message: str
    file: str
    line: int
    traceback: str
    """From the author's first line to where it was raised, as Python prints it."""

    def __str__(self) -> str:
        return f"{self.raised} ({self.place})"

    @property
    def raised(self) -> str:
        """The exception in words."""
        return f"{self.type}: {self.message}" if self.message else self.type

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}, line {self.line}"

    @property
    def told(self) -> str:
        """The sentence for a student, who is to pass it on; nothing in it tells what the check looks at."""
        return (
            f"This check has a fault of its own: {self.type} in {Path(self.file).name}, line {self.line}. "
            "It is not your mistake and costs you no points. Please send this line to your instructor."
        )


def fault_of(
    error: BaseException, folder: Path, shown_as: str = "", written_at: tuple[str, int] | None = None
) -> Fault:
    """Return the fault behind an exception of a check in `folder`, which an author knows as `shown_as`.

    `written_at` is the file and line of a statement by which a specification made the check: no line of the
    author's runs then, unless it is their reference's.
    """
    frames = traceback.extract_tb(error.__traceback__)
    begins = next((at for at, frame in enumerate(frames) if _is_authors(frame.filename, folder)), None)
    if begins is None:  # a file that Python could not read has no line that ran
        place, shown = written_at or _unread(error, frames), list(frames[-_MOST_FRAMES:])
    else:
        shown = list(frames[begins:])
        own = [frame for frame in shown if _is_authors(frame.filename, folder)]
        place = (own[-1].filename, own[-1].lineno or 0)
    home = shown_as or str(folder)
    for frame in shown:
        frame.filename = _named(frame.filename, folder, home)
    told = traceback.TracebackException(type(error), error, None)
    # Of what calls itself without end the beginning and the end are enough.
    half = _MOST_FRAMES // 2
    kept = shown if len(shown) <= _MOST_FRAMES else [*shown[:half], *shown[-half:]]
    lines = [*traceback.StackSummary.from_list(kept).format(), *told.format_exception_only()]
    text = "".join(["Traceback (most recent call last):\n", *lines] if kept else lines)
    return Fault(
        type=type(error).__name__,
        message=_readable(_text(error), _MOST_TEXT),
        file=_named(place[0], folder, home),
        line=place[1],
        traceback=_readable(text.replace(str(folder), home), 8 * _MOST_TEXT).rstrip(),
    )


def _unread(error: BaseException, frames: traceback.StackSummary) -> tuple[str, int]:
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def _is_authors(file: str, folder: Path) -> bool:
    """Return whether a line is the check author's: in their folder, or beside it in the same package."""
    shared = folder.parent if (folder / "__init__.py").is_file() else folder  # a package of several folders
    return Path(file).is_relative_to(shared)


def _named(file: str, folder: Path, home: str) -> str:
    """The name of a file as its author knows it; of this package's, from the package on."""
    path = Path(file)
    if path.is_relative_to(folder):
        return str(Path(home) / path.relative_to(folder))
    for package in (_PACKAGE, folder.parent):
        if path.is_relative_to(package):
            return str(path.relative_to(package.parent))
    return file


def _text(error: BaseException) -> str:
    """The exception's text in one line; a syntax error's names the file again, which is told anyway."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(said.split())


def _readable(text: str, length: int) -> str:
    """At most `length` characters of a text, without those that steer a terminal."""
    kept = "".join(c for c in text[:length] if c.isprintable() or c in "\n\t")
    return kept if len(text) <= length else f"{kept} …"
