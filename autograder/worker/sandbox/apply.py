"""Putting the layers on: `hold` in the supervisor before the fork, `enter` in the worker after it.

Whatever a level promises either takes or raises: nothing here falls back to less.
"""

from __future__ import annotations

import importlib.machinery
import os
import resource
import sys
import tempfile
from collections.abc import Sequence

from autograder.worker.sandbox import gpu_nodes, mounts, seccomp, syscalls
from autograder.worker.sandbox.limits import Identity, Level, Limits, Refused

try:
    import sandlock
except Exception:  # absent, or built for another machine
    sandlock = None

# Beyond every range that systemd and shadow hand out, and not negative as a signed number.
_SLOTS = 0x7000_0000
_SLOTS_IN_A_CONTAINER = range(61184, 65520)
_INSIDE = 1000  # an ordinary-looking id for the one user of a user namespace
_KEPT_VARIABLES = (
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "MPLBACKEND",
    "NBGRADER_EXECUTION",
    *(f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL")),
    "PYTHONHASHSEED",
    *gpu_nodes.KEPT_VARIABLES,
)


def hold(level: Level) -> Identity | None:
    """Leave the namespaces that must be left before the fork; say who the worker will be.

    None means that the worker keeps this process's user. After this, at level NAMESPACES, the next
    fork is pid 1 of its own pid namespace: when it dies the kernel kills all that is left in there.
    """
    slot = _slot() if os.geteuid() == 0 else None
    if level is Level.NONE:
        return None
    if level is Level.LANDLOCK:
        if os.geteuid() == 0 and slot is None:
            raise Refused("this root user has no other user id to give to a worker")
        return slot
    if slot is not None:
        try:
            syscalls.unshare(syscalls.CLONE_NEWPID)
            return slot
        except PermissionError:  # root without CAP_SYS_ADMIN, as in a container: as anybody else
            pass
    return _own_user_namespace(syscalls.CLONE_NEWPID)


def _slot() -> Identity | None:
    """An unprivileged user of this worker's own, so that limits and signals of two workers never cross."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        spans = [(int(first), int(count)) for first, _, count in map(str.split, file)]
    container = _SLOTS_IN_A_CONTAINER[os.getpid() % len(_SLOTS_IN_A_CONTAINER)]
    for uid in (_SLOTS + os.getpid(), container):
        if any(first <= uid < first + count for first, count in spans):
            return Identity(uid, uid, own_user_namespace=False)
    return None


def _own_user_namespace(more: int) -> Identity:
    uid, gid = os.geteuid(), os.getegid()
    syscalls.unshare(syscalls.CLONE_NEWUSER | more)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INSIDE} {uid} 1"),
        ("gid_map", f"{_INSIDE} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return Identity(_INSIDE, _INSIDE, own_user_namespace=True)


def enter(
    level: Level,
    limits: Limits,
    identity: Identity | None,
    *,
    readable: Sequence[str],
    hidden: Sequence[str],
    scratch: str | None,
    death_signal: int,
) -> None:
    """Confine this process for good. Raises Refused if any layer that `level` promises does not take.

    `scratch` is the folder to write in where there is no private root; `death_signal` is what the
    worker gets when its supervisor dies.
    """
    devices = gpu_nodes.device_files() if limits.gpu_bytes else ()
    try:
        if level is Level.NAMESPACES:
            others = syscalls.CLONE_NEWNET | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS
            syscalls.unshare(others | syscalls.CLONE_NEWNS | syscalls.CLONE_NEWCGROUP)
            mounts.build(readable, hidden, scratch_bytes=limits.scratch_bytes, devices=devices)
        importlib.machinery.PathFinder.find_spec("a_name_nobody_has")  # Landlock may forbid listing later
        home = "/tmp" if level is Level.NAMESPACES or scratch is None else scratch
        os.chdir(home)
        os.umask(0o022)
        _clean_environment(home)
        if devices:  # a cache of compiled kernels would fill the scratch folder
            os.environ.update({gpu_nodes.MEMORY_VARIABLE: str(limits.gpu_bytes), "CUDA_CACHE_DISABLE": "1"})
        set_limits(limits, _process_limit(limits, level, identity), reserving=bool(devices))
        become(identity)
        if level is not Level.NONE:
            _landlock(level, readable, hidden, home, devices)
        # After the last change of user, which clears both; before seccomp, which forbids both.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, death_signal)
        if level is not Level.NONE:
            seccomp.load(private_root=level is Level.NAMESPACES)
            _check(level, identity)
    except Exception as error:
        raise Refused(f"confinement failed at level {level}: {error}") from error


def _clean_environment(home: str) -> None:
    """A short environment, also in the bytes that the process was started with (/proc/self/environ)."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, PATH="/usr/bin:/bin", HOME=home, TMPDIR=home, USER="student", LOGNAME="student")
    tempfile.tempdir = None  # what the parent found out about its own
    with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])  # env_start, env_end: fields 50 and 51 of proc_pid_stat(5)
    if start:
        syscalls.erase(start, end - start)


def _process_limit(limits: Limits, level: Level, identity: Identity | None) -> int:
    """RLIMIT_NPROC counts a user, so where the worker has no user to itself its others are added."""
    if identity is not None and not identity.own_user_namespace:
        return limits.processes
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if level is Level.NAMESPACES and release >= (5, 14):  # counted per user namespace since
        return limits.processes + 1  # its supervisor
    return limits.processes + _tasks_of(os.getuid())


def _tasks_of(uid: int) -> int:
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == uid:
                count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue  # gone
    return count


def set_limits(limits: Limits, processes: int, *, reserving: bool = False) -> None:
    """Limits of each process; the memory of them together is the supervisor's to watch.

    `reserving` leaves the address space open: CUDA reserves a range as large as all memory there is.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        sizes = dict(line.split(":", 1) for line in file)
    data, address_space = (int(sizes[name].split()[0]) << 10 for name in ("VmData", "VmSize"))
    bounds = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 64 << 10),
        (resource.RLIMIT_SIGPENDING, 1024),
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, processes),
        # What may be written counts as DATA, so asking for too much is a MemoryError and not a death.
        # Address space is looser: stacks and arenas reserve far more than they use.
        (resource.RLIMIT_DATA, data + limits.host_bytes),
    ]
    if not reserving:
        bounds.append((resource.RLIMIT_AS, address_space + 4 * limits.memory_bytes))
    for kind, value in bounds:
        hard = resource.getrlimit(kind)[1]
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bounded, bounded))


def become(identity: Identity | None) -> None:
    if identity is not None:
        if not identity.own_user_namespace:
            syscalls.drop_bounding_set()
            os.setgroups([])
            os.setresgid(identity.gid, identity.gid, identity.gid)
            os.setresuid(identity.uid, identity.uid, identity.uid)
        else:
            syscalls.drop_bounding_set()
    syscalls.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)


def _landlock(
    level: Level, readable: Sequence[str], hidden: Sequence[str], home: str, devices: Sequence[str]
) -> None:
    """Restrict files by Landlock; signals and abstract sockets too where the kernel can (6.12 and on)."""
    if level is Level.NAMESPACES:
        if landlock_abi() >= 1:
            inside = [f"/dev/{os.path.basename(path)}" for path in devices]
            restrict_files(["/"], ["/tmp", "/dev/shm", "/dev/null", *inside])
        return  # a further layer: what it would hide is not there
    if landlock_abi() < 3:
        raise Refused("Landlock is missing or too old here (ABI 3, Linux 6.2, is needed)")
    for path in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)):
        if not os.access(path, os.R_OK | os.X_OK):
            raise Refused(
                f"{path} is not readable for the unprivileged user a worker becomes:"
                " install Python where every user may read it, or allow user namespaces"
            )
    own = ["/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/dev/full", "/dev/random", "/dev/urandom"]
    own += gpu_nodes.DRIVER_FILES if devices else ()
    restrict_files(
        [path for path in (*_visible(readable, hidden), *own) if os.path.exists(path)],
        [home, "/dev/null", *devices],
    )


def landlock_abi() -> int:
    return sandlock.landlock_abi_version() if sandlock is not None else -1


def restrict_files(readable: Sequence[str], writable: Sequence[str]) -> None:
    # Older kernels lack some rights; whatever matters of those is denied by the filter as well.
    degraded = list(sandlock.Protection)
    sandlock.confine(sandlock.Sandbox(fs_readable=readable, fs_writable=writable, allow_degraded=degraded))


def _visible(readable: Sequence[str], hidden: Sequence[str]) -> list[str]:
    """`readable` with every folder that holds something hidden replaced by its other entries.

    Landlock only ever adds rights below a path, so what is to stay hidden must not be below one.
    """
    _, places = mounts.layout_once(tuple(readable), tuple(hidden))
    masked = [path for path, shown in places.items() if not shown]
    found: list[str] = []
    pending = [path for path, shown in places.items() if shown]
    while pending:
        path = pending.pop()
        if path in masked:
            continue
        if any(mask.startswith(path + "/") for mask in masked):
            pending.extend(entry.path for entry in os.scandir(path) if not entry.is_symlink())
        else:
            found.append(path)
    return found


def _check(level: Level, identity: Identity | None) -> None:
    """Look once at what was promised, from the place it was promised for."""
    problems = []
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if status["NoNewPrivs"] != "1" or status["Seccomp"] != "2":
        problems.append("no_new_privs or seccomp is off")
    if any(int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")):
        problems.append("capabilities are left")
    if identity is not None and os.getresuid() != (identity.uid,) * 3:
        problems.append("the user did not change")
    if level is Level.NAMESPACES and os.getpid() != 1:
        problems.append("no pid namespace")
    if level is Level.NAMESPACES and os.path.exists("/sys"):
        problems.append("no private root")
    if problems:
        raise Refused("; ".join(problems))
