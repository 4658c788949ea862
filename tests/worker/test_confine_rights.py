"""The rights that a worker is left with: no privilege, no dangerous system call, no gain by set-uid."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess

import pytest

from autograder.worker.sandbox.probe import Level
from tests.support.hostile.confinement import NOBODY, refused


def test_no_privilege_is_left(wall):
    code = """
status = dict(line.rstrip("\\n").split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
say([status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")])
say(status["NoNewPrivs"], status["Seccomp"])
say(status["CapBnd"], os.getresuid())
for become in (os.setuid, os.setgid, os.seteuid):
    say(attempt(lambda: become(0)))
"""
    said, _ = wall.attack(code)
    assert said[:3] == [["0" * 16] * 4, "1", "2"]
    if not (wall.user and wall.level is Level.LANDLOCK):
        assert said[3] == "0" * 16
        assert said[4][0] not in (0, wall.user)
    assert refused(said[5:])


CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, *arguments in calls:
    arguments = [value.encode() if isinstance(value, str) else ctypes.c_long(value) for value in arguments]
    failed = getattr(libc, name)(*arguments) == -1
    say([name, failed and ctypes.get_errno() in (1, 38)])
"""


def test_dangerous_calls_are_denied(wall):
    here = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    by_number = [
        ("bpf", (321, 280)),
        ("add_key", (248, 217)),
        ("keyctl", (250, 219)),
        ("perf_event_open", (298, 241)),
        ("userfaultfd", (323, 282)),
        ("memfd_create", (319, 279)),
        ("shmget", (29, 194)),
        ("process_vm_readv", (310, 270)),
        ("kexec_load", (246, 104)),
        ("name_to_handle_at", (303, 264)),
        ("seccomp", (317, 277)),
        ("io_uring_setup", (425, 425)),
        ("clone3", (435, 435)),
        ("open_tree", (428, 428)),
        ("fsopen", (430, 430)),
        ("mount_setattr", (442, 442)),
        ("memfd_secret", (447, 447)),
        ("statmount", (457, 457)),
        ("not yet invented", (500, 500)),
    ]
    calls = [
        ["unshare", 0x10000000],
        ["unshare", 0x00020000],
        ["setns", 3, 0],
        ["mount", "none", "/tmp", "tmpfs", 0, 0],
        ["umount2", "/tmp", 2],
        ["chroot", "/tmp"],
        ["pivot_root", ".", "."],
        ["ptrace", 0, 0, 0, 0],
        ["personality", 0],
        ["prctl", 1, 0, 0, 0, 0],
        ["prctl", 4, 0, 0, 0, 0],
        ["prctl", 22, 2, 0, 0, 0],
        ["sethostname", "x", 1],
        ["inotify_init"],
        *(["syscall", numbers[here], 0, 0, 0, 0, 0] for _, numbers in by_number if here is not None),
    ]
    if here is not None:  # clone(CLONE_NEWUSER | SIGCHLD)
        calls.append(["syscall", (56, 220)[here], 0x10000000 | 17, 0, 0, 0, 0])
    said, ended = wall.attack(CALLS, calls=calls)
    assert ended["exit"] == "exited", ended
    assert [name for name, denied in said if not denied] == []
    assert len(said) == len(calls)


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="x86_64 has other system calls under the same roof"
)
@pytest.mark.parametrize("how", ["x32", "32-bit"])
def test_another_architectures_calls_are_death(wall, how):
    code = """
import ctypes, mmap
if how == "x32":
    ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))
else:  # mov eax, 20 (getpid); int 0x80; ret
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    page.write(bytes.fromhex("b814000000cd80c3"))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
say("survived")
"""
    said, ended = wall.attack(code, how=how)
    assert said == []
    assert (ended["exit"], ended["code"]) in [("signal", signal.SIGSYS), ("signal", signal.SIGSEGV)]


def test_set_uid_programs_give_nothing(wall, outside):
    if os.geteuid() != 0:
        pytest.skip("only root can make one")
    program = outside / "who"
    shutil.copy(shutil.which("id"), program)
    os.chown(program, 0, 0)
    program.chmod(0o6755)
    ordinary = {"user": NOBODY, "group": NOBODY, "extra_groups": ()}
    if subprocess.run([program, "-u"], capture_output=True, text=True, **ordinary).stdout.strip() != "0":
        pytest.skip("set-uid programs give nothing to anybody on this file system")
    code = """
import subprocess
for flag in ("-u", "-g"):
    say(attempt(lambda: subprocess.run([program, flag], capture_output=True, text=True).stdout.strip()))
"""
    said, _ = wall.attack(code, program=program, readable=[outside])
    assert len(said) == 2
    assert "0" not in said
    assert all(told.isdigit() for told in said), "it did run"


def test_two_workers_of_root_are_two_users(wall):
    if wall.user != 0:
        pytest.skip("an ordinary user has but one user to give")
    first, second = (wall.start("say(os.getuid()); import time; time.sleep(5)") for _ in range(2))
    assert first.hear() != second.hear()
