"""The command line: each command parses, calls one function, prints. Errors are printed once, here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

os.environ.setdefault("OMP_NUM_THREADS", "1")  # judges are forked: torch must not have started threads
# jsonschema, with which notebooks are validated, would make a parser of IRIs when it is imported: a second of
# work for a kind of text that no notebook has. None is how Python is told that there is no such module.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # typeshed knows modules only

app = typer.Typer(
    help="Build an nbgrader course on recurrent networks, and grade it outside the students' process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# A pipe or a log has no width of its own; a table cut to 80 columns would say nothing there.
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)

CourseOption = Annotated[Path, typer.Option("--course", help="The course directory.")]
OriginOption = Annotated[
    Path | None, typer.Option("--course", help="Copy this course instead of the packaged one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Submissions at a time; default: the cores.")
]
UnsafeOption = Annotated[
    bool,
    typer.Option(
        "--unsafe", help="Run students' code without confinement where none holds. At your own risk."
    ),
]


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(help="Where the course goes; absent or empty.")] = Path(
        "demo-course"
    ),
    course: OriginOption = None,
) -> None:
    """Make a course with an invented class of twelve, grade it, and show what was found."""
    from autograder.grading.demo import demo_assignment, make_demo
    from autograder.reporting.tables import results_table

    with _told():
        for line in make_demo(directory, course):
            out.print(line, markup=False, soft_wrap=True)
        assignment = demo_assignment(course)
        verdicts = _grade_with_progress(directory, assignment, None, _cores(), False, False)
        out.print(results_table(verdicts))
        out.print(
            f"What each student reads: {directory}/autograded/STUDENT/{assignment}/",
            markup=False,
            soft_wrap=True,
        )
        out.print(
            f"Verdicts as JSON:        autograder results {assignment} --json --course {directory}",
            markup=False,
            soft_wrap=True,
        )
        out.print(
            f"The gradebook:           {directory}/gradebook.db (open it with `nbgrader formgrader`)",
            markup=False,
            soft_wrap=True,
        )


@app.command()
def new(
    directory: Annotated[Path, typer.Argument(help="Where the course goes; absent or empty.")],
    course: OriginOption = None,
) -> None:
    """Make a fresh course directory from the packaged course."""
    from autograder.grading.course_files import new_course

    with _told():
        new_course(directory, course)
        out.print(
            f"A new course lies in {directory}. Next: autograder build --course {directory}",
            markup=False,
            soft_wrap=True,
        )


@app.command()
def build(
    assignments: Annotated[list[str] | None, typer.Argument(help="Which ones; all if none is named.")] = None,
    course: CourseOption = Path("."),
) -> None:
    """Generate release/ and solutions/ from source/; refuse what would be unfair."""
    from autograder.grading.build import build as build_course
    from autograder.grading.course import Course

    with _told():
        for built in build_course(
            Course.at(course), assignments or [], say=lambda line: out.print(line, markup=False)
        ):
            out.print(
                f"{built.assignment}: built, {built.tasks} tasks, {built.max_score:g} points",
                markup=False,
                soft_wrap=True,
            )


@app.command()
def check(
    notebook: Annotated[Path, typer.Argument(help="A submitted or solved notebook.")],
    as_json: JsonOption = False,
    assignment: Annotated[
        str | None, typer.Option(help="Which assignment it is, if its name does not tell.")
    ] = None,
    course: CourseOption = Path("."),
    unsafe: UnsafeOption = False,
) -> None:
    """Grade one notebook and print what was found; the gradebook is not touched."""
    from autograder.grading.course import Course
    from autograder.grading.errors import UserError
    from autograder.grading.single import check_notebook
    from autograder.reporting.tables import print_verdict

    with _told():
        verdict = check_notebook(Course.at(course), notebook, assignment, unsafe=unsafe)
        if as_json:
            _print_json(verdict.as_json())
        else:
            print_verdict(out, verdict.as_json())
        if verdict.status == "corrupt":
            raise UserError(f"{notebook} was not graded. {verdict.findings[0].message}")


@app.command()
def grade(
    assignment: Annotated[str, typer.Argument(help="The assignment: a folder of source/.")],
    student: Annotated[
        list[str] | None, typer.Option("--student", help="Only this student; may be repeated.")
    ] = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Judge again what has not changed, too.")] = False,
    course: CourseOption = Path("."),
    unsafe: UnsafeOption = False,
) -> None:
    """Grade all submissions of an assignment. Exit status 3 if some could not be graded by our fault."""
    from autograder.reporting.tables import results_table, summary

    with _told():
        verdicts = _grade_with_progress(course, assignment, student, jobs or _cores(), force, unsafe)
        out.print(results_table(verdicts))
        out.print(summary(verdicts), markup=False, soft_wrap=True)
        if any(verdict["status"] == "infra_error" for verdict in verdicts):
            raise typer.Exit(3)


@app.command()
def results(
    assignment: Annotated[str, typer.Argument(help="The assignment.")],
    as_json: JsonOption = False,
    clusters: Annotated[
        bool,
        typer.Option("--clusters", help="Wrong answers alike that no known mistake explains."),
    ] = False,
    course: CourseOption = Path("."),
) -> None:
    """Show what was found in a graded assignment."""
    from autograder.grading.clusters import clusters as find_clusters
    from autograder.grading.course import Course
    from autograder.grading.results import results as read_results
    from autograder.reporting.tables import print_clusters, results_table, summary

    with _told():
        if clusters:
            found = find_clusters(Course.at(course), assignment)
            _print_json(found) if as_json else print_clusters(out, found)
            return
        verdicts = read_results(Course.at(course), assignment)
        if as_json:
            _print_json(verdicts)
        else:
            out.print(results_table(verdicts))
            out.print(summary(verdicts), markup=False, soft_wrap=True)


@app.command()
def validate(
    assignments: Annotated[list[str] | None, typer.Argument(help="Which ones; all if none is named.")] = None,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
    course: CourseOption = Path("."),
) -> None:
    """Grade the checks themselves with known mistakes and right answers. Exit status 1 if they fail."""
    from autograder.grading.course import Course
    from autograder.grading.validate import validate as validate_course
    from autograder.reporting.matrix import print_validation

    with _told():
        found = [
            each.as_json()
            for each in validate_course(
                Course.at(course),
                assignments or [],
                jobs or _cores(),
                say=lambda line: err.print(line, markup=False),
            )
        ]
        ok = all(each["ok"] for each in found)
        if as_json:
            _print_json({"ok": ok, "assignments": found})
        else:
            for each in found:
                print_validation(out, each)
        if not ok:
            raise typer.Exit(1)


@app.command()
def doctor(as_json: JsonOption = False, course: CourseOption = Path(".")) -> None:
    """Say what this machine has and lacks. Exit status 1 if it cannot grade."""
    from autograder.grading.doctor import examine
    from autograder.reporting.tables import print_examination

    with _told():
        found = examine(course)
        if as_json:
            _print_json(found)
        else:
            print_examination(out, found)
        if not found["can_grade"]:
            raise typer.Exit(1)


def main() -> None:
    """The console script."""
    app()


def _grade_with_progress(
    course: Path, assignment: str, students: list[str] | None, jobs: int, force: bool, unsafe: bool
) -> list[dict[str, Any]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from autograder.grading.batch import grade as grade_class
    from autograder.grading.course import Course
    from autograder.grading.workers import WarmParent
    from autograder.worker.confine import Level

    at = Course.at(course)
    workers = WarmParent(level=Level.NONE) if unsafe else None
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
        batch = grade_class(
            at, assignment, students=students, jobs=jobs, force=force, workers=workers, started=started
        )
        for done in batch:
            verdicts.append(done.verdict)
            for task in progress.task_ids:
                progress.update(task, advance=1, refresh=True)
    finally:
        if progress.live.is_started:
            progress.stop()
        if workers is not None:
            workers.close()
    return sorted(verdicts, key=lambda verdict: str(verdict["student"]))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def _told() -> Iterator[None]:
    """One sentence and exit status 1 for every condition that can be foreseen."""
    if sys.platform != "linux":
        err.print(
            "Grading runs on Linux; in a notebook, `check` works everywhere.", markup=False, soft_wrap=True
        )
        raise typer.Exit(1)
    from autograder.grading.course_files import CourseFilesMissing, CourseTargetTaken
    from autograder.grading.errors import UserError

    try:
        yield
    except (UserError, CourseFilesMissing, CourseTargetTaken) as error:
        err.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print(
            "Stopped. What was graded is on record; the same command goes on from there.",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(130) from None
    except PermissionError as error:
        err.print(f"You may not read or write {error.filename}.", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        err.print(
            f"The machine refused: {error.strerror or error}{where}.",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(1) from None
