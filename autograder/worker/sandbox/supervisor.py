"""The supervisor: one trusted process per job that forks the worker, watches it and sees to its end.

It stays outside the sandbox and holds the judge's control socket. Whatever happens (the judge says so, goes
away, the fork server dies, memory runs over, the worker ends) it leaves no process behind and then says once,
in one message, how it ended.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import NoReturn

from autograder.worker.sandbox import apply, process_tree, syscalls
from autograder.worker.sandbox.limits import Identity, Level, Limits, Refused

_CONFINED = b"confined"
_POLL_MILLISECONDS = 50
_HASTY_MILLISECONDS = 10  # once half of the memory is used
_MESSAGE_BYTES = 64 << 10
_BLOCK = 4096
_DISK_EVERY = 10  # looks at the tree per look at a scratch folder on disk


@dataclass(frozen=True)
class Exit:
    """The end of a worker; sent over the control socket as one JSON object."""

    exit: str
    """`exited`, `signal`, `killed`, `memory` or `refused`."""
    code: int
    """The exit status or the signal's number."""
    message: str
    peak_bytes: int
    """The most memory seen beyond what was inherited; looks are 10 to 50 ms apart and miss short peaks."""
    cpu_seconds: float


def supervise(
    data_fd: int,
    control_fd: int,
    body: Callable[[], None],
    *,
    level: Level,
    limits: Limits,
    readable: Sequence[str],
    hidden: Sequence[str],
) -> NoReturn:
    """Run `body` in a confined worker; call it in a fresh fork of the fork server. Never returns.

    Inside `body` the descriptor `data_fd` is open under its own number, 0 to 2 are /dev/null and nothing
    else is open. When `body` returns the worker exits with 0, when it raises with 1, or SystemExit's code.
    The worker is pid 1 of its namespace at level NAMESPACES: signals that it sends itself and has no handler
    for do nothing (SIGKILL too), a fault such as a segmentation fault ends it as usual, and its end is
    the end of all that it started.
    """
    supervisor = _Supervisor(control_fd, level, limits)
    try:
        supervisor.run(data_fd, body, readable, hidden)
    except BaseException as error:
        supervisor.give_up(error)
    finally:
        os._exit(1)


class _Supervisor:
    def __init__(self, control_fd: int, level: Level, limits: Limits) -> None:
        self._level = level
        self._limits = limits
        self._control_fd = control_fd
        self._parent = os.getppid()
        self._orphaned = False
        self._scratch: str | None = None
        self._peak = 0

    def run(
        self, data_fd: int, body: Callable[[], None], readable: Sequence[str], hidden: Sequence[str]
    ) -> NoReturn:
        self._settle(data_fd)
        try:
            inherited = process_tree.private_bytes(os.getpid())
            identity = apply.hold(self._level)
            self._make_scratch(identity)
        except (Refused, OSError) as error:
            self._finish(Exit("refused", 0, f"confinement failed at level {self._level}: {error}", 0, 0.0))
        syscalls.prctl(
            syscalls.PR_SET_DUMPABLE, 0
        )  # after uid_map is written: a worker of the same user cannot look in
        report, reporting = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._work(data_fd, reporting, body, identity, readable, hidden)
        os.close(data_fd)
        os.close(reporting)
        os.set_blocking(report, False)
        reason = self._watch(pid, inherited)
        self._finish(self._end(pid, reason, report))

    def give_up(self, error: BaseException) -> NoReturn:
        """Kill everything and report an error of the supervisor's own."""
        process_tree.kill_descendants(os.getpid())
        self._finish(Exit("killed", 0, f"the supervisor failed: {error!r}", self._peak, 0.0))

    def _settle(self, data_fd: int) -> None:
        """Keep only memory and two descriptors of the fork server, and notice when it ends."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in signal.valid_signals():
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._on_orphaned)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGTERM)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        _close_all_but(0, 1, 2, data_fd, self._control_fd)

    def _on_orphaned(self, *_: object) -> None:
        self._orphaned = True

    def _make_scratch(self, identity: Identity | None) -> None:
        """A folder on disk to write in, where there is no private root with a tmpfs."""
        if self._level is Level.NAMESPACES:
            return
        self._scratch = tempfile.mkdtemp(prefix="autograder-worker-")
        if identity is not None:
            os.chown(self._scratch, identity.uid, identity.gid)

    def _work(
        self,
        data_fd: int,
        reporting: int,
        body: Callable[[], None],
        identity: Identity | None,
        readable: Sequence[str],
        hidden: Sequence[str],
    ) -> NoReturn:
        """The worker's side of the fork; whatever goes wrong, it never gets back to the caller's code."""
        status = 1
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _close_all_but(0, 1, 2, data_fd, reporting)
            os.set_inheritable(data_fd, False)
            apply.enter(
                self._level,
                self._limits,
                identity,
                readable=readable,
                hidden=hidden,
                scratch=self._scratch,
                death_signal=signal.SIGKILL,
            )
            os.write(reporting, _CONFINED)  # fails if the supervisor died before the death signal was armed
            os.close(reporting)
        except BaseException as error:
            with suppress(OSError):
                os.write(reporting, str(error).encode()[:4096])
            os._exit(status)
        try:
            body()
            status = 0
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else int(error.code is not None)
        finally:
            os._exit(status & 0xFF)

    def _watch(self, pid: int, inherited: int) -> tuple[str, str] | None:
        """Wait for the worker's end (None) or for a reason to bring it about: its kind and a message."""
        worker = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(self._control_fd, select.POLLIN)
        poll.register(worker, select.POLLIN)
        pause, looks = _HASTY_MILLISECONDS, 0
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(pause)}
            if self._control_fd in ready and (reason := self._read_control()):
                return "killed", reason
            if worker in ready:
                return None
            if self._orphaned or os.getppid() != self._parent:
                return "killed", "the fork server died"
            used = self._look(pid, inherited)
            looks += 1
            if used.memory_bytes > self._limits.host_bytes:
                return "memory", f"more than {self._limits.host_bytes >> 20} MiB of memory"
            if used.tasks > self._limits.processes:
                return "killed", f"more than {self._limits.processes} processes and threads"
            if looks % _DISK_EVERY == 0 and self._disk_bytes() > self._limits.scratch_bytes:
                return "killed", f"more than {self._limits.scratch_bytes >> 20} MiB of files"
            pause = _HASTY_MILLISECONDS if 2 * self._peak > self._limits.host_bytes else _POLL_MILLISECONDS

    def _look(self, pid: int, inherited: int) -> process_tree.Usage:
        # The supervisor has no child but the worker, and orphans come back to it.
        used = process_tree.usage(
            process_tree.descendants(os.getpid()), inherited=inherited, limit=self._limits.host_bytes
        )
        self._peak = max(self._peak, used.memory_bytes)
        return used

    def _disk_bytes(self) -> int:
        """Return the bytes of the worker's files on disk, nameless ones too; 0 without a scratch folder."""
        if self._scratch is None:
            return 0
        removed = process_tree.removed_bytes(process_tree.descendants(os.getpid()), self._scratch)
        return _folder_bytes(self._scratch) + removed

    def _read_control(self) -> str:
        """Return why the judge wants the worker dead; empty if it does not."""
        try:
            message = os.read(self._control_fd, _MESSAGE_BYTES)
        except OSError:
            message = b""
        if not message:
            return "the judge went away"
        with suppress(ValueError):
            order = json.loads(message)
            if isinstance(order, dict) and order.get("do") == "kill":
                return str(order.get("why", "the judge ended it"))
        return "the judge sent something else than a kill"

    def _end(self, pid: int, reason: tuple[str, str] | None, report: int) -> Exit:
        """Make sure that all is over, and put how it ended into words."""
        if reason is not None:
            os.kill(pid, signal.SIGKILL)  # pid 1 of a namespace takes everybody with it
        _, status = os.waitpid(pid, 0)
        left = process_tree.kill_descendants(os.getpid())
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_seconds = spent.ru_utime + spent.ru_stime
        code = os.waitstatus_to_exitcode(status)
        try:
            said = os.read(report, 4096)
        except BlockingIOError:
            said = b""
        if said != _CONFINED:  # also when the judge, seeing it gone, was quicker to ask for its end
            told = said.decode(errors="replace") or "the worker died before it was confined"
            how, message = "refused", told
        elif reason is not None:
            how, message = reason
        elif code < 0:
            how, message = (
                "signal",
                signal.Signals(-code).name if -code in signal.valid_signals() else str(-code),
            )
        else:
            how, message = "exited", ""
        if left:
            message += f" ({left} of its processes could not be ended)"
        return Exit(how, abs(code), message, self._peak, round(cpu_seconds, 4))

    def _finish(self, ended: Exit) -> NoReturn:
        with suppress(OSError):
            os.write(self._control_fd, json.dumps(asdict(ended)).encode())
        os.close(self._control_fd)
        if self._scratch is not None:
            # A student may have made it deep or unreadable; these tools follow no links and know no depth.
            tidy = 'chmod -R u+rwX "$0" 2>/dev/null; rm -rf -- "$0"'
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, 0)  # this much is still to do if the parent goes now
            if shell := shutil.which("sh", path="/bin:/usr/bin"):
                os.execve(shell, ["sh", "-c", tidy, self._scratch], {"PATH": "/usr/bin:/bin"})
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    start = 0
    for descriptor in (*sorted(set(kept)), 1 << 20):
        if descriptor > start:  # os.closerange(0, 0) would close them all
            os.closerange(start, descriptor)
        start = descriptor + 1


def _folder_bytes(folder: str) -> int:
    """Return the bytes of all files under `folder`; empty ones count a block, or there could be millions."""
    total = 0
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with suppress(OSError):
                total += max(_BLOCK, os.lstat(os.path.join(here, name)).st_blocks * 512)
    return total
