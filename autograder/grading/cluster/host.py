"""The process beside a Dask worker's thread that judges, with a fork server of its own.

A Dask worker has threads and an event loop, so nothing may be forked there. It starts this program with one
end of a pipe, on which come the limits, the order, and then jobs; each is answered. The program ends with its
pipe, with the thread that started it, on SIGTERM, or when no job has come for a minute.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.worker.sandbox import syscalls

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks
    from autograder.grading.cluster.order import Order

READY = ""
"""The answer to an order that can be carried out; any other text is the reason why it cannot."""
IDLE_SECONDS = 60.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    arguments = parser.parse_args()
    # At work it would not see its pipe end, and a submission may take minutes.
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != arguments.parent:  # it was killed before the line above
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    pipe = Connection(arguments.fd)
    with suppress(EOFError, OSError):  # whoever asks is gone
        _serve(pipe)


def _serve(pipe: Connection) -> None:
    limits: RunLimits = pipe.recv()
    try:
        workers = ForkServer(limits, preload=None)  # imports torch while we do
    except UserError as error:
        pipe.recv()  # the order: only who has sent all of it reads an answer
        pipe.send_bytes(str(error).encode())
        return
    with workers:
        from autograder.grading.judging.collected_checks import checks_of
        from autograder.grading.judging.jobs import Failure

        order: Order = pipe.recv()
        refusal = _refusal(order, workers)
        pipe.send_bytes(refusal.encode())
        if refusal:
            return
        try:
            with checks_of(order.bundle) as checks:
                _judge(pipe, order, workers, checks)
        except UserError as error:  # the checks are broken, for every job alike
            while pipe.poll(IDLE_SECONDS) and pipe.recv() is not None:
                pipe.send(Failure(str(error)))


def _refusal(order: Order, workers: ForkServer) -> str:
    """Return why the order cannot be carried out here; `READY` if it can."""
    if order.bundle.digest() != order.digest:
        return f"its checks of {order.bundle.assignment} are not those of this machine"
    try:
        workers.warm(order.bundle.preload)
    except UserError as error:
        return str(error)
    return READY


def _judge(pipe: Connection, order: Order, workers: ForkServer, checks: Checks) -> None:
    import torch

    from autograder.grading.judging.jobs import Setting, result_of

    torch.set_num_threads(1)
    setting = Setting(order.bundle, order.seed, workers, order.known)
    while pipe.poll(IDLE_SECONDS) and (job := pipe.recv()) is not None:
        pipe.send(result_of(job, setting, checks))


if __name__ == "__main__":
    main()
