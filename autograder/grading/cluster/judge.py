"""A judge of a cluster: a fork of a host, with a pipe to the thread of the Dask worker that uses it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle

from autograder.grading.cluster.order import JOB_SECONDS, Order
from autograder.grading.judging.jobs import Setting
from autograder.grading.judging.judge_process import become_judge, do_jobs
from autograder.grading.workers.forkserver import ForkServer

READY = ""
"""The answer to an order that can be carried out; any other text is the reason why it cannot."""


def judge(jobs: Connection, workers: ForkServer | str) -> None:
    """Send a descriptor of this process, answer the order that comes, then do the jobs that come.

    `workers` is the reason why there are none, where there are none.
    """
    if not become_judge():
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # its temporary files go with it
    with suppress(EOFError, OSError):  # whoever asks is gone
        itself = os.pidfd_open(os.getpid())
        send_handle(jobs, itself, None)
        os.close(itself)
        order: Order = jobs.recv()
        if isinstance(workers, str):
            answer = workers
        elif order.bundle.digest() != order.digest:
            answer = f"its checks of {order.bundle.assignment} are not those of this machine"
        else:
            answer = READY
        jobs.send_bytes(answer.encode())
        if answer == READY:
            assert not isinstance(workers, str)
            do_jobs(jobs, Setting(order.bundle, order.seed, workers, order.known), JOB_SECONDS)
