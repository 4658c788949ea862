"""A pool of judges: processes that each keep their checks collected and share one fork server.

A job that brings its judge down is told as such and stops nobody else.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

from autograder.checking.diagnosis.match import Known
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.judging.jobs import Failure, Gathering, Job, Result, Setting, patience
from autograder.grading.judging.judge_process import become_judge, do_jobs
from autograder.grading.workers.forkserver import ForkServer


def cores() -> int:
    """Return how many judges at a time suit this machine: the cores that this process may use."""
    return len(os.sched_getaffinity(0))


SomeJob = TypeVar("SomeJob", bound=Job)


@dataclass(frozen=True)
class _Judge(Generic[SomeJob]):
    """A judge at work: its process, its job, and the time when it began that."""

    process: BaseProcess
    job: SomeJob
    since: float


@dataclass(frozen=True)
class LocalJudges:
    """Judges that are processes of this machine, `count` at a time."""

    workers: ForkServer
    count: int

    def conditions(self, bundle: Bundle) -> str:
        if not self.workers.limits.gpu_bytes:
            return ""
        from autograder.grading.workers.gpu import require_gpu  # torch with it

        self.workers.warm(bundle.preload)
        require_gpu(self.workers)
        return " on a GPU"

    def work_off(
        self,
        jobs: Iterable[Job[Result]],
        bundle: Bundle,
        seed: int,
        known: Mapping[str, Sequence[Known]],
        *,
        seconds: float = 0.0,
        most: int = 1,
    ) -> Generator[list[tuple[Job[Result], Result | Failure]]]:
        self.workers.warm(bundle.preload)
        setting = Setting(bundle, seed, self.workers, known)
        return work_off_together(jobs, self.count, setting, seconds=seconds, most=most)


def work_off(
    jobs: Iterable[Job[Result]], count: int, setting: Setting
) -> Iterator[tuple[Job[Result], Result | Failure]]:
    """Have jobs done, `count` at a time, and yield each with its result in the order they finish."""
    for done in work_off_together(jobs, count, setting, seconds=0.0, most=1):
        yield from done


def work_off_together(
    jobs: Iterable[Job[Result]], count: int, setting: Setting, *, seconds: float, most: int
) -> Generator[list[tuple[Job[Result], Result | Failure]]]:
    """Have jobs done, `count` at a time, and yield their results together as they finish.

    Those that came within `seconds` of the first go together, or `most` of them as soon as there are so many.
    """
    waiting = iter(jobs)
    give_up = patience(setting.bundle, setting.workers.limits)
    judges: dict[Connection, _Judge[Job[Result]]] = {}
    done: Gathering[tuple[Job[Result], Result | Failure]] = Gathering(seconds, most)

    def hand_out(job: Job[Result], process: BaseProcess, connection: Connection) -> None:
        connection.send(job)
        judges[connection] = _Judge(process, job, time.monotonic())

    try:
        for job in islice(waiting, max(1, count)):
            hand_out(job, *_start_judge(setting))
        while judges:
            ready = wait(list(judges), timeout=done.wait_at_most(1.0))
            # Workers are watched by their judge; this is for a judge that a submission made run in circles.
            for judge in judges.values():
                if time.monotonic() - judge.since > give_up:
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
                following = next(waiting, None)
                if following is not None:
                    if not process.is_alive():
                        connection.close()
                        process, connection = _start_judge(setting)
                    hand_out(following, process, connection)
                elif process.is_alive():
                    connection.send(None)
                    process.join()
                    connection.close()
                done.add((judge.job, told))
            if done.is_due or (done and not judges):
                yield done.take()
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
    other_end.close()
    if become_judge():
        do_jobs(jobs, setting)
