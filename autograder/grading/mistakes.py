"""The catalogue of known mistakes: small edits of the source notebook's own solution, with a hint each.

`solutions/mistakes/<assignment>.toml` is written by hand, one table a mistake under the mistake's name;
docs/mistakes.md describes it. What a mistake answers is found out by running it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.checking.marks import RULES
from autograder.grading.errors import UserError

FIELDS = ("task", "find", "replace", "hint", "caught_by")


@dataclass(frozen=True)
class Mistake:
    """One known mistake: `find` in the task's own solution is replaced by `replace`."""

    name: str
    task: str
    find: str
    replace: str
    hint: str
    caught_by: str
    """The rule that a check must hold which catches it."""

    def answer(self, solution: Mapping[str, str]) -> str:
        """The source of the task's cell with this mistake in it; `solution` has the right ones by task."""
        return solution[self.task].replace(self.find, self.replace)


def read_catalogue(text: str, solution: Mapping[str, str], where: str) -> tuple[Mistake, ...]:
    """The mistakes of one assignment. `solution` has its solution cells' sources by `grade_id`.

    Raises `UserError`, which names the mistake and begins with `where`, for whatever does not hold.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where} is not TOML that can be read: {error}.") from error
    return tuple(_read(name, table, solution, f"{where}: {name}") for name, table in tables.items())


def _read(name: str, table: Any, solution: Mapping[str, str], where: str) -> Mistake:
    if not isinstance(table, dict) or any(not isinstance(table.get(field), str) for field in FIELDS):
        raise UserError(f"{where} must be a table with the texts {', '.join(FIELDS)}.")
    unknown = sorted(set(table) - set(FIELDS))
    if unknown:
        raise UserError(f"{where} has a field `{unknown[0]}`, which no mistake has.")
    if table["task"] not in solution:
        raise UserError(f"{where} names the task `{table['task']}`, which the notebook does not have.")
    if table["caught_by"] not in RULES:
        raise UserError(
            f"{where} is to be caught by `{table['caught_by']}`; the rules are {', '.join(RULES)}."
        )
    if not table["hint"].strip():
        raise UserError(f"{where} has no hint.")
    found = solution[table["task"]].count(table["find"]) if table["find"] else 0
    if found != 1:
        times = f"{found} times" if found else "nowhere"
        raise UserError(
            f"{where}: what it replaces stands {times} in the solution of `{table['task']}`; "
            "an edit must apply exactly once."
        )
    return Mistake(name, **{field: table[field] for field in FIELDS} | {"hint": _flowing(table["hint"])})


def _flowing(text: str) -> str:
    return " ".join(text.split())
