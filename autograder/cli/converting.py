"""The command that makes a check of a task's assert cells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.console import AssignmentArgument, CourseOption, app, err, importing, out, tell, told
from autograder.cli.progress import steps


@app.command()
def convert(
    assignment: AssignmentArgument,
    task: Annotated[
        str, typer.Argument(help="The function, class or variable that students write, or its cell's id.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the check and the comparison; write nothing.")
    ] = False,
    course: CourseOption = Path("."),
) -> None:
    """Make a check of a task's test cells, and compare the two on all submissions before it is written."""
    with told("Stopped. Nothing was written."):
        with importing():
            from autograder.grading.converting.compare import prove
            from autograder.grading.course.course import Course

        home = Course.at(course)
        with steps(lambda line: None) as way:
            way.say(f"{assignment}: judging by the cells and by the check")
            planned, compared = prove(home, assignment, task, way.advance)
        for line in planned.stays:
            err.print(line, markup=False, soft_wrap=True)
        for name, text in planned.files.items() if dry_run else ():
            out.print(f"{name}:\n\n{text}", markup=False, highlight=False, soft_wrap=True)
        cells = ", ".join(each.cell.grade_id for each in planned.converted)
        tell(f"`{planned.task}`: {planned.points:g} points by a check, in place of {cells}.")
        tell(f"The solution gets all of them, the release 0 (by the cells {compared.release.before:g}).")
        for line in compared.told():
            tell(line)
        for place in planned.may_stop:
            tell(f"{place}: it may stop where a task is not solved, so it has the tag raises-exception now.")
        if dry_run:
            tell("Nothing was written.")
            return
        planned.write(home)
        for path in planned.texts:
            tell(f"Written: {home.told(path)}")
        tell(f"Next: `autograder build {assignment}`.")
