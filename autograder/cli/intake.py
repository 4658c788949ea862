"""The command that brings uploads into a course."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.console import CourseOption, JsonOption, app, out, print_json, tell, told


class Times(StrEnum):
    """The times that are taken as those of handing in."""

    known = "known"
    files = "files"
    none = "none"


@app.command()
def collect(
    assignment: Annotated[str, typer.Argument(help="The assignment: a folder of source/.")],
    source: Annotated[
        Path, typer.Option("--from", help="A zip from Moodle or Canvas as it was downloaded, or any folder.")
    ],
    roster: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of the students: a Moodle grading worksheet, a Canvas gradebook, any table."
        ),
    ] = None,
    times: Annotated[
        Times, typer.Option(help="Which times of handing in are taken: known ones, the files' own, none.")
    ] = Times.known,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    as_json: JsonOption = False,
    course: CourseOption = Path("."),
) -> None:
    """Bring uploads into submitted/. Exit status 3 if some could not be matched or read."""
    from autograder.cli.collected import as_data, collected_table, summary
    from autograder.grading.collecting.collect import collect as bring_in
    from autograder.grading.course.course import Course

    with told():
        found = bring_in(
            Course.at(course), assignment, source, roster=roster, times=times.value, dry_run=dry_run
        )
        if as_json:
            print_json(as_data(found))
        else:
            out.print(collected_table(found))
            for line in summary(found, dry_run):
                tell(line)
        if found.unmatched or found.left_out or any(each.done == "refused" for each in found.students):
            raise typer.Exit(3)
