"""One thing that an author has to mend, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.errors import UserError


@dataclass(frozen=True)
class Problem:
    """A problem, and its place: the file, then the cell or the line."""

    where: str
    message: str
    of_mistakes: bool = False
    """True if it is a known mistake that does not fit, which says nothing of the notebook."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Unfit(UserError):
    """A course that has problems: nothing was run and nothing was written."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        many = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        last = f"{many}; nothing was run and nothing was changed."
        if all(problem.of_mistakes for problem in problems):
            last += " `autograder check` judges the source notebook all the same."
        super().__init__("\n".join([*map(str, problems), last]))
