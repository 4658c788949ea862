"""Work on several assignments at a time, each in a process of its own: nbgrader changes its folder."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, TypeVar

from autograder.errors import UserError
from autograder.worker.sandbox import syscalls

Result = TypeVar("Result")
Tell = Callable[..., None]
"""A function that reports progress, with whatever arguments its hearer takes."""
_TOLD, _DONE, _FAILED = range(3)


def side_by_side(
    names: Sequence[str], count: int, work: Callable[[str, Tell], Result], heard: Callable[..., None]
) -> Iterator[tuple[str, Result]]:
    """Yield each name with the result of its work, `count` at a time, in the order they finish.

    `heard` is called here with the name and what the work told. Where one fails nothing more is begun, and
    its error is raised when those that are under way have ended. A single one is done in this process.
    """
    if min(count, len(names)) <= 1:
        for name in names:
            yield name, work(name, lambda *told, name=name: heard(name, *told))
        return
    waiting, failed = list(reversed(names)), dict[str, Exception]()
    running: dict[Connection, tuple[str, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < count:
                name = waiting.pop()
                started, process = _start(name, work)
                running[started] = name, process
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                name, process = running[connection]
                kind, told = _received(name, connection, process)
                if kind == _TOLD:
                    heard(name, *told)
                    continue
                del running[connection]
                connection.close()
                process.join()
                if kind == _DONE:
                    yield name, told
                else:
                    failed[name] = told
                    waiting.clear()
    finally:
        for _, process in running.values():
            process.terminate()
        for connection, (_, process) in running.items():
            process.join()
            connection.close()
    for name in names:
        if name in failed:
            raise failed[name]


def _start(name: str, work: Callable[[str, Tell], Any]) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("fork")  # torch and nbgrader are imported already
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(name, work, there, os.getpid()))
    process.start()
    there.close()
    return here, process


def _received(name: str, connection: Connection, process: BaseProcess) -> tuple[int, Any]:
    try:
        kind, told = connection.recv()
        return int(kind), told
    except (EOFError, OSError):
        process.join()
        return _FAILED, UserError(f"{name}: its process ended unexpectedly (exit status {process.exitcode}).")


def _run(name: str, work: Callable[[str, Tell], Any], connection: Connection, parent: int) -> None:
    """Do the work in a fork that ends when its parent asks, or ends itself, and clears up before."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # a fork has none of its parent's threads, and would wait for them for ever
    signal.signal(signal.SIGINT, lambda *_: None)  # the parent hears it, too, and ends this process
    signal.signal(signal.SIGTERM, _interrupt)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    try:
        result = work(name, lambda *told: connection.send((_TOLD, told)))
    except KeyboardInterrupt:
        return
    except Exception as error:
        if not isinstance(error, UserError):
            error.add_note(traceback.format_exc())  # what is sent leaves its traceback here
        connection.send((_FAILED, error))
    else:
        connection.send((_DONE, result))


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
