"""The state of the assignments, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from autograder.reporting.overview.built import CHANGED, NO, YES
from autograder.reporting.overview.standing import Standing, totals

_WORDS = {NO: ("no", "dim"), YES: ("yes", ""), CHANGED: ("changed since", "yellow"), "": ("–", "dim")}
_COUNTS = {"handed_in": "handed in", "graded": "graded", "to_grade": "to grade",
           "out_of_date": "out of date", "for_a_person": "for a person"}  # fmt: skip
_DONE = ("handed_in", "graded")
"""Counts that ask for nothing; any other is a reason to do something."""


def standing_table(found: Sequence[Standing]) -> Table:
    """A table with a line for each assignment."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("assignment", "built", "released"):
        table.add_column(title, no_wrap=True)
    for title in _COUNTS.values():
        table.add_column(title, justify="right")
    table.add_column("next", no_wrap=True, overflow="ellipsis")
    for each in found:
        counts = {name: getattr(each, name) for name in _COUNTS}
        table.add_row(
            Text(each.assignment),
            _word(each.built),
            _word(each.released),
            *(_count(name, count) for name, count in counts.items()),
            Text(each.next),
        )
    return table


def told_after(assignments: Sequence[str]) -> str:
    """Return the advice to release an assignment later, since it holds answers of others."""
    return f"release it when {' and '.join(assignments)} is collected: it holds answers to tasks in there."


def summary(found: Sequence[Standing]) -> str:
    """The counts over all assignments in one sentence."""
    count = totals(found)
    built = sum(each.built == YES for each in found)
    return (
        f"{_plural(len(found), 'assignment')}, {built} built from the source as it is; "
        f"{_plural(count['handed_in'], 'submission')}: {count['graded']} graded, "
        f"{count['to_grade']} to grade, {count['out_of_date']} out of date; "
        f"{count['for_a_person']} for a person."
    )


def _word(state: str) -> Text:
    word, style = _WORDS[state]
    return Text(word, style=style)


def _count(name: str, count: int) -> Text:
    return Text(str(count) if count else "–", style="dim" if not count else "" if name in _DONE else "yellow")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
