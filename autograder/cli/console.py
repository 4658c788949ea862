"""What the commands share: where they print, the options they have in common, and how errors are told."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

os.environ.setdefault("OMP_NUM_THREADS", "1")  # judges are forked: torch must not have started threads
# jsonschema, with which notebooks are validated, would make a parser of IRIs when it is imported: a second of
# work for a kind of text that no notebook has. None is how Python is told that there is no such module.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # typeshed knows modules only

app = typer.Typer(
    help="Build an nbgrader course on recurrent networks, and grade it outside the students' process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# A pipe or a log has no width of its own; a table cut to 80 columns would say nothing there.
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)

CourseOption = Annotated[Path, typer.Option("--course", help="The course directory.")]
OriginOption = Annotated[
    Path | None, typer.Option("--course", help="Copy this course instead of the packaged one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Submissions at a time; default: the cores.")
]
UnsafeOption = Annotated[
    bool,
    typer.Option(
        "--unsafe", help="Run students' code without confinement where none holds. At your own risk."
    ),
]


def tell(line: str) -> None:
    """Print a line as it is: names and paths are no markup, and a long one is not cut."""
    out.print(line, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def importing() -> Iterator[None]:
    """For imports that take seconds: garbage is not looked for meanwhile, nor later in what they made.

    They leave little, and looking for it is a fifth of the time. What is left judges share, being forks.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def told() -> Iterator[None]:
    """One sentence and exit status 1 for every condition that can be foreseen."""
    if sys.platform != "linux":
        err.print(
            "Grading runs on Linux; in a notebook, `check` works everywhere.", markup=False, soft_wrap=True
        )
        raise typer.Exit(1)
    from autograder.grading.errors import UserError

    try:
        yield
    except UserError as error:
        err.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print(
            "Stopped. What was graded is on record; the same command goes on from there.",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(130) from None
    except PermissionError as error:
        err.print(f"You may not read or write {error.filename}.", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        err.print(
            f"The machine refused: {error.strerror or error}{where}.",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(1) from None
