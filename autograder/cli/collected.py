"""The output of `autograder collect`: a line for each student, and the uploads that are nobody's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from autograder.grading.collecting.collect import Collected, Collection
from autograder.grading.handed_in.names import listed, shown

WORDS = {
    "new": "new",
    "replaced": "replaces what was there",
    "unchanged": "there already",
    "older": "not taken: what is there stays",
    "refused": "could not be read",
}


def collected_table(found: Collection) -> Table:
    """A table with a line for each student whose uploads were found."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("student", "submission", "handed in (UTC)", "notebook", "note"):
        table.add_column(title, overflow="fold")
    for each in found.students:
        table.add_row(
            Text(each.student),
            WORDS[each.done],
            _handed_in_at(each),
            Text(shown(each.notebook)[1:-1] if each.notebook else "–"),
            Text("; ".join(each.notes)),
        )
    return table


def summary(found: Collection, dry_run: bool) -> Iterator[str]:
    """Yield the sentences to print beside the table, one a line."""
    counts = Counter(each.done for each in found.students)
    said = ", ".join(f"{counts[done]} {WORDS[done]}" for done in WORDS if counts[done])
    yield f"{len(found.students)} students: {said or 'nothing'}.{' Nothing was written.' if dry_run else ''}"
    unknown = [each for each in found.students if each.done in ("new", "replaced") and not each.handed_in]
    if unknown:
        advice = (
            "neither the download nor the roster says it"
            if found.with_roster
            else "a platform's zip does not say it. Moodle's grading worksheet as --roster does"
        )
        yield (
            f"For {len(unknown)} of them the time is unknown: {advice}; "
            "--times files takes the files' own dates."
        )
    if found.enrolled:
        new = "would be new" if dry_run else "are new"
        yield f"{found.enrolled} students of the roster {new} in the gradebook."
    yield from found.left_out
    if found.not_there:
        yield f"Nothing is there from {listed(found.not_there, of='student')}."
    if found.unmatched:
        many = len(found.unmatched)
        yield f"{'1 file is' if many == 1 else f'{many} files are'} nobody's and stayed in the download:"
        for reason in dict.fromkeys(why for _, why in found.unmatched):
            paths = [shown(path) for path, why in found.unmatched if why == reason]
            if len(paths) == 1:
                yield f"  {paths[0]}: {reason}"
            else:
                yield f"  {reason}:"
                yield from (f"    {path}" for path in paths)


def as_data(found: Collection) -> dict[str, Any]:
    """The collection as JSON data; docs/grading.md describes it."""
    return {
        "students": [
            {
                "student": each.student,
                "done": each.done,
                "notebook": each.notebook or None,
                "handed_in": _iso(each.handed_in),
                "late": each.late,
                "same_as": each.same_as or None,
                "notes": list(each.notes),
                "kept": each.kept or None,
                "files": sorted(each.files),
            }
            for each in found.students
        ],
        "unmatched": [{"path": path, "why": why} for path, why in found.unmatched],
        "enrolled": found.enrolled,
        "not_there": list(found.not_there),
        "left_out": list(found.left_out),
    }


def _handed_in_at(each: Collected) -> str:
    when = f"{each.handed_in:%Y-%m-%d %H:%M}" if each.handed_in else "not known"
    return f"{when}, late" if each.late else when


def _iso(when: datetime | None) -> str | None:
    return when.isoformat() if when else None
