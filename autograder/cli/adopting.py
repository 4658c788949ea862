"""The command that takes over a course which nbgrader has graded so far."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.authoring import build_and_tell
from autograder.cli.console import app, err, importing, tell, told
from autograder.cli.progress import steps
from autograder.errors import UserError

if TYPE_CHECKING:
    from autograder.grading.adopting.configuration import Configuration
    from autograder.grading.adopting.survey import Survey
    from autograder.grading.course.course import Course


@app.command()
def adopt(
    path: Annotated[
        Path, typer.Argument(help="A course directory, an assignment's folder, or a notebook in one.")
    ] = Path("."),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is and what would be done; write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Answer every question with yes.")] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Judge the submissions that the gradebook has scores of, and say who would get others. "
            "Nothing of it is recorded.",
        ),
    ] = False,
) -> None:
    """Have an nbgrader course graded here: say what there is, complete its configuration, build.

    Nothing is written before the last question is answered. Without a terminal nothing is asked, and
    nothing is written unless --yes is given.
    """
    with told():
        with importing():
            from autograder.grading.adopting.configuration import Configuration
            from autograder.grading.adopting.survey import meant, survey

        course, assignments = meant(path)
        surveys = [survey(course, name) for name in assignments]
        tell(f"The course in {course.root}:\n")
        for each in surveys:
            _tell_survey(each)
        buildable = [each.assignment for each in surveys if not (each.refused or each.problems)]
        if all(each.refused for each in surveys):
            raise UserError("Nothing of it can be graded here. Nothing was changed.")
        if compare and buildable:
            _compare(course, buildable)
        configuration = Configuration.of(course)
        asking = not dry_run and not yes and sys.stdin.isatty()
        keep = _clashes(configuration, asking)
        text = configuration.completed(keep)
        _tell_plan(configuration, text, buildable)
        if dry_run or not (yes or asking):
            tell(f"Nothing was changed. To have it done: autograder adopt {path} --yes")
            return
        if asking and not typer.confirm("Do it?"):
            tell("Nothing was changed.")
            return
        if text != configuration.text:
            course = configuration.write(text, keep)
            tell("nbgrader_config.py is written.")
        _do(course, buildable, surveys)


def _tell_survey(found: Survey) -> None:
    tell(found.said)
    for line in found.left_out:
        tell(f"  {line}")
    for line in found.refused:
        tell(f"  {line} Keep {found.assignment} in a course directory that nbgrader alone grades.")
    for line in found.problems:
        tell(f"  To be mended before it can be built: {line}")
    tell("")


def _compare(course: Course, assignments: Sequence[str]) -> None:
    """Tell which submissions would get other scores than those that the gradebook has of them."""
    from autograder.grading.workers.forkserver import ForkServer

    with steps(tell) as way, ForkServer(preload=None) as workers:
        from autograder.grading.adopting.compare import compare
        from autograder.grading.judging.judge_pool import LocalJudges, cores

        for name in assignments:
            way.say(f"{name}: judging the submissions of the gradebook")
            found = compare(course, name, LocalJudges(workers, cores()), way.advance)
            tell(f"{name}: {found or 'the gradebook has no scores of submissions that are there.'}")
            for line in found.different if found else ():
                tell(f"  {line}")
    tell("")


def _clashes(configuration: Configuration, asking: bool) -> list[str]:
    """Tell which settings have other values; return the applications whose settings are to stay."""
    keep = []
    for application, lines in configuration.clashes().items():
        for line in lines:
            tell(line)
        if not asking:
            tell(f"--yes replaces it for {application}, by a line at the end.")
        elif not typer.confirm(f"Replace it for {application}, by a line at the end?"):
            keep.append(application)
    return keep


def _tell_plan(configuration: Configuration, text: str, buildable: Sequence[str]) -> None:
    difference = configuration.difference(text)
    tell(f"{difference}\n" if difference else "nbgrader_config.py has all that is needed.\n")
    if buildable:
        verb = "is" if len(buildable) == 1 else "are"
        tell(
            f"Then {', '.join(buildable)} {verb} built: a release replaces the one that is there, once the "
            "assignment's own solution earns all points that are given automatically. Submissions, marks and "
            "comments stay as they are."
        )


def _do(course: Course, buildable: Sequence[str], surveys: Sequence[Survey]) -> None:
    """Build what can be built, each by itself: one that is refused keeps no other from being built."""
    refused = [each.assignment for each in surveys if each.problems]
    for name in buildable:
        try:
            build_and_tell(course, [name])
        except UserError as error:
            err.print(str(error), markup=False, soft_wrap=True)
            refused.append(name)
    here = "" if course.root == Path.cwd() else f" --course {course.root}"
    if refused:
        raise UserError(
            f"Mend what is said above of {', '.join(refused)}; then: "
            f"autograder build {' '.join(refused)}{here}"
        )
    release = course.told(course.folder("release", ".", buildable[0]))
    tell(f"Next: hand out {release}, and grade what comes back: autograder grade {buildable[0]}{here}")
