"""The inside of a judge: a fork that keeps its checks collected and does one job after the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing.connection import Connection

from autograder.errors import UserError
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.jobs import Failure, Setting, result_of
from autograder.worker.sandbox import syscalls


def become_judge() -> bool:
    """Make this fork a judge, which ends with its parent; `False` where that has ended already."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # a fork has none of its parent's threads, and would wait for them for ever
    # Siblings hold copies of each other's pipes, so an end of file would never come.
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked it hears the interrupt, and ends its judges
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # which is how it does so
    parent = multiprocessing.parent_process()
    return parent is not None and os.getppid() == parent.pid


def do_jobs(jobs: Connection, setting: Setting, idle_seconds: float | None = None) -> None:
    """Collect the checks once, then do each job that comes, until `None` does or none for so many seconds."""
    try:
        with checks_of(setting.bundle) as checks:
            while jobs.poll(idle_seconds) and (job := jobs.recv()) is not None:
                jobs.send(result_of(job, setting, checks))
    except UserError as error:  # the checks are broken, for every job alike
        while jobs.poll(idle_seconds) and jobs.recv() is not None:
            jobs.send(Failure(str(error)))
    finally:
        setting.workers.wait_for_left()
