"""The commands that grade: a class, one notebook, an invented class; and a look at the machine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.completion import assignments_here, students_here
from autograder.cli.console import (
    AssignmentArgument,
    CourseOption,
    JobsOption,
    JsonOption,
    OriginOption,
    SchedulerOption,
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
    from autograder.grading.batch import Done
    from autograder.grading.judging.jobs import Judges
    from autograder.grading.records.results import Result


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
    with told():
        with steps(tell) as way:
            from autograder.grading.demo import make_demo

            assignment = make_demo(directory, course, way.say, way.advance)
        tell(f"The course lies in {directory}, the submissions in {directory}/submitted/. Grading them:")
        from autograder.cli.tables import results_table  # what takes seconds to import is there by now
        from autograder.grading.course.course import Course
        from autograder.reporting.page import write_page
        from autograder.reporting.report import gather

        out.print(results_table(_grade_with_progress(directory, assignment, None, None, False, False)[0]))
        tell(f"What each student reads: {directory}/autograded/STUDENT/{assignment}/")
        tell(f"Verdicts as JSON:        autograder results {assignment} --json --course {directory}")
        tell(f"The gradebook:           {directory}/gradebook.db; in formgrader: run `jupyter lab` in")
        tell(f"                         {directory} and choose the menu Nbgrader, then Formgrader")
        page = directory / "reports" / f"{assignment}.html"
        made = Course.at(directory)
        write_page(gather(made, assignment), page, access=made.access)
        tell(f"The class at a glance:   {page} (open it in a browser)")


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
        from autograder.grading.workers.forkserver import ForkServer, may_want_torch
        from autograder.worker.sandbox.probe import Level

        # First of all: it imports torch while we do.
        level, torch = Level.NONE if unsafe else None, may_want_torch([notebook])
        with ForkServer(level=level, preload=None, torch=torch) as workers:
            with importing():
                from autograder.cli.tables import print_verdict
                from autograder.errors import UserError
                from autograder.grading.course.course import Course
                from autograder.grading.records.store import has_seed
                from autograder.grading.single import check_notebook

            at = Course.at(course)
            as_graded = has_seed(at)
            verdict = check_notebook(at, notebook, assignment, workers)
        if as_json:
            print_json(verdict.as_json())
        else:
            print_verdict(out, verdict)
            tell(
                "Judged with the course's seed, as `autograder grade` does."
                if as_graded
                else "Judged with a seed for this run: the course has none before its first build."
            )
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
            help="Check devices on the GPUs, too: GiB of each that one submission may use "
            "(experimental: it has never run on a GPU).",
        ),
    ] = 0.0,
    scheduler: SchedulerOption = None,
) -> None:
    """Grade all submissions of an assignment. Exit status 3 if some could not be graded by our fault."""
    with told(STOPPED_FORCED if force else STOPPED):
        if scheduler is not None:
            _refuse_with_scheduler({"--jobs": jobs, "--unsafe": unsafe, "--gpu-memory": gpu_memory})
        found, judged = _grade_with_progress(
            course, assignment, student, jobs, force, unsafe, gpu_memory, scheduler
        )
        from autograder.cli.tables import changed_scores, legend, print_results, summary  # it imports torch

        print_results(out, found)
        if signs := legend(found):
            tell(signs)
        for line in changed_scores(judged):
            tell(line)
        tell(summary(found))
        if any(result.verdict.status == "infra_error" for result in found):
            raise typer.Exit(3)


@app.command()
def doctor(
    as_json: JsonOption = False, course: CourseOption = Path("."), scheduler: SchedulerOption = None
) -> None:
    """Say what this machine has and lacks, or a cluster's workers. Exit status 1 if it cannot grade."""
    from autograder.cli.tables import print_cluster, print_examination
    from autograder.grading.doctor import examine

    with told():
        if scheduler is not None:
            from autograder.grading.cluster.doctor import examine_cluster

            found = examine_cluster(scheduler)
            if as_json:
                print_json(found)
            else:
                print_cluster(out, found)
            if not found["can_grade"]:
                raise typer.Exit(1)
            return
        found = examine(course)
        if as_json:
            print_json(found)
        else:
            print_examination(out, found)
        if not found["can_grade"]:
            raise typer.Exit(1)


def _refuse_with_scheduler(options: Mapping[str, object]) -> None:
    """Raise `UserError` where an option is given that is about this machine."""
    from autograder.errors import UserError

    for name, value in options.items():
        if value:
            raise UserError(
                f"{name} is about this machine, not about a cluster: leave it out beside `--scheduler`."
            )


def _grade_with_progress(
    course: Path,
    assignment: str,
    students: list[str] | None,
    jobs: int | None,
    force: bool,
    unsafe: bool,
    gpu_memory: float = 0.0,
    scheduler: str | None = None,
) -> tuple[list[Result], list[Done]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from autograder.grading.workers.forkserver import ForkServer, RunLimits, may_want_torch
    from autograder.worker.sandbox.probe import Level

    limits = RunLimits(gpu_bytes=int(gpu_memory * (1 << 30)))
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
    judged: list[Done] = []

    def started(count: int) -> None:
        progress.start()  # only now, so that a refusal is one sentence and no dead bar
        progress.add_task(assignment, total=count)
        progress.refresh()

    with ExitStack() as stack:
        judges: Judges
        if scheduler is None:
            level = Level.NONE if unsafe else None
            torch = may_want_torch([*(course / "release" / assignment).glob("*.ipynb")])
            workers = stack.enter_context(ForkServer(limits, level=level, preload=None, torch=torch))
        else:
            from autograder.grading.cluster.judges import ClusterJudges

            say = partial(progress.console.print, markup=False, soft_wrap=True)
            judges = stack.enter_context(ClusterJudges(scheduler, say, limits))
        # Only now: fork servers import torch at the same time, a tenth of what a class of 100 takes.
        with importing():
            from autograder.grading.batch import grade as grade_class
            from autograder.grading.course.course import Course
            from autograder.grading.judging.judge_pool import LocalJudges, cores
            from autograder.grading.records.handing_in import with_findings
            from autograder.grading.records.results import with_marks

        at = Course.at(course)
        if scheduler is None:
            judges = LocalJudges(workers, jobs or cores())
        stack.callback(lambda: progress.stop() if progress.live.is_started else None)
        batch = grade_class(
            at,
            assignment,
            judges=judges,
            students=students,
            force=force,
            started=started,
        )
        for done in batch:
            judged.append(done)
            for task in progress.task_ids:
                progress.update(task, advance=1, refresh=True)
    # A whole class's verdicts were all read: there is no need to look into the files once more.
    judged.sort(key=lambda done: done.verdict.student)
    verdicts = with_findings(at, assignment, (done.verdict for done in judged))
    statuses = None if students else {verdict.student: verdict.status for verdict in verdicts}
    return with_marks(at, assignment, verdicts, statuses), judged
