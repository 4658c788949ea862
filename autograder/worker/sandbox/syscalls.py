"""The few Linux calls the confinement needs that Python 3.11 does not offer, by ctypes.

Each raises `OSError` with the call's name, so that a refusal reads as "unshare: Operation not
permitted" and not as a bare number. Constants are those of the kernel's uapi headers.
"""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWTIME = 0x00000080

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x1, 0x2, 0x4, 0x8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_MADV_COLLAPSE = 25  # Linux 6.1 and on
_HUGE_PAGE = 2 << 20
_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4
# Calls newer than the unified numbering (Linux 4.17 and on): the same number on every architecture.
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for fresh ones (unshare(2))."""
    _checked("unshare", _libc.unshare(ctypes.c_int(flags)))


def prctl(option: int, *values: int) -> int:
    """Call `prctl` of the kernel with up to four integer arguments."""
    padded = (*values, 0, 0, 0, 0)[:4]
    return _checked(f"prctl {option}", _libc.prctl(option, *(ctypes.c_ulong(value) for value in padded)))


def syscall(name: str, number: int, *arguments: object) -> int:
    """Make a call by its number; integers are passed as longs, ctypes values as they are."""
    return _checked(name, _libc.syscall(ctypes.c_long(number), *(_long(value) for value in arguments)))


def _long(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Call `mount` of the kernel; `kind` is None for a change of propagation or of flags."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        options.encode() if options else None,
    )
    _checked(f"mount {kind or ''} {target}", result)


def clone_tree(path: str, *, device: bool = False) -> int:
    """A detached copy of the mounts at `path`, as a descriptor for `attach`; read-only unless a device."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE
    tree = syscall(f"open_tree {path}", _SYS_OPEN_TREE, _AT_FDCWD, ctypes.c_char_p(path.encode()), flags)
    attributes = _MOUNT_ATTR_NOSUID | (0 if device else _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NODEV)
    setting = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)  # struct mount_attr: set, clear, propagation, userns
    syscall(
        f"mount_setattr {path}",
        _SYS_MOUNT_SETATTR,
        tree,
        ctypes.c_char_p(b""),
        _AT_EMPTY_PATH | _AT_RECURSIVE,
        ctypes.byref(setting),
        ctypes.sizeof(setting),
    )
    return tree


def attach(tree: int, target: str) -> None:
    """Put what `clone_tree` returned at `target` and close the descriptor."""
    path, empty = ctypes.c_char_p(target.encode()), ctypes.c_char_p(b"")
    syscall(f"move_mount {target}", _SYS_MOVE_MOUNT, tree, empty, _AT_FDCWD, path, _MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree)


def change_root(path: str) -> None:
    """Make the mount at `path` the root and let go of the old one, by the trick of pivot_root(2)'s NOTES."""
    os.chdir(path)
    _checked("pivot_root", _libc.pivot_root(b".", b"."))
    _checked("umount2", _libc.umount2(b".", _MNT_DETACH))
    os.chdir("/")


def drop_bounding_set() -> None:
    """Make every capability unreachable for good; needs CAP_SETPCAP."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_READ, capability)
        except OSError:
            return  # past the last capability of this kernel
        prctl(PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up every capability this process has or could pass on."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked("capset", _libc.capset(header, nothing))


def erase(address: int, length: int) -> None:
    """Overwrite memory of this process with zeros."""
    ctypes.memset(address, 0, length)


def collapse_memory() -> None:
    """Put what this process holds into huge pages where the kernel does so: a fork copies their table only.

    Python's objects lie in arenas that no allocator's setting makes huge.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        maps = [line.split() for line in file]
    for place, permissions, _, _, inode, *_ in maps:
        if permissions != "rw-p" or inode != "0":
            continue
        start, end = (int(part, 16) for part in place.split("-"))
        start, end = -(-start // _HUGE_PAGE) * _HUGE_PAGE, end // _HUGE_PAGE * _HUGE_PAGE
        if start < end:  # where the kernel refuses, all stays as it was
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)
