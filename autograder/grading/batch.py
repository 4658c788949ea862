"""Grades a class: several judges at a time, one warm parent for all, one writer to the gradebook.

Each judge is a process of its own that keeps its checks collected; a submission goes to it as
bytes and comes back as a verdict and a notebook. A submission that brings a judge down is an
`infra_error` and stops nobody else.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from autograder.checking.session import Checks, with_checks
from autograder.checking.submission import WorkerLost
from autograder.grading.bundle import Bundle
from autograder.grading.course import Course
from autograder.grading.errors import UserError
from autograder.grading.judge import Graded, judge
from autograder.grading.record import check_gradebook, record, recorded
from autograder.grading.store import assignment_seed, fingerprint, load_verdict, save_verdict
from autograder.grading.verdict import Finding, Verdict
from autograder.grading.workers import WarmParent
from autograder.worker import kernel

GRACE_SECONDS = 60.0
"""How long beyond twice a submission's seconds a judge may take before it is given up."""


@dataclass(frozen=True)
class Done:
    """One submission of a batch: its verdict as JSON, and whether it was judged now or earlier."""

    verdict: dict[str, Any]
    fresh: bool


@dataclass(frozen=True)
class _Job:
    student: str
    raw: bytes | None
    key: str


_Judges = dict[Connection, tuple[BaseProcess, _Job, float]]
"""The judges at work, what each is at, and since when."""


def grade(
    course: Course,
    assignment: str,
    *,
    students: list[str] | None = None,
    jobs: int = 1,
    force: bool = False,
    workers: WarmParent | None = None,
    started: Callable[[int], None] = lambda count: None,
) -> Iterator[Done]:
    """Grade a class's submissions of an assignment, and yield each as soon as it is on record.

    `started` is told how many there are. A submission whose verdict is on record is judged again
    only if the submission, the checks or the seed changed, or with `force`. Raises `UserError`
    before anything is run where nothing can be graded.
    """
    bundle = course.bundle(assignment)
    chosen = _choose(course, bundle, students)
    check_gradebook(course, bundle)
    seed = assignment_seed(course, assignment)
    on_record = recorded(course, bundle)
    digest = bundle.digest()
    todo: list[_Job] = []
    known: list[Done] = []
    for student in chosen:
        raw = course.submission(student, bundle)
        job = _Job(student, raw, fingerprint(raw, digest, seed))
        kept = load_verdict(course, student, assignment)
        usable = kept is not None and kept[0] == job.key and kept[1]["status"] != "infra_error"
        if kept is not None and usable and student in on_record and not force:
            known.append(Done(kept[1], fresh=False))
        else:
            todo.append(job)
    started(len(chosen))
    yield from known
    if not todo:
        return
    parent = workers or WarmParent()
    try:
        for job, told in _judged(bundle, seed, todo, max(1, min(jobs, len(todo))), parent):
            if isinstance(told, Graded):
                told = _recorded(course, bundle, told, job.key)
            if isinstance(told, str):
                verdict = _infra_error(job, bundle, seed, told)
                save_verdict(course, verdict, job.key)
            else:
                verdict = told.verdict
            yield Done(verdict.as_json(), fresh=True)
    finally:
        if workers is None:
            parent.close()


def _recorded(course: Course, bundle: Bundle, graded: Graded, key: str) -> Graded | str:
    """Record one submission, or say why not if it alone is to blame. `UserError` ends the batch."""
    try:
        record(course, bundle, graded, key)
    except (UserError, OSError):
        raise
    except Exception as error:  # what nobody thought of in one submission must not stop the others
        return f"recording it failed with {type(error).__name__}: {error}."
    return graded


def _choose(course: Course, bundle: Bundle, students: list[str] | None) -> list[str]:
    submitted = course.students(bundle.assignment)
    if students:
        unknown = [student for student in students if student not in submitted]
        if unknown:
            raise UserError(
                f"The student {unknown[0]!r} has not submitted {bundle.assignment}: "
                "there is no folder for it."
            )
        return [student for student in submitted if student in students]
    if not submitted:
        folder = course.folder("submitted", "STUDENT", bundle.assignment)
        raise UserError(f"Nobody has submitted {bundle.assignment}: submissions are expected in {folder}.")
    return submitted


def _infra_error(job: _Job, bundle: Bundle, seed: int, told: str) -> Verdict:
    found = Finding(
        "infra_error",
        f"The grading machine failed, not the student: {told} The gradebook was left as it was.",
    )
    return Verdict(job.student, bundle.assignment, bundle.notebook, "infra_error", 0.0, seed, (found,), ())


def _judged(
    bundle: Bundle, seed: int, todo: list[_Job], count: int, parent: WarmParent
) -> Iterator[tuple[_Job, Graded | str]]:
    """Each job with its outcome, in the order they finish."""
    waiting = list(reversed(todo))
    patience = 2 * parent.limits.total_seconds + GRACE_SECONDS
    judges: _Judges = {}
    try:
        for _ in range(count):
            _hand_out(waiting.pop(), *_start_judge(bundle, seed, parent), judges)
        while judges:
            ready = wait(list(judges), timeout=1)
            # Workers are watched by their judge; this is for a judge that a submission made run in circles.
            for process, _, since in judges.values():
                if time.monotonic() - since > patience:
                    process.kill()
            for connection in ready:
                assert isinstance(connection, Connection)
                process, job, _ = judges.pop(connection)
                told: Graded | str
                try:
                    told = connection.recv()
                except (EOFError, OSError):
                    process.join()
                    told = f"its judge ended unexpectedly (exit status {process.exitcode})."
                    if waiting:
                        process, connection = _start_judge(bundle, seed, parent)
                if waiting:
                    _hand_out(waiting.pop(), process, connection, judges)
                elif process.is_alive():
                    connection.send(None)
                    process.join()
                    connection.close()
                yield job, told
    finally:
        for connection, (process, _, _) in judges.items():
            connection.close()
            process.terminate()
            process.join()


def _hand_out(job: _Job, process: BaseProcess, connection: Connection, judges: _Judges) -> None:
    connection.send(job)
    judges[connection] = (process, job, time.monotonic())


def _start_judge(bundle: Bundle, seed: int, parent: WarmParent) -> tuple[BaseProcess, Connection]:
    # Forked, because torch is imported already: a second and a half each otherwise.
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_judge_process, args=(there, here, bundle, seed, parent), daemon=True)
    process.start()
    there.close()
    return process, here


def _judge_process(
    jobs: Connection, other_end: Connection, bundle: Bundle, seed: int, parent: WarmParent
) -> None:
    """A judge's life: collect the checks once, then judge what comes until told to stop."""
    other_end.close()
    torch.set_num_threads(1)  # a fork has none of its parent's threads, and would wait for them for ever
    # Siblings hold copies of each other's pipes, so an end of file would never come.
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch itself hears the interrupt, and ends its judges

    def serve(checks: Checks) -> None:
        while True:
            job: _Job | None = jobs.recv()
            if job is None:
                return
            try:
                told: Graded | str = judge(
                    job.raw, bundle, student=job.student, seed=seed, checks=checks, workers=parent
                )
            except WorkerLost as lost:
                told = str(lost)
            except Exception as error:
                told = f"{type(error).__name__}: {error}."
            jobs.send(told)

    with bundle.checks_folder() as folder:
        with_checks(folder, serve)
