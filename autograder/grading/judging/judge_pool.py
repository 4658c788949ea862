"""A pool of judges: processes that each keep their checks collected and share one fork server.

A job that brings its judge down is told as such and stops nobody else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, Protocol, TypeVar

import torch

from autograder.checking.diagnosis.match import Known
from autograder.checking.remote.errors import WorkerLost
from autograder.checking.runner.checks import Checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.workers.forkserver import ForkServer
from autograder.worker.sandbox import syscalls

GRACE_SECONDS = 60.0
"""Seconds beyond twice a submission's that a judge may take before it is given up."""


def cores() -> int:
    """Return how many judges at a time suit this machine: the cores that this process may use."""
    return len(os.sched_getaffinity(0))


Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True)
class Failure:
    """The result of a job that the machine failed to do, with the reason."""

    reason: str


@dataclass(frozen=True)
class Setting:
    """The things that all jobs of a pool have in common."""

    bundle: Bundle
    seed: int
    workers: ForkServer
    known: Mapping[str, Sequence[Known]] = field(default_factory=dict)
    """The known mistakes by task, for the diagnosis."""


class Job(Protocol[Result]):
    """Something for a judge to do. It and its result go through a pipe, so both are plain data."""

    def run(self, setting: Setting, checks: Checks) -> Result: ...


SomeJob = TypeVar("SomeJob", bound=Job)


@dataclass(frozen=True)
class _Judge(Generic[SomeJob]):
    """A judge at work: its process, its job, and the time when it began that."""

    process: BaseProcess
    job: SomeJob
    since: float


def work_off(
    jobs: Sequence[Job[Result]], count: int, setting: Setting
) -> Iterator[tuple[Job[Result], Result | Failure]]:
    """Have jobs done, `count` at a time, and yield each with its result in the order they finish."""
    for done in work_off_together(jobs, count, setting, seconds=0.0, most=1):
        yield from done


def work_off_together(
    jobs: Sequence[Job[Result]], count: int, setting: Setting, *, seconds: float, most: int
) -> Iterator[list[tuple[Job[Result], Result | Failure]]]:
    """Have jobs done, `count` at a time, and yield their results together as they finish.

    Those that came within `seconds` of the first go together, or `most` of them as soon as there are so many.
    """
    waiting = list(reversed(jobs))
    patience = 2 * setting.workers.limits.total_seconds + GRACE_SECONDS
    judges: dict[Connection, _Judge[Job[Result]]] = {}
    done: list[tuple[Job[Result], Result | Failure]] = []
    due = 0.0

    def hand_out(process: BaseProcess, connection: Connection) -> None:
        job = waiting.pop()
        connection.send(job)
        judges[connection] = _Judge(process, job, time.monotonic())

    try:
        for _ in range(min(max(1, count), len(waiting))):
            hand_out(*_start_judge(setting))
        while judges:
            ready = wait(list(judges), timeout=min(1.0, max(0.0, due - time.monotonic())) if done else 1.0)
            # Workers are watched by their judge; this is for a judge that a submission made run in circles.
            for judge in judges.values():
                if time.monotonic() - judge.since > patience:
                    judge.process.kill()
            for connection in ready:
                assert isinstance(connection, Connection)
                judge = judges.pop(connection)
                process = judge.process
                told: Result | Failure
                try:
                    told = connection.recv()
                except (EOFError, OSError):
                    process.join()
                    told = Failure(f"its judge ended unexpectedly (exit status {process.exitcode}).")
                    if waiting:
                        process, connection = _start_judge(setting)
                if waiting:
                    hand_out(process, connection)
                elif process.is_alive():
                    connection.send(None)
                    process.join()
                    connection.close()
                due = due if done else time.monotonic() + seconds
                done.append((judge.job, told))
            if done and (len(done) >= most or time.monotonic() >= due or not judges):
                yield done
                done = []
    finally:
        for connection, judge in judges.items():
            judge.process.terminate()  # before its pipe ends, of which it would complain
            judge.process.join()
            connection.close()


def _start_judge(setting: Setting) -> tuple[BaseProcess, Connection]:
    # Forked, because torch is imported already: a second and a half each otherwise.
    setting.workers.dismiss()  # or the judge would have a share in it
    setting.workers.wait_for_left()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_judge_process, args=(there, here, setting), daemon=True)
    process.start()
    there.close()
    return process, here


def _judge_process(jobs: Connection, other_end: Connection, setting: Setting) -> None:
    """Run a judge: collect the checks once, then do each job that comes until told to stop."""
    other_end.close()
    torch.set_num_threads(1)  # a fork has none of its parent's threads, and would wait for them for ever
    # Siblings hold copies of each other's pipes, so an end of file would never come.
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    batch = multiprocessing.parent_process()
    if batch is None or os.getppid() != batch.pid:  # it was killed before the line above
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch itself hears the interrupt, and ends its judges
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # which is how it does so

    try:
        with checks_of(setting.bundle) as checks:
            while (job := jobs.recv()) is not None:
                jobs.send(_result_of(job, setting, checks))
    except UserError as error:  # the checks are broken, for every job alike
        while jobs.recv() is not None:
            jobs.send(Failure(str(error)))
    finally:
        setting.workers.wait_for_left()


def _result_of(job: Job[Result], setting: Setting, checks: Checks) -> Result | Failure:
    """Return what a job gives, or why it gives nothing."""
    try:
        return job.run(setting, checks)
    except WorkerLost as lost:
        return Failure(str(lost))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}.")
