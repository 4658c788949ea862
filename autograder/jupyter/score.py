"""The value of `check`: a number for whoever computes with it, nothing to look at under its card.

nbgrader reads a check cell's points from the number that the cell ends with, in a kernel that nobody can be
asked in. Front ends that a person works in say with each cell that they can ask: there the card says it all.
"""

from __future__ import annotations

import sys
from typing import Any


class Score(float):
    """A task's points. In a cell that it was made in, and that a person runs, it is not displayed."""

    _cell: int

    @classmethod
    def of(cls, points: float) -> float:
        """The points, for the cell that is running; a plain number where no person runs it."""
        cell = _cell_of_a_person()
        if cell is None:
            return points
        score = cls(points)
        score._cell = cell
        return score

    def _ipython_display_(self) -> None:
        """Display nothing; where it is not implemented, IPython shows the number as any other."""
        if self._cell != _cell_of_a_person():
            raise NotImplementedError

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        """Make every copy a number like any other."""
        return float, (float(self),)


def person_asks() -> bool:
    """Return whether a person runs the cell: the front end can ask for input."""
    return _cell_of_a_person() is not None


def _cell_of_a_person() -> int | None:
    """The number of the running cell, where its front end can ask for input; `None` elsewhere."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    try:
        asked = kernel.get_parent("shell")["content"]["allow_stdin"]
    except (AttributeError, KeyError, TypeError):
        return None
    return int(shell.execution_count) if asked is True else None
