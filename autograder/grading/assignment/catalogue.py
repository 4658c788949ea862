"""The catalogue of known mistakes: small edits of the notebook's own solution, or answers as they came.

`solutions/mistakes/<assignment>.toml` is written by hand, one table a mistake under the mistake's name;
docs/mistakes.md describes it. What a mistake answers is found out by running it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.checking.runner.marks import RULES
from autograder.errors import UserError
from autograder.grading.assignment.toml_lines import line_unread, lines_of

FIELDS = ("task", "caught_by")
"""The fields of every mistake."""
EDIT, ANSWER, HINT = ("find", "replace"), "answer", "hint"
"""The fields of an edit, the one of a whole answer in its place, and the one that may be left out."""


@dataclass(frozen=True)
class Mistake:
    """One known mistake: a whole answer, or `find` in the task's own solution replaced by `replace`."""

    name: str
    task: str
    find: str
    replace: str
    hint: str
    """`""` where nothing is to be said of it: then it is caught, and not named."""
    caught_by: str
    """The rule that a check must hold which catches it."""
    whole: str = ""
    """The answer; `""` where it is an edit."""

    def answer(self, solution: Mapping[str, str]) -> str:
        """The source of the task's cell with this mistake in it; `solution` has the right ones by task."""
        return self.whole or solution[self.task].replace(self.find, self.replace)


@dataclass(frozen=True)
class Fault:
    """An error in a catalogue, as a sentence that begins with the mistake's name, and its line."""

    message: str
    line: int


def read_catalogue(text: str, solution: Mapping[str, str], where: str) -> tuple[Mistake, ...]:
    """The mistakes of one assignment. `solution` has its solution cells' sources by `grade_id`.

    Raises `UserError`, which names the mistake and begins with `where`, for whatever does not hold.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_unread(text, error)
        raise UserError(f"{where}, line {line}: is not TOML that can be read: {error}.") from error
    for name, table in tables.items():
        for told in _faults(name, table, solution):
            raise UserError(f"{where}, line {lines_of(text)[name,]}: {told}")
    return tuple(_read(name, table) for name, table in tables.items())


def catalogue_faults(
    text: str, solution: Mapping[str, str] | None, graded: Collection[str]
) -> Iterator[Fault]:
    """Everything that does not hold in a catalogue; with `solution=None`, whatever can be said without one.

    `graded` are the tasks that have a cell with points.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        yield Fault(f"is not TOML that can be read: {error}.", line_unread(text, error))
        return
    ungraded: dict[str, list[str]] = {}
    for name, table in tables.items():
        told = list(_faults(name, table, solution))
        yield from (Fault(message, lines_of(text)[name,]) for message in told)
        if not told and solution is not None and table["task"] not in graded:
            ungraded.setdefault(table["task"], []).append(name)
    for task, names in ungraded.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        are = "is a mistake" if len(names) == 1 else "are mistakes"
        yield Fault(f"{names[0]}{more} {are} in `{task}`, which no cell grades.", lines_of(text)[names[0],])


def _faults(name: str, table: Any, solution: Mapping[str, str] | None) -> Iterator[str]:
    if not isinstance(table, dict) or any(not isinstance(table.get(field), str) for field in FIELDS):
        yield f"{name} must be a table with the texts {', '.join(FIELDS)}."
        return
    unknown = sorted(set(table) - {*FIELDS, *EDIT, ANSWER, HINT})
    if unknown:
        yield f"{name} has a field `{unknown[0]}`, which no mistake has."
        return
    if {*table} & {*EDIT, ANSWER} not in ({*EDIT}, {ANSWER}):
        yield f"{name} must have either the texts {' and '.join(EDIT)}, or the text {ANSWER}."
        return
    if other := next((field for field, text in table.items() if not isinstance(text, str)), None):
        yield f"{name}: `{other}` must be a text."
        return
    if table["caught_by"] not in RULES:
        yield f"{name} is to be caught by `{table['caught_by']}`; the rules are {', '.join(RULES)}."
    for field in (HINT, ANSWER):
        if not table.get(field, field).strip():
            yield f"{name} has no {field}."
    if solution is None:
        return
    if table["task"] not in solution:
        yield f"{name} names the task `{table['task']}`, which the notebook does not have."
        return
    if ANSWER in table:
        return
    found = solution[table["task"]].count(table["find"]) if table["find"] else 0
    if found != 1:
        times = f"{found} times" if found else "nowhere"
        yield (
            f"{name}: what it replaces stands {times} in the solution of `{table['task']}`; "
            "an edit must apply exactly once."
        )


def _read(name: str, table: Mapping[str, str]) -> Mistake:
    return Mistake(
        name,
        table["task"],
        table.get("find", ""),
        table.get("replace", ""),
        _flowing(table.get(HINT, "")),
        table["caught_by"],
        table.get(ANSWER, "").strip("\n"),
    )


def _flowing(text: str) -> str:
    return " ".join(text.split())
