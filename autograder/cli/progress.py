"""The progress of a long command: a bar on a terminal, and nothing where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from autograder.cli.console import err


@dataclass(frozen=True)
class Told:
    """The functions that a long command calls to report its progress."""

    say: Callable[[str], None]
    """Report what it is doing now."""
    advance: Callable[[int, int], None]
    """Report the number of steps done, and of all steps."""


@contextmanager
def steps(otherwise: Callable[[str], None]) -> Iterator[Told]:
    """Show a bar on the terminal while the block runs; without a terminal, hand reports to `otherwise`."""
    if not err.is_terminal:
        yield Told(otherwise, lambda done, total: None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # No refreshing thread: judges are forked from here.
    progress = Progress(*columns, console=err, auto_refresh=False, transient=True)
    bar = progress.add_task("", total=None, start=True)

    def say(line: str) -> None:
        progress.start()  # only now, so that a refusal is a sentence and no dead bar
        progress.update(bar, description=line, refresh=True)

    def advance(done: int, total: int) -> None:
        progress.update(bar, completed=done, total=total, refresh=progress.live.is_started)

    try:
        yield Told(say, advance)
    finally:
        if progress.live.is_started:
            progress.stop()
