"""The private root of a worker: a few directories read-only, small tmpfs, a fresh /proc, a few devices.

Built inside fresh mount and pid namespaces by the worker itself, never by its supervisor: pivot_root
carries along every process of the mount namespace whose root is the old one.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache

from autograder.worker.sandbox import syscalls

# No /dev/zero: a shared mapping of it is memory that no resident-set count shows once it is
# given back with MADV_DONTNEED, and no tmpfs size bounds it.
_DEVICES = ("null", "full", "random", "urandom")
_STAGE = "/tmp"  # covered for the moment of building; sources are opened before, so they may lie beneath it
_INODES = 4096
_NOTHING = "/.nothing"
"""The empty file that stands in for hidden ones; only their mounts are left of it."""


def build(
    readable: Sequence[str], hidden: Sequence[str], *, scratch_bytes: int, devices: Sequence[str] = ()
) -> None:
    """Make the private root this process's root. Needs CAP_SYS_ADMIN over fresh mount and pid namespaces.

    `readable` paths appear read-only at their own names (links on the way included), `hidden` ones inside
    them appear empty; of two nested paths the deeper one decides. `devices` are device files to have besides
    the four, in the folder /dev: those of a GPU. Raises OSError where the kernel refuses.
    """
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    links, places = layout_once(tuple(readable), tuple(hidden))
    trees = {path: syscalls.clone_tree(path) for path, shown in places.items() if shown}
    folders = {path for path in trees if os.path.isdir(path)}
    nodes = {f"/dev/{name}": f"/dev/{name}" for name in _DEVICES}
    nodes |= {f"/dev/{os.path.basename(path)}": path for path in devices}
    opened = {target: syscalls.clone_tree(path, device=True) for target, path in nodes.items()}

    quiet = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("root", _STAGE, "tmpfs", quiet, f"size=1m,nr_inodes={_INODES},mode=755")
    for scratch in ("/tmp", "/dev/shm"):
        _mountpoint(_STAGE + scratch, folder=True)
        options = f"size={scratch_bytes},nr_inodes={_INODES},mode=1777"
        syscalls.mount("scratch", _STAGE + scratch, "tmpfs", quiet | syscalls.MS_NOEXEC, options)
    _mountpoint(_STAGE + _NOTHING, folder=False)
    for path, shown in places.items():  # after /tmp, where a readable folder may lie
        target = _STAGE + path
        if not shown and os.path.isdir(target):
            syscalls.mount("hidden", target, "tmpfs", quiet, "size=64k,nr_inodes=64,mode=755")
            continue
        if not shown:
            syscalls.attach(syscalls.clone_tree(_STAGE + _NOTHING), target)
            continue
        _mountpoint(target, folder=path in folders)
        syscalls.attach(trees[path], target)
    os.unlink(_STAGE + _NOTHING)
    for path, shown in places.items():
        if not shown:
            _freeze(_STAGE + path)
    for path, text in links.items():
        if not os.path.lexists(_STAGE + path):
            os.makedirs(os.path.dirname(_STAGE + path), mode=0o755, exist_ok=True)
            os.symlink(text, _STAGE + path)

    for target, tree in opened.items():
        _mountpoint(_STAGE + target, folder=False)
        syscalls.attach(tree, _STAGE + target)
    os.symlink("/proc/self/fd", _STAGE + "/dev/fd")
    _mountpoint(_STAGE + "/proc", folder=True)
    # The driver's library reads /proc/driver/nvidia and /proc/devices. All that is not of processes comes
    # with them; it tells of the machine and nothing of others.
    _fresh_proc(_STAGE + "/proc", whole=bool(devices))
    syscalls.change_root(_STAGE)
    _freeze("/")


def layout(readable: Sequence[str], hidden: Sequence[str]) -> tuple[dict[str, str], dict[str, bool]]:
    """Return the links (path to text) and places (real path to shown or hidden) to make, outermost first.

    A path that does not exist is left out, and so is one that its surroundings already show or hide.
    """
    links: dict[str, str] = {}
    wanted: dict[str, bool] = {}
    for path in readable:
        if os.path.exists(path):
            wanted[_resolve(path, links)] = True
    for path in hidden:
        if os.path.exists(path):
            wanted[_resolve(path, {})] = False
    if "/" in wanted:
        raise ValueError("the root itself can be neither readable nor hidden")
    places: dict[str, bool] = {}
    for path in sorted(wanted, key=lambda path: path.count("/")):
        if wanted[path] != _shown(path, places):
            places[path] = wanted[path]
    return links, places


@cache
def layout_once(
    readable: tuple[str, ...], hidden: tuple[str, ...]
) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Cache `layout`: computed before a fork, it is there in every worker."""
    return layout(readable, hidden)


def _shown(path: str, places: dict[str, bool]) -> bool:
    """Return whether the nearest of `places` above `path` shows it; False where there is none."""
    while path != "/":
        path = os.path.dirname(path)
        if path in places:
            return places[path]
    return False


def _resolve(path: str, links: dict[str, str]) -> str:
    """The real path; every symbolic link passed on the way is noted in `links`, to be made again."""
    here, parts, passed = "/", deque(os.path.abspath(path).split("/")), 0
    while parts:
        part = parts.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, part)
        if not os.path.islink(step):
            here = step
            continue
        passed += 1
        if passed > 40:
            raise OSError(errno.ELOOP, f"{path}: {os.strerror(errno.ELOOP)}")
        links[step] = os.readlink(step)
        here = "/" if links[step].startswith("/") else here
        parts.extendleft(reversed(links[step].split("/")))
    return here


def _mountpoint(path: str, *, folder: bool) -> None:
    if folder:
        os.makedirs(path, mode=0o755, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _fresh_proc(path: str, *, whole: bool) -> None:
    """A /proc of this pid namespace: unless `whole`, processes only, where the kernel can (5.8 and on)."""
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    try:
        syscalls.mount("proc", path, "proc", flags, "" if whole else "subset=pid")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        syscalls.mount("proc", path, "proc", flags)


def _freeze(path: str) -> None:
    flags = (
        syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY | syscalls.MS_NOSUID | syscalls.MS_NODEV
    )
    syscalls.mount("none", path, None, flags)
