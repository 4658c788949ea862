"""The parts that all commands share: consoles, common options, and errors as one sentence."""

from __future__ import annotations

import gc
import json
import os
import re
import select
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
import typer
from rich.console import Console

from autograder import __version__
from autograder.cli.completion import assignments_here
from autograder.cli.stopping import Stopping, stoppable
from autograder.startup import set_up_process

set_up_process()

app = typer.Typer(
    help="Build an nbgrader course on recurrent networks, and grade it outside the students' process.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
BROKEN_PIPE = 141
"""The exit status where the reader went away before the end, as of a program that SIGPIPE ends."""


class _Trimmed:
    """Standard output, for a pipe or a file: rich fills lines with spaces, which no reader there wants."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return sys.stdout.write(re.sub(r" +(?=\n|$)", "", text))

    def flush(self) -> None:
        sys.stdout.flush()

    def isatty(self) -> bool:
        return False


class _Console(Console):
    """A console that ends quietly where nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(stream: Any, **options: Any) -> Console:
    # A pipe or a log has no width of its own; a table cut to 80 columns would say nothing there.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 160
    return _Console(highlight=False, width=width, **options)


out = _console(sys.stdout, **({} if sys.stdout.isatty() else {"file": _Trimmed()}))
err = _console(sys.stderr, stderr=True)

CourseOption = Annotated[Path, typer.Option("--course", help="The course directory.")]
AssignmentArgument = Annotated[
    str, typer.Argument(help="The assignment: a folder of source/.", autocompletion=assignments_here)
]
AssignmentsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Which ones; all if none is named.", autocompletion=assignments_here),
]
OriginOption = Annotated[
    Path | None, typer.Option("--course", help="Copy this course instead of the packaged one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Submissions at a time; default: the cores.")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Judge on the workers of this Dask scheduler, tcp://HOST:8786 or tls://HOST:8786.",
    ),
]
UnsafeOption = Annotated[
    bool,
    typer.Option(
        "--unsafe", help="Run students' code without confinement where none holds. At your own risk."
    ),
]


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", callback=lambda on: _version(on), is_eager=True
        ),
    ] = False,
) -> None:
    """Take the options of the program itself; typer takes its help from `app`."""


def _version(asked: bool) -> None:
    if asked:
        tell(f"autograder {__version__}")
        raise typer.Exit


def tell(line: str) -> None:
    """Print a line as it is: names and paths are no markup, and a long one is not cut."""
    out.print(line, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print what a command found, records among it, as JSON."""
    data = msgspec.to_builtins(value, enc_hook=str)  # a path is its text
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def print_json_list(values: Iterable[Any]) -> None:
    """Print a list as `print_json` does, one value after the other: a large one is never held as a whole."""
    begun = False
    for value in values:
        told = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        sys.stdout.write(f"{',' if begun else '['}\n  {told}")
        begun = True
    sys.stdout.write("\n]\n" if begun else "[]\n")


@contextmanager
def importing() -> Iterator[None]:
    """Stop garbage collection during imports that take seconds, and exempt for good what they made.

    They leave little garbage, and looking for it takes a fifth of the time. Judges are forks of this process:
    memory that is never looked through stays shared with them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def told(stopped: str = "Stopped; nothing is half-written.") -> Iterator[None]:
    """Turn every error that can be foreseen into one sentence and exit status 1.

    `stopped` is the sentence for a command that somebody interrupts or ends.
    """
    if sys.platform != "linux":
        err.print(
            "Grading runs on Linux; in a notebook, `check` works everywhere.", markup=False, soft_wrap=True
        )
        raise typer.Exit(1)
    with stoppable() as stopping:
        try:
            yield
            sys.stdout.flush()  # now, where it can be told that nobody reads
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            _tell_stopped(stopped, stopping)
        except Exception as error:
            if stopping.number:  # it comes of that
                _tell_stopped(stopped, stopping)
            _tell_error(error)


def _tell_stopped(sentence: str, stopping: Stopping) -> NoReturn:
    err.print(sentence, markup=False, soft_wrap=True)
    raise typer.Exit(stopping.status) from None


def _tell_error(error: Exception) -> NoReturn:
    """Print the sentence for an error that can be foreseen, and end with status 1; raise any other."""
    from autograder.errors import UserError

    match error:
        case UserError():
            sentence = str(error)
        case BrokenPipeError():
            if not _reader_is_gone():
                raise error
            raise typer.Exit(BROKEN_PIPE) from None
        case PermissionError():
            sentence = f"You may not read or write {error.filename}."
        case OSError():
            where = f" ({error.filename})" if error.filename else ""
            sentence = f"The machine refused: {error.strerror or error}{where}."
        case _:
            raise error
    err.print(sentence, markup=False, soft_wrap=True)
    raise typer.Exit(1) from None


def _reader_is_gone() -> bool:
    """Return whether standard output is a pipe that nobody reads; if so, send it to nowhere from then on."""
    descriptor = sys.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, 0)
    if not any(event & select.POLLERR for _, event in poll.poll(0)):
        return False
    # Else Python, which flushes once more when it ends, would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return True
