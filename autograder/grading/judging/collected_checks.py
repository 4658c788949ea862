"""The checks of a bundle, collected; where they cannot be, the author is told in which file and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.fault import fault_of
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle


@contextmanager
def checks_of(bundle: Bundle) -> Iterator[Checks]:
    """Collect the checks of an assignment; their files are there while the block runs.

    Raises `UserError` where they are broken.
    """
    with bundle.checks_folder() as folder:
        try:
            checks = collect(folder, shown_as=bundle.checks_home)
        except ChecksBroken as broken:
            begin = f"The checks of {bundle.assignment} cannot be used"
            if not broken.errors:
                raise UserError(f"{begin}: {broken}.") from broken
            _, error = broken.errors[0]
            fault = fault_of(error, folder, bundle.checks_home)
            raise UserError(f"{begin}: {fault}.\n{fault.traceback}") from broken
        yield checks
