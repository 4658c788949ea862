"""The commands that show a graded class: as a table, as a report, as a file for another system."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.completion import assignments_here
from autograder.cli.console import (
    AssignmentArgument,
    CourseOption,
    JsonOption,
    app,
    err,
    importing,
    out,
    print_json,
    print_json_list,
    tell,
    told,
)


class System(StrEnum):
    """A system that marks are exported to."""

    canvas = "canvas"
    moodle = "moodle"
    csv = "csv"


class Per(StrEnum):
    """The unit that gets a column of its own."""

    task = "task"
    total = "total"


@app.command()
def results(
    assignment: AssignmentArgument,
    as_json: JsonOption = False,
    clusters: Annotated[
        bool,
        typer.Option("--clusters", help="Wrong answers alike that no known mistake explains."),
    ] = False,
    course: CourseOption = Path("."),
) -> None:
    """Show what was found in a graded assignment."""
    with told():
        with importing():
            from autograder.cli.tables import legend, print_clusters, print_results, summary
            from autograder.grading.course.course import Course
            from autograder.grading.records.clusters import clusters as find_clusters
            from autograder.grading.records.results import results as read_results

        if clusters:
            found = find_clusters(Course.at(course), assignment)
            print_json(found) if as_json else print_clusters(out, found)
            return
        graded = read_results(Course.at(course), assignment)
        if as_json:
            print_json_list(result.as_json() for result in graded)
        else:
            print_results(out, graded)
            if signs := legend(graded):
                tell(signs)
            tell(summary(graded))


@app.command()
def report(
    assignment: Annotated[
        str | None,
        typer.Argument(
            help="The assignment; without one, the report is of the whole course.",
            autocompletion=assignments_here,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page; default: reports/ASSIGNMENT.html, or reports/course.html, in the course.",
        ),
    ] = None,
    as_json: JsonOption = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the tables as CSV files into this folder instead.")
    ] = None,
    formgrader: Annotated[
        str, typer.Option(help="Where formgrader runs; the report links to it.")
    ] = "http://localhost:8888/formgrader",
    course: CourseOption = Path("."),
) -> None:
    """Write the instructor's report of a graded assignment, or of the whole course: one HTML file."""
    with told():
        with importing():
            from autograder.grading.course.course import Course
            from autograder.grading.files.access import UMASK
            from autograder.reporting.overview.class_report import CourseReport, gather_course
            from autograder.reporting.overview.page import write_course_page
            from autograder.reporting.overview.tables import course_tables
            from autograder.reporting.page import write_page
            from autograder.reporting.report import gather
            from autograder.reporting.report_tables import report_tables, write_tables

        at = Course.at(course)
        found = gather_course(at) if assignment is None else gather(at, assignment)
        if as_json:
            print_json(found)
        if csv is not None:
            tables = course_tables(found) if isinstance(found, CourseReport) else report_tables(found)
            for path in write_tables(tables, csv):
                tell(str(path))
        if as_json or csv is not None:
            return
        path = output or at.root / "reports" / f"{assignment or 'course'}.html"
        access = at.access if output is None else UMASK
        if isinstance(found, CourseReport):
            write_course_page(found, path, formgrader, access)
        else:
            write_page(found, path, formgrader, access)
        tell(f"The report: {path}")


@app.command()
def export(
    to: Annotated[System, typer.Option("--to", help="For which system.")],
    assignments: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which ones; all that are graded if none is named.", autocompletion=assignments_here
        ),
    ] = None,
    per: Annotated[Per, typer.Option("--per", help="A column per assignment, or per task.")] = Per.total,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file, - for standard output; default: in exports/."),
    ] = None,
    course: CourseOption = Path("."),
) -> None:
    """Write the gradebook's marks for another system. Who has no score gets an empty field, never a 0."""
    with told():
        with importing():
            from autograder.grading.course.course import Course
            from autograder.grading.files.access import UMASK
            from autograder.grading.records.scores import STATES
            from autograder.grading.records.store import write_whole
            from autograder.reporting.export import export as export_marks

        at = Course.at(course)
        found = export_marks(at, to.value, assignments or [], per_task=per is Per.task)
        path = at.root / "exports" / f"{to.value}-{per.value}.csv" if output is None else Path(output)
        if output == "-":
            sys.stdout.write(found.text)
        else:
            write_whole(path, found.mark + found.text, at.access if output is None else UMASK)
            tell(f"{found.students} students: {path}")
        if found.given:
            many = f"{found.given} marks are" if found.given > 1 else "1 mark is"
            err.print(f"{many} for the submission of another member of the student's group", soft_wrap=True)
        for state, count in found.empty.items():
            err.print(f"{count} without a score: {STATES[state]}", markup=False, soft_wrap=True)
