"""Layers that shut a worker in, seen from outside: what this machine offers, how far that goes, defaults.

A worker confines itself after the fork, without exec, and fails closed: if a layer that its level
promises does not take, nothing of the student's runs. `probe` tries every layer for real in throwaway
children and `best_level` reads the result; `supervise`, next door, runs a worker at a level; how the
layers are put on is in `enter`.
"""

from __future__ import annotations

import json
import os
import resource
import site
import socket
import sys
from collections.abc import Callable, Sequence

from autograder.worker.sandbox import apply, mounts, seccomp, syscalls
from autograder.worker.sandbox.limits import Layer, Level, Limits, Refused

__all__ = ["Layer", "Level", "Limits", "Refused", "best_level", "default_readable", "probe"]


def default_readable() -> tuple[str, ...]:
    """Folders that a Python worker needs to go on importing: interpreter, packages, system libraries."""
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    paths = [
        *(
            sys.prefix,
            sys.base_prefix,
            sys.exec_prefix,
            sys.base_exec_prefix,
            *site.getsitepackages(),
            *packages,
        ),
        *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives"),
        *("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime", "/var/cache/fontconfig"),
    ]
    return tuple(dict.fromkeys(path for path in paths if os.path.isabs(path) and path != "/"))


def best_level(layers: Sequence[Layer]) -> Level:
    """The most that the layers found by `probe` allow; NONE means that grading should be refused."""
    held = {layer.name for layer in layers if layer.holds}
    common = {"seccomp", "rlimits", "no-new-privileges", "uid-drop"}
    namespaces = {f"{name}-namespace" for name in ("user", "pid", "mount", "network", "ipc")}
    if common | namespaces <= held:
        return Level.NAMESPACES
    if common | {"landlock"} <= held:
        return Level.LANDLOCK
    return Level.NONE


def probe() -> tuple[Layer, ...]:
    """Try each layer for real in a throwaway child of this process, which must have one thread."""
    return tuple(_try(name, attempt, remedy) for name, attempt, remedy in PROBES)


def _try(name: str, attempt: Callable[[], str], remedy: str) -> Layer:
    """Run `attempt` in a fork: it says what it saw, or raises."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            found = [True, attempt()]
        except BaseException as error:
            found = [False, str(error) or type(error).__name__]
        os.write(writing, json.dumps(found).encode()[:4096])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as reader:
        said = reader.read()
    os.waitpid(pid, 0)
    holds, detail = json.loads(said) if said else (False, "the probe died")
    return Layer(name, holds, detail, "" if holds else remedy)


def _probe_user() -> str:
    identity = apply.hold(Level.NAMESPACES)
    assert identity is not None
    if identity.own_user_namespace:
        return "unprivileged user namespaces are allowed"
    return "not needed: root makes namespaces itself"


def _in_pid_1(attempt: Callable[[], str]) -> str:
    """`attempt` as pid 1 of fresh namespaces, as a worker would run it."""
    apply.hold(Level.NAMESPACES)
    layer = _try("inner", attempt, "")
    if not layer.holds:
        raise Refused(layer.detail)
    return layer.detail


def _probe_pid() -> str:
    def attempt() -> str:
        if os.getpid() != 1:
            raise Refused(f"the child of a fresh pid namespace has pid {os.getpid()}")
        return "a worker is pid 1 of its own"

    return _in_pid_1(attempt)


def _probe_mount() -> str:
    def attempt() -> str:
        syscalls.unshare(syscalls.CLONE_NEWNS)
        mounts.build(default_readable(), (), scratch_bytes=1 << 20)
        if left := {"home", "root", "sys", "var", "boot"} & {
            name for name in os.listdir("/") if _opens(f"/{name}")
        }:
            raise Refused(f"the private root shows {sorted(left)}")
        with open("/tmp/probe", "w", encoding="ascii") as file:
            file.write("written")
        return f"a private root shows {', '.join(sorted(os.listdir('/')))}"

    return _in_pid_1(attempt)


def _opens(folder: str) -> bool:
    """Return whether files of the machine show there, besides the way to a bound interpreter."""
    return os.path.ismount(folder) or any(entry.is_file() for entry in os.scandir(folder))


def _probe_network() -> str:
    def attempt() -> str:
        syscalls.unshare(syscalls.CLONE_NEWNET)
        names = [name for _, name in socket.if_nameindex()]
        with socket.socket() as client:
            client.settimeout(1)
            if client.connect_ex(("127.0.0.1", 9)) == 0:
                raise Refused("loopback is up in a fresh network namespace")
        return f"a network of its own, with {', '.join(names) or 'nothing'} (down)"

    return _in_pid_1(attempt)


def _probe_ipc() -> str:
    def attempt() -> str:
        before = os.stat("/proc/self/ns/ipc").st_ino
        syscalls.unshare(syscalls.CLONE_NEWIPC)
        if os.stat("/proc/self/ns/ipc").st_ino == before:
            raise Refused("the ipc namespace did not change")
        return "queues and segments of its own"

    return _in_pid_1(attempt)


def _probe_user_drop() -> str:
    if os.geteuid() != 0:
        return f"already an ordinary user ({os.geteuid()})"
    identity = apply.hold(Level.LANDLOCK)
    apply.become(identity)
    try:
        os.setuid(0)
    except PermissionError:
        return f"root becomes user {os.getuid()} and cannot go back"
    raise Refused("root can be had back after the change of user")


def _probe_landlock() -> str:
    if (abi := apply.landlock_abi()) < 3:
        raise Refused(
            "sandlock is not installed" if apply.sandlock is None else f"Landlock ABI {abi}, needs 3"
        )
    apply.restrict_files(["/usr"], [])
    try:
        os.listdir("/etc")
    except PermissionError:
        note = "" if abi >= 6 else "; signals and abstract sockets by seccomp only"
        return f"ABI {abi}{note}"
    raise Refused("a folder that was not granted opens")


def _probe_seccomp() -> str:
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.load(private_root=True)
    try:
        socket.socket().close()
    except PermissionError:
        return "denied calls are refused"
    raise Refused("a denied call went through")


def _probe_limits() -> str:
    apply.set_limits(Limits(), 64)
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] > Limits().open_files:
        raise Refused("RLIMIT_NOFILE did not take")
    try:
        bytearray(2 * Limits().memory_bytes)
    except MemoryError:
        return "too large an allocation is a MemoryError"
    raise Refused("RLIMIT_DATA did not take")


def _probe_no_new_privileges() -> str:
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        if "NoNewPrivs:\t1" not in file.read():
            raise Refused("the kernel does not show it")
    return "set-uid programs give nothing"


_NAMESPACES_REMEDY = (
    "Allow unprivileged user namespaces (Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0;"
    " Docker: --security-opt seccomp=unconfined), or run as root; else grading falls back to Landlock."
)
PROBES: tuple[tuple[str, Callable[[], str], str], ...] = (
    ("user-namespace", _probe_user, _NAMESPACES_REMEDY),
    ("pid-namespace", _probe_pid, _NAMESPACES_REMEDY),
    ("mount-namespace", _probe_mount, _NAMESPACES_REMEDY + " Linux 5.12 is needed."),
    ("network-namespace", _probe_network, _NAMESPACES_REMEDY),
    ("ipc-namespace", _probe_ipc, _NAMESPACES_REMEDY),
    ("uid-drop", _probe_user_drop, "Run as an ordinary user, or as a root user that has other user ids."),
    (
        "landlock",
        _probe_landlock,
        "Install sandlock, on Linux 6.2 or later with Landlock among its security modules.",
    ),
    ("seccomp", _probe_seccomp, "Install pyseccomp and the system's libseccomp (apt install libseccomp2)."),
    ("rlimits", _probe_limits, "Raise the hard limits that ulimit -H -a shows."),
    ("no-new-privileges", _probe_no_new_privileges, "Use Linux 4.10 or later."),
)
