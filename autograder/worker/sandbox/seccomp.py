"""The seccomp filter: which system calls a worker may not make.

A list of what is denied over a default of allowed, because torch, numpy and IPython between them use
too much to list it all; calls newer than this file are denied by number. The program is compiled by
libseccomp (through pyseccomp) once in the fork server and loaded in each worker, which takes microseconds.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from functools import lru_cache

from autograder.worker.sandbox import syscalls

try:
    import pyseccomp
except Exception as error:  # its import also fails, by RuntimeError, where libseccomp.so.2 is missing
    pyseccomp = None
    missing = f"pyseccomp does not load: {error}"
else:
    missing = ""

_OTHER_PROCESSES = (
    "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd process_mrelease"
)
_OTHERS_PRIORITY = "setpriority ioprio_set migrate_pages move_pages"
_MOUNTS = (
    "mount umount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr"
    " quotactl quotactl_fd swapon swapoff acct name_to_handle_at open_by_handle_at lookup_dcookie"
    " fanotify_init fanotify_mark inotify_init inotify_init1 inotify_add_watch"
)
_NAMESPACES = "unshare setns"
_IDENTITY = (
    "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset personality"
    " add_key request_key keyctl seccomp"
)
_KERNEL = (
    "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register"
    " kexec_load kexec_file_load init_module finit_module delete_module reboot syslog"
    " iopl ioperm modify_ldt vm86 vm86old uselib nfsservctl"
    " settimeofday stime clock_settime clock_settime64 clock_adjtime clock_adjtime64 adjtimex"
    " sethostname setdomainname vhangup sync ustat sysfs _sysctl"
)
# Memory and messages that belong to no process and to no tmpfs: nothing would count them.
_UNCOUNTED = (
    "memfd_create memfd_secret vmsplice shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl"
    " semget semop semtimedop semctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr"
)
_DENIED = " ".join(
    (_OTHER_PROCESSES, _OTHERS_PRIORITY, _MOUNTS, _NAMESPACES, _IDENTITY, _KERNEL, _UNCOUNTED)
).split()
# clone3 hides its flags from a filter; glibc goes back to clone when told that it does not exist.
_ABSENT = ("clone3",)

# Landlock rules on opening, making and removing files, not on their modes, owners and times; where no
# private root stands in front, a worker of an ordinary user could change those of all of that user's files.
_METADATA = (
    "chmod fchmodat chown lchown fchownat utime utimes utimensat utimensat_time64 futimesat"
    " truncate truncate64 setxattr lsetxattr removexattr lremovexattr"
    " pidfd_open pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo"
)
_CONNECTIONS = "socket connect bind listen accept accept4"
_FCHMODAT2 = 452

# From 424 on, numbers are the same on all architectures. Allowed: futex_waitv, fchmodat2, map_shadow_stack,
# futex_wake/wait/requeue, mseal. The rest of the range, and what the kernel adds next, does not exist here.
_FIRST_NEW, _LAST_NEW, _NEW_ALLOWED = 442, 511, frozenset({449, _FCHMODAT2, 453, 454, 455, 456, 462})

_NAMESPACE_FLAGS = (
    syscalls.CLONE_NEWNS,
    syscalls.CLONE_NEWCGROUP,
    syscalls.CLONE_NEWUTS,
    syscalls.CLONE_NEWIPC,
    syscalls.CLONE_NEWUSER,
    syscalls.CLONE_NEWPID,
    syscalls.CLONE_NEWNET,
    syscalls.CLONE_NEWTIME,
)
_PR_SET_PTRACER, _PR_SET_SECCOMP = 0x59616D61, 22
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_F_SETLEASE, _F_NOTIFY = 1024, 1026
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW = 6, 7, 37, 38
_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX = 0x8901, 0x8902, 0x5412, 0x541C
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_SET_MODE_FILTER, _SPEC_ALLOW = 1, 4


@lru_cache(maxsize=2)
def program(*, private_root: bool) -> bytes:
    """The filter as BPF. Without a private root and pid namespace it also guards the user's other files."""
    rules = _Rules()
    for name in _DENIED:
        rules.deny(name)
    for name in _ABSENT:
        rules.deny(name, number=errno.ENOSYS)
    for number in range(_FIRST_NEW, _LAST_NEW + 1):
        if number not in _NEW_ALLOWED:
            rules.deny(number, number=errno.ENOSYS)
    for flag in _NAMESPACE_FLAGS:
        rules.deny("clone", rules.bits(0, flag, flag))
    # Inside its own network namespace and root a worker may talk to itself: a DataLoader's workers do.
    for name in ("socket", "socketpair"):
        rules.deny(name, rules.differs(0, socket.AF_UNIX))
    # What would take the worker out of its supervisor's sight, or let another process look in.
    for option in (syscalls.PR_SET_PDEATHSIG, syscalls.PR_SET_DUMPABLE, _PR_SET_PTRACER, _PR_SET_SECCOMP):
        rules.deny("prctl", rules.equals(0, option))
    # Signals by way of a descriptor's owner; characters pushed into a terminal.
    for command in (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY):
        rules.deny("fcntl", rules.equals(1, command))
    # A lock on a file that all workers read, such as one of Python's, tells each of them what another does.
    # Libraries that lock files of their own go on as if they had them: nobody else writes there.
    rules.pretend("flock")
    for command in (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW):
        rules.pretend("fcntl", rules.equals(1, command))
    for request in (_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX):
        rules.deny("ioctl", rules.bits(1, 0xFFFFFFFF, request))
    # Anonymous shared memory stays allocated, unseen, after MADV_DONTNEED.
    both = _MAP_SHARED | _MAP_ANONYMOUS
    rules.deny("mmap", rules.bits(3, both, both))
    # Limits and schedules: one's own only.
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        rules.deny(name, rules.differs(0, 0))
    if not private_root:
        for name in _METADATA.split():
            rules.deny(name)
        rules.deny(_FCHMODAT2)
        # Only connected stream pairs: an unconnected datagram socket could still be sent anywhere by sendmsg.
        for name in _CONNECTIONS.split():
            rules.deny(name)
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            rules.deny("socketpair", rules.bits(1, 0xF, kind))
    return rules.compiled()


def load(*, private_root: bool) -> None:
    """Put the filter on this thread, for good. Raises OSError or RuntimeError where that is not possible.

    no_new_privs must be set. Without a pid namespace the process may from then on signal itself only.
    """
    if not private_root:
        rules = _Rules()
        for name in ("kill", "tkill", "tgkill"):
            rules.deny(name, rules.differs(0, os.getpid()))
        _install(rules.compiled())
    _install(program(private_root=private_root))


def _install(code: bytes) -> None:
    class Program(ctypes.Structure):  # struct sock_fprog
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    loaded = Program(len(code) // 8, code)
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "seccomp")
    # SPEC_ALLOW: older kernels otherwise slow every indirect branch of torch down for the filter's sake.
    syscalls.syscall("seccomp", number, _SET_MODE_FILTER, _SPEC_ALLOW, ctypes.byref(loaded))


class _Rules:
    """pyseccomp's filter, in the words used above."""

    def __init__(self) -> None:
        if pyseccomp is None:
            raise RuntimeError(missing)
        self._filter = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
        # Another architecture's numbers (32-bit, x32) would pass under this list: death, not an error.
        self._filter.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)

    def deny(self, name: str | int, *conditions: object, number: int = errno.EPERM) -> None:
        """Answer a call that meets all conditions with an error; a name this machine lacks needs no rule."""
        if isinstance(name, str):
            name = int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))
            if name < 0:
                return
        self._filter.add_rule(pyseccomp.ERRNO(number), name, *conditions)

    def pretend(self, name: str, *conditions: object) -> None:
        """Answer a call that meets all conditions with 0, as if it had been done."""
        self.deny(name, *conditions, number=0)

    def equals(self, argument: int, value: int) -> object:
        return pyseccomp.Arg(argument, pyseccomp.EQ, value)

    def differs(self, argument: int, value: int) -> object:
        return pyseccomp.Arg(argument, pyseccomp.NE, value)

    def bits(self, argument: int, mask: int, value: int) -> object:
        return pyseccomp.Arg(argument, pyseccomp.MASKED_EQ, mask, value)

    def compiled(self) -> bytes:
        reading, writing = os.pipe()  # a few KB, which a pipe holds; there may be no file to write any more
        with open(reading, "rb") as reader:
            with open(writing, "wb", buffering=0) as writer:
                self._filter.export_bpf(writer)
            return reader.read()
