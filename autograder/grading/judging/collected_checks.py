"""The checks of a bundle, collected; where they cannot be, the author is told in which file and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.fault import fault_of
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


class _NoChecks:
    """The checks of a plain assignment: it has no task to ask them about, and torch is not imported."""


@contextmanager
def checks_of(bundle: Bundle, *, dealt_out: bool = True) -> Iterator[Checks]:
    """Collect the checks of an assignment; their files are there while the block runs.

    Without `dealt_out` they have the points that their files give, and not those of the notebook. Raises
    `UserError` where they are broken. There are none of a plain assignment.
    """
    if not any(part.has_checks for part in bundle.parts):
        yield cast("Checks", _NoChecks())
        return
    from autograder.checking.runner.collection import collect

    with bundle.checks_folder() as folder:
        try:
            points = {} if bundle.own_checks or not dealt_out else bundle.tasks
            checks = collect(folder, shown_as=bundle.checks_home, points=points)
        except ChecksBroken as broken:
            raise UserError(_told(broken, bundle, folder)) from broken
        yield checks


def _told(broken: ChecksBroken, bundle: Bundle, folder: Path) -> str:
    """Return what their author has to know, which begins with the place."""
    cannot = f"the checks of {bundle.assignment} cannot be used"
    if not broken.broken:
        return f"{cannot[0].upper()}{cannot[1:]}: {broken}."
    first = broken.broken[0]
    if first.error is None:
        line = f", line {first.line}" if first.line else ""
        return f"{bundle.checks_home or folder}/{first.file.name}{line}: {cannot}: {first.told}."
    written_at = (str(first.file), first.line) if first.line else None
    fault = fault_of(first.error, folder, bundle.checks_home, written_at)
    return f"{fault.place}: {cannot}: {fault.raised}.\n{fault.traceback}"
