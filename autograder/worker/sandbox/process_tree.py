"""A worker and all it started, seen from its supervisor: who they are, what they use, and their end."""

from __future__ import annotations

import os
import signal
import stat
import time
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """Use of memory by some processes together."""

    memory_bytes: int
    tasks: int
    """Processes and threads."""


def descendants(pid: int) -> list[int]:
    """The pids below `pid`, parents first; processes that end meanwhile may be missing."""
    found: list[int] = []
    pending = [pid]
    while pending:
        children = _children(pending.pop())
        found.extend(children)
        pending.extend(children)
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                    found.extend(map(int, file.read().split()))
            except FileNotFoundError:
                if os.path.exists(f"/proc/{pid}/task/{task}"):  # a kernel without CONFIG_PROC_CHILDREN
                    return _children_by_search(pid)
    return found


def _children_by_search(parent: int) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == parent:
                found.append(int(name))
    return found


def private_bytes(pid: int) -> int:
    """Memory that counts as this process's: anonymous, shared, swapped, and its page tables.

    Library pages are left out; memory inherited at a fork and still shared is in it. Raises OSError when
    the process is gone.
    """
    return _status(pid)[0]


def _status(pid: int) -> tuple[int, int]:
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        lines = dict(line.split(":", 1) for line in file)
    # A zombie has no sizes any more.
    kilobytes = sum(
        int(lines[name].split()[0]) for name in ("RssAnon", "RssShmem", "VmSwap", "VmPTE") if name in lines
    )
    return kilobytes << 10, int(lines["Threads"])


def usage(pids: list[int], *, inherited: int, limit: int) -> Usage:
    """Return what `pids` use beyond the `inherited` bytes that the first worker started with.

    The plain sum counts a page once for every process that shares it since a fork, so it is an upper bound;
    reading exact shares costs milliseconds per gigabyte and is done only when that bound is over `limit`.
    """
    total = tasks = 0
    for pid in pids:
        with suppress(OSError):
            size, threads = _status(pid)
            total += size
            tasks += threads
    total -= inherited
    if total > limit and len(pids) > 1:
        total = min(total, sum(_shared_out(pid) for pid in pids))
    return Usage(max(0, total), tasks)


def _shared_out(pid: int) -> int:
    """Like `private_bytes`, with every shared page divided among those who share it (where readable)."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            next(file)
            lines = dict(line.split(":", 1) for line in file)
        kilobytes = sum(
            int(lines[name].split()[0]) for name in ("Pss_Anon", "Pss_Shmem", "SwapPss") if name in lines
        )
        return kilobytes << 10
    except (OSError, StopIteration):
        with suppress(OSError):
            return private_bytes(pid)
        return 0


def removed_bytes(pids: list[int], folder: str) -> int:
    """Return the bytes of files of `folder` that have lost their name and are still open in `pids`."""
    sizes: dict[int, int] = {}
    for pid in pids:
        with suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    found = os.stat(f"/proc/{pid}/fd/{descriptor}")
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                        sizes[found.st_ino] = found.st_blocks * 512
        with suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            for line in file:
                place, _, _, _, number, *name = line.split(maxsplit=5)
                if name and name[0].startswith(folder) and name[0].endswith("(deleted)\n"):
                    start, end = (int(part, 16) for part in place.split("-"))
                    sizes[int(number)] = max(sizes.get(int(number), 0), end - start)
    return sum(sizes.values())


def kill_descendants(pid: int, *, patience_seconds: float = 5.0) -> int:
    """Kill and reap everything below this process until there is nothing left; how many would not die.

    `pid` is the calling process, which must be a child subreaper: orphans then come back to it and are found.
    """
    deadline = time.monotonic() + patience_seconds
    while True:
        alive = descendants(pid)
        for victim in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(victim, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not alive or time.monotonic() > deadline:
            return len(alive)
        time.sleep(0.001)
