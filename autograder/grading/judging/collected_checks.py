"""The checks of a bundle, collected; where they cannot be, the author is told in which file and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.fault import fault_of
from autograder.checking.runner.session import Checks, with_checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle

Result = TypeVar("Result")


def with_checks_of(bundle: Bundle, body: Callable[[Checks], Result]) -> Result:
    """Collect the checks of an assignment and call `body` with them; `UserError` where they are broken."""
    with bundle.checks_folder() as folder:
        try:
            return with_checks(folder, body, shown_as=bundle.checks_home)
        except ChecksBroken as broken:
            begin = f"The checks of {bundle.assignment} cannot be used"
            if not broken.errors:
                raise UserError(f"{begin}: {broken}.") from broken
            _, error = broken.errors[0]
            fault = fault_of(error, folder, bundle.checks_home)
            raise UserError(f"{begin}: {fault}.\n{fault.traceback}") from broken
