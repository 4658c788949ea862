"""The commands that make a course, grade it, and examine the grading."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.cli.completion import assignments_here, students_here
from autograder.cli.console import (
    AssignmentArgument,
    AssignmentsArgument,
    CourseOption,
    JobsOption,
    JsonOption,
    OriginOption,
    UnsafeOption,
    app,
    err,
    importing,
    out,
    print_json,
    tell,
    told,
)
from autograder.cli.progress import steps

if TYPE_CHECKING:
    from autograder.grading.build import Built
    from autograder.grading.course import Course

STOPPED = "Stopped. What was graded is on record; the same command goes on from there."
STOPPED_FORCED = (
    "Stopped. What was graded is on record. With --force the same command begins again from the first "
    "submission; without it only what changed is graded."
)


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(help="Where the course goes; absent or empty.")] = Path(
        "demo-course"
    ),
    course: OriginOption = None,
) -> None:
    """Make a course with an invented class of twelve, grade it, and show what was found."""
    from autograder.grading.course import Course
    from autograder.grading.demo import demo_assignment, make_demo
    from autograder.reporting.page import write_page
    from autograder.reporting.report import gather
    from autograder.reporting.tables import results_table

    with told():
        for line in make_demo(directory, course):
            tell(line)
        assignment = demo_assignment(course)
        verdicts = _grade_with_progress(directory, assignment, None, None, False, False)
        out.print(results_table(verdicts))
        tell(f"What each student reads: {directory}/autograded/STUDENT/{assignment}/")
        tell(f"Verdicts as JSON:        autograder results {assignment} --json --course {directory}")
        tell(f"The gradebook:           {directory}/gradebook.db; in formgrader: run `jupyter lab` in")
        tell(f"                         {directory} and choose the menu Nbgrader, then Formgrader")
        page = directory / "reports" / f"{assignment}.html"
        made = Course.at(directory)
        write_page(gather(made, assignment), page, access=made.access)
        tell(f"The class at a glance:   {page} (open it in a browser)")


@app.command()
def new(
    directory: Annotated[Path, typer.Argument(help="Where the course goes; absent or empty.")],
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
    course: OriginOption = None,
) -> None:
    """Make a fresh course directory from the packaged course."""
    from autograder.grading.course_files import new_course

    with told():
        name = new_course(directory, course, course_id=course_id, empty=empty)
        tell(f"A new course lies in {directory}; its README.md says what is where and what to back up.")
        tell(f"On nbgrader's exchange it is called {name}. Another name: `course_id` in nbgrader_config.py.")
        step = "new-assignment 01_first" if empty else "build"
        tell(f"Next: autograder {step} --course {directory}")


@app.command("new-assignment")
def new_assignment(
    name: Annotated[str, typer.Argument(help="What it is to be called, as 01_first.")],
    course: CourseOption = Path("."),
) -> None:
    """Write a small assignment into source/ that works as it is, to make your own from."""
    from autograder.grading.course import Course
    from autograder.grading.fresh.new_assignment import new_assignment as write_assignment

    with told():
        for path in write_assignment(Course.at(course), name):
            tell(str(path))
        tell(f"Next: autograder build {name}, then edit these files and build again.")


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
            from autograder.grading.course import Course

        chosen_assignments(Course.at(course), assignments or [])
        for line in [] if assignments else passed_over(Course.at(course)):
            err.print(line, markup=False, soft_wrap=True)
        if watch:
            from autograder.grading.building.watch import watch_course

            def again(at: Course, names: list[str]) -> None:
                _build_watched(at, names, one_file)

            watch_course(Course.at(course), assignments or [], again, tell)
            return
        _build(Course.at(course), assignments or [], force, one_file)


def _build_watched(course: Course, assignments: list[str], one_file: bool) -> None:
    """Build in a fork of a watching process: its status is what the watcher sees."""
    try:
        with told():
            try:
                _build(course, assignments, one_file=one_file)
            except KeyboardInterrupt:
                raise SystemExit(130) from None
    except typer.Exit as ended:
        raise SystemExit(ended.exit_code) from None


def _build(course: Course, assignments: list[str], force: bool = False, one_file: bool = False) -> None:
    """Build, and tell what came of it: of a solution that loses points, all that was found out about it."""
    from autograder.grading.build import SolutionFails
    from autograder.grading.build import build as build_course
    from autograder.reporting.tables import print_verdict

    built: list[Built] = []
    try:
        with steps(lambda line: out.print(line, markup=False)) as way:
            build_course(course, assignments, way.say, force=force, advance=way.advance, done=built.append)
    except SolutionFails as failed:
        print_verdict(err, failed.verdict.as_json())
        raise
    finally:
        for one in built:
            _tell_built(one)
    for name in [one.assignment for one in built] if one_file else []:
        _tell_one_file(course, name)


def _tell_one_file(course: Course, assignment: str) -> None:
    from autograder.grading.releasing.one_file import write_one_file

    made = write_one_file(course, assignment)
    tell(f"{assignment} as one file: {made.path}")
    if made.left_out:
        err.print(f"Not in it, so to be handed out with it: {', '.join(made.left_out)}", markup=False)


def _tell_built(one: Built) -> None:
    by_hand = f", {one.by_hand:g} of them graded by hand" if one.by_hand else ""
    what = "unchanged since it was built (--force builds it all the same)" if one.unchanged else "built"
    tell(f"{one.assignment}: {what}, {one.tasks} tasks, {one.max_score:g} points{by_hand}")


@app.command()
def check(
    notebook: Annotated[Path, typer.Argument(help="A submitted notebook, or one of source/, built or not.")],
    as_json: JsonOption = False,
    assignment: Annotated[
        str | None,
        typer.Option(
            help="Which assignment it is, if its name does not tell.", autocompletion=assignments_here
        ),
    ] = None,
    course: CourseOption = Path("."),
    unsafe: UnsafeOption = False,
) -> None:
    """Grade one notebook and print what was found; the gradebook is not touched."""
    with told():
        from autograder.grading.warm import WarmParent
        from autograder.worker.confine import Level

        # First of all: it imports torch while we do.
        with WarmParent(level=Level.NONE if unsafe else None, preload=None) as workers:
            with importing():
                from autograder.grading.course import Course
                from autograder.grading.errors import UserError
                from autograder.grading.single import check_notebook
                from autograder.reporting.tables import print_verdict

            verdict = check_notebook(Course.at(course), notebook, assignment, workers)
        if as_json:
            print_json(verdict.as_json())
        else:
            print_verdict(out, verdict.as_json())
        if verdict.status == "corrupt":
            raise UserError(f"{notebook} was not graded. {verdict.findings[0].message}")
        if verdict.status == "infra_error":
            raise typer.Exit(3)


@app.command()
def grade(
    assignment: AssignmentArgument,
    student: Annotated[
        list[str] | None,
        typer.Option("--student", help="Only this student; may be repeated.", autocompletion=students_here),
    ] = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Judge again what has not changed, too.")] = False,
    course: CourseOption = Path("."),
    unsafe: UnsafeOption = False,
    gpu_memory: Annotated[
        float,
        typer.Option(
            "--gpu-memory",
            min=0,
            metavar="GIB",
            help="Check devices on the GPUs, too: GiB of each that one submission may use.",
        ),
    ] = 0.0,
) -> None:
    """Grade all submissions of an assignment. Exit status 3 if some could not be graded by our fault."""
    with told(STOPPED_FORCED if force else STOPPED):
        verdicts = _grade_with_progress(course, assignment, student, jobs, force, unsafe, gpu_memory)
        from autograder.reporting.tables import legend, results_table, summary  # it imports torch, too

        out.print(results_table(verdicts))
        if signs := legend(verdicts):
            tell(signs)
        tell(summary(verdicts))
        if any(verdict["status"] == "infra_error" for verdict in verdicts):
            raise typer.Exit(3)


@app.command()
def validate(
    assignments: AssignmentsArgument = None,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Validate again what has not changed, too.")] = False,
    course: CourseOption = Path("."),
) -> None:
    """Grade the checks themselves with known mistakes and right answers. Exit status 1 if they fail."""
    from autograder.grading.course import Course
    from autograder.grading.pool import cores
    from autograder.grading.validate import validate as validate_course
    from autograder.reporting.matrix import print_validation

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


@app.command()
def doctor(as_json: JsonOption = False, course: CourseOption = Path(".")) -> None:
    """Say what this machine has and lacks. Exit status 1 if it cannot grade."""
    from autograder.grading.doctor import examine
    from autograder.reporting.tables import print_examination

    with told():
        found = examine(course)
        if as_json:
            print_json(found)
        else:
            print_examination(out, found)
        if not found["can_grade"]:
            raise typer.Exit(1)


def _grade_with_progress(
    course: Path,
    assignment: str,
    students: list[str] | None,
    jobs: int | None,
    force: bool,
    unsafe: bool,
    gpu_memory: float = 0.0,
) -> list[dict[str, Any]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from autograder.grading.warm import RunLimits, WarmParent
    from autograder.worker.confine import Level

    limits = RunLimits(gpu_bytes=int(gpu_memory * (1 << 30)))
    workers = WarmParent(limits, level=Level.NONE if unsafe else None, preload=None)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    # No refreshing thread: judges are forked from here.
    progress = Progress(*columns, console=err, auto_refresh=False)
    verdicts: list[dict[str, Any]] = []

    def started(count: int) -> None:
        progress.start()  # only now, so that a refusal is one sentence and no dead bar
        progress.add_task(assignment, total=count)
        progress.refresh()

    try:
        # Only now: the warm parent imports torch at the same time, a tenth of what a class of 100 takes.
        with importing():
            from autograder.grading.batch import grade as grade_class
            from autograder.grading.course import Course
            from autograder.grading.pool import cores
            from autograder.grading.results import with_marks

        at = Course.at(course)
        batch = grade_class(
            at,
            assignment,
            students=students,
            jobs=jobs or cores(),
            force=force,
            workers=workers,
            started=started,
        )
        for done in batch:
            verdicts.append(done.verdict)
            for task in progress.task_ids:
                progress.update(task, advance=1, refresh=True)
    finally:
        if progress.live.is_started:
            progress.stop()
        workers.close()
    return with_marks(at, assignment, sorted(verdicts, key=lambda verdict: str(verdict["student"])))
