"""The commands that make a course: begin one, build its assignments, examine their checks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.console import (
    AssignmentsArgument,
    CourseOption,
    JobsOption,
    JsonOption,
    OriginOption,
    app,
    err,
    importing,
    out,
    print_json,
    tell,
    told,
)
from autograder.cli.progress import steps
from autograder.errors import UserError

if TYPE_CHECKING:
    from autograder.grading.build import Built
    from autograder.grading.course.course import Course


@app.command()
def new(
    directory: Annotated[
        Path | None,
        typer.Argument(help="Where the course goes; absent or empty.", show_default=False),
    ] = None,
    course_id: Annotated[
        str | None,
        typer.Option(
            "--course-id",
            metavar="NAME",
            help="The course's name on nbgrader's exchange, which no other course there may have; "
            "default: made from the directory's name.",
        ),
    ] = None,
    empty: Annotated[
        bool, typer.Option("--empty", help="Without assignments: for a course that you write yourself.")
    ] = False,
    assignment: Annotated[
        str | None,
        typer.Option(
            "--assignment",
            metavar="NAME",
            help="Besides, an assignment of your own, as `new-assignment` writes it; that alone where the "
            "course is there already.",
        ),
    ] = None,
    course: OriginOption = None,
) -> None:
    """Make a fresh course directory from the packaged course."""
    from autograder.grading.course.course import CONFIG_FILE, Course
    from autograder.grading.course.settings import missing
    from autograder.grading.course.template import new_course

    with told():
        elsewhere = f" --course {directory}" if directory is not None else ""
        if assignment is not None and ((directory or Path()) / CONFIG_FILE).is_file():
            _lay_out(Course.at(directory or Path()), assignment, None, elsewhere)
            return
        if directory is None:
            raise UserError("Name the directory of the new course: `autograder new my-course`.")
        name = new_course(directory, course, course_id=course_id, empty=empty)
        tell(f"A new course lies in {directory}; its README.md says what is where and what to back up.")
        tell(f"On nbgrader's exchange it is called {name}. Another name: `course_id` in nbgrader_config.py.")
        if assignment is not None:
            _lay_out(Course.at(directory), assignment, None, elsewhere)
            return
        if missing(Course.at(directory).config):
            tell(f"Next: autograder adopt {directory}")
            return
        step = "new-assignment 01_first" if empty else "build"
        tell(f"Next: autograder {step} --course {directory}")


@app.command("new-assignment")
def new_assignment(
    name: Annotated[str, typer.Argument(help="What it is to be called, as 01_first.")],
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            metavar="NAME",
            help="The name of a function that students write, or with a capital letter of a class; give it "
            "several times for several tasks.",
        ),
    ] = None,
    course: CourseOption = Path("."),
) -> None:
    """Write a small assignment into source/ that works as it is, to make your own from."""
    from autograder.grading.course.course import Course

    with told():
        _lay_out(Course.at(course), name, task)


@app.command()
def drop(
    assignment: Annotated[str, typer.Argument(help="The assignment, as 01_first.")],
    task: Annotated[str, typer.Argument(help="The task to take out, as attend.")],
    course: CourseOption = Path("."),
) -> None:
    """Take a task out of an assignment: cells, demonstrations, checks, known mistakes and right answers."""
    from autograder.grading.course.course import Course
    from autograder.grading.drop import drop_task

    with told():
        gone = drop_task(Course.at(course), assignment, task)
        tell(
            f"`{task}` is out of {assignment}: {gone.cells} cells, {gone.mistakes} known mistakes, "
            f"{gone.right_answers} right answers in other styles."
        )
        for place in gone.still_about:
            tell(f"  {place}: read what it says of the task, and rewrite it.")
        tell(f"Next: `autograder build {assignment}`.")


def _lay_out(course: Course, name: str, tasks: Sequence[str] | None, options: str = "") -> None:
    """Write an assignment to begin with, and tell what is to be filled in where."""
    from autograder.grading.course.new_assignment import TASK
    from autograder.grading.course.new_assignment import new_assignment as write_assignment

    made = write_assignment(course, name, tasks or (TASK,))
    tell("It builds as it is. Its comments say what is what; fill in your own:")
    of_checks = "what the task takes and gives, the right answer, and what each check is worth"
    for path, what in (
        (made.notebook, "the prose, your solution, and two cells for each task"),
        *((each, of_checks) for each in made.checks),
        (made.mistakes, "the mistakes that you expect, each with a hint"),
        (made.right_answers, "right answers in other styles, which must lose nothing"),
    ):
        tell(f"  {course.told(path)}: {what}")
    build, validate = (f"`autograder {command} {name}{options}`" for command in ("build", "validate"))
    tell(f"Next: {build}, then {validate}; both say where to go on.")


@app.command()
def build(
    assignments: AssignmentsArgument = None,
    force: Annotated[bool, typer.Option("--force", help="Build again what has not changed, too.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: look at every file that is saved, and build what changed.")
    ] = False,
    one_file: Annotated[
        bool,
        typer.Option(
            "--one-file", help="Besides, write each as one notebook that holds its checks, into one-file/."
        ),
    ] = False,
    course: CourseOption = Path("."),
) -> None:
    """Generate release/ and solutions/ from source/; refuse what would be unfair."""
    with told("Stopped. What was built is in place; the same command goes on from there."):
        with importing():
            from autograder.grading.building.examine import chosen_assignments, passed_over
            from autograder.grading.course.course import Course

        chosen_assignments(Course.at(course), assignments or [])
        for line in [] if assignments else passed_over(Course.at(course)):
            err.print(line, markup=False, soft_wrap=True)
        if watch:
            from autograder.grading.watch import watch_course

            def build_one(name: str) -> None:
                with suppress(typer.Exit), told():  # watching goes on, whatever came of it
                    try:
                        build_and_tell(Course.at(course), [name], one_file=one_file)
                    except KeyboardInterrupt:
                        raise SystemExit(130) from None

            watch_course(Course.at(course), assignments or [], build_one, tell)
            return
        build_and_tell(Course.at(course), assignments or [], force, one_file)


def build_and_tell(
    course: Course, assignments: list[str], force: bool = False, one_file: bool = False
) -> None:
    """Build, and tell what came of it: of a solution that loses points, all that was found out about it."""
    from autograder.cli.tables import print_verdict
    from autograder.grading.build import SolutionFails
    from autograder.grading.build import build as build_course

    built: list[Built] = []
    try:
        with steps(lambda line: out.print(line, markup=False)) as way:
            build_course(course, assignments, way.say, force=force, advance=way.advance, done=built.append)
    except SolutionFails as failed:
        print_verdict(err, failed.verdict)
        raise
    finally:
        for one in sorted(built, key=lambda one: one.assignment):
            _tell_built(course, one)
    for name in [one.assignment for one in built] if one_file else []:
        _tell_one_file(course, name)


def _tell_one_file(course: Course, assignment: str) -> None:
    from autograder.grading.releasing.one_file import write_one_file

    made = write_one_file(course, assignment)
    tell(f"{assignment} as one file: {made.path}")
    if made.left_out:
        err.print(f"Not in it, so to be handed out with it: {', '.join(made.left_out)}", markup=False)


def _tell_built(course: Course, one: Built) -> None:
    from autograder.cli.standing_table import told_after

    by_hand = f", {one.by_hand:g} of them graded by hand" if one.by_hand else ""
    what = "unchanged since it was built (--force builds it all the same)" if one.unchanged else "built"
    kept = f"; {one.taken_over} are the last build's" if one.taken_over else ""
    tell(f"{one.assignment}: {what}, {one.tasks} tasks, {one.max_score:g} points{by_hand}{kept}")
    for remark in one.remarks:
        tell(f"  {remark}")
    if after := course.release_after(one.assignment):
        tell(f"  {told_after(after).capitalize()}")


@app.command()
def validate(
    assignments: AssignmentsArgument = None,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Validate again what has not changed, too, with right answers under further seeds.",
        ),
    ] = False,
    course: CourseOption = Path("."),
) -> None:
    """Grade the checks themselves with known mistakes and right answers. Exit status 1 if they fail."""
    from autograder.cli.matrix import print_validation
    from autograder.grading.course.course import Course
    from autograder.grading.judging.judge_pool import cores
    from autograder.grading.validate import validate as validate_course

    with told():
        with steps(lambda line: err.print(line, markup=False)) as way:
            validations = validate_course(
                Course.at(course),
                assignments or [],
                jobs or cores(),
                way.say,
                force=force,
                advance=way.advance,
            )
        for each in validations:
            if each.unchanged:
                line = "unchanged since it was validated (--force validates it all the same)"
                err.print(f"{each.assignment}: {line}", markup=False, soft_wrap=True)
        found = [each.as_json() for each in validations]
        ok = all(shown["ok"] for shown in found)
        if as_json:
            print_json({"ok": ok, "assignments": found})
        else:
            for shown in found:
                print_validation(out, shown)
        if not ok:
            raise typer.Exit(1)
