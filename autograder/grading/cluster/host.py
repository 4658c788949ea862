"""The process beside a Dask worker that forks judges, and has one fork server for all of them.

A Dask worker has threads and an event loop, so nothing may be forked there. It starts this program with one
end of a pipe, on which a `Start` comes, and then for each judge that is wanted the modules to preload, the
same for all, and an end of another pipe. What orders hold is in their judges alone.

The program ends with its pipe, with the thread that started it, on SIGTERM, or when it has had no judge for
a while; its judges end with it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import ExitStack, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import recv_handle
from typing import TYPE_CHECKING

from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer
from autograder.startup import set_up_process
from autograder.worker.sandbox import syscalls

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from autograder.grading.cluster.order import Start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    arguments = parser.parse_args()
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != arguments.parent:  # it was killed before the line above
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    set_up_process()
    control = Connection(arguments.fd)
    with suppress(EOFError, OSError):  # the Dask worker is gone
        _serve(control)


def _serve(control: Connection) -> None:
    start: Start = control.recv()
    with ExitStack() as stack:
        workers = _fork_server(start, stack)  # imports torch while we do
        from autograder.grading.cluster.judge import judge

        judges: list[ForkProcess] = []
        while ready := wait(
            [control, *(each.sentinel for each in judges)], None if judges else start.idle_seconds
        ):
            judges = [each for each in judges if each.is_alive()]
            if control in ready:
                preload = control.recv()
                if not isinstance(workers, str) and not workers.is_alive:  # killed where memory is short, say
                    workers = _fork_server(start, stack)
                if not isinstance(workers, str):
                    try:
                        workers.warm(preload)
                    except UserError as error:
                        workers = str(error)
                with Connection(recv_handle(control)) as jobs, suppress(OSError):
                    new = get_context("fork").Process(target=judge, args=(jobs, workers), daemon=True)
                    new.start()  # where that fails, the end of its pipe tells
                    judges.append(new)


def _fork_server(start: Start, stack: ExitStack) -> ForkServer | str:
    """Return a new fork server, which ends with `stack`, or the reason why there is none."""
    try:
        return stack.enter_context(ForkServer(start.limits, preload=None))
    except UserError as error:
        return str(error)


if __name__ == "__main__":
    main()
