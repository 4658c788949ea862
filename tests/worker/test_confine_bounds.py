"""The bounds of what a worker may use: processes, memory, and the files of its scratch folder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from autograder.worker.sandbox.probe import Level
from tests.support.hostile.confinement import MIB, refused


def bounded_to_16(wall, said: list, ended: dict) -> None:
    """At most 16 were started, or the tree was ended for its number.

    Without a user to itself a worker shares the kernel's count with the user's other processes, so what ends
    elsewhere meanwhile leaves room for as many more.
    """
    shared = wall.user and wall.level is Level.LANDLOCK
    if shared and ended["exit"] == "killed":
        assert "processes" in ended["message"]
    else:
        assert 8 <= said[0] <= (100 if shared else 16), ended


def test_a_fork_bomb_is_bounded(wall):
    code = """
import time
count = 0
while count < 500:
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(30)
        os._exit(0)
    count += 1
say(count)
"""
    said, ended = wall.attack(code, limits={"processes": 16})
    bounded_to_16(wall, said, ended)


def test_threads_are_bounded(wall):
    code = """
import threading, time
count = 0
try:
    while count < 500:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        count += 1
except RuntimeError:
    pass
say(count)
"""
    said, ended = wall.attack(code, limits={"processes": 16})
    bounded_to_16(wall, said, ended)


def test_memory_is_bounded_over_the_whole_tree(wall):
    code = """
import time
for _ in range(4):
    if os.fork() == 0:
        block = bytearray(b"x") * (100 << 20)
        time.sleep(30)
        os._exit(0)
say("started")
time.sleep(30)
"""
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == ["started"]
    assert ended["exit"] == "memory"
    assert 256 * MIB < ended["peak_bytes"] < 512 * MIB


def test_memory_shared_by_a_fork_counts_once(wall):
    code = """
import time
block = bytearray(b"x") * (100 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
time.sleep(0.5)
say(len(block))
"""
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == [100 * MIB]
    assert ended["exit"] == "exited"
    assert ended["peak_bytes"] > 100 * MIB


def test_too_large_an_allocation_is_a_memory_error(wall):
    code = "say(attempt(lambda: bytearray(1 << 30)), attempt(lambda: bytearray(1 << 20)))"
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == ["MemoryError", "done"]
    assert ended["exit"] == "exited"


def test_memory_that_nothing_counts_is_refused(wall):
    """Shared memory that no process shows, once it is given back, would get round the supervisor's sum."""
    code = """
import mmap
say(attempt(lambda: mmap.mmap(-1, 4096)))
say(attempt(lambda: os.memfd_create("x")))
say(attempt(lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096)))
"""
    said, _ = wall.attack(code)
    assert len(said) == 3
    assert refused(said)


def test_files_are_bounded(wall):
    code = """
import errno, time
def fill(folder, size):
    written = 0
    for number in range(20):
        try:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                for _ in range(size >> 16):
                    written += file.write(bytes(1 << 16))
        except OSError as error:
            return [written, errno.errorcode[error.errno]]
    time.sleep(10)
say(fill(os.environ["HOME"], 8 << 20))
for number in range(20):
    if os.path.exists(f"{os.environ['HOME']}/{number}"):
        os.unlink(f"{os.environ['HOME']}/{number}")
say(fill(os.environ["HOME"], 1 << 20))
"""
    said, ended = wall.attack(code, limits={"file_bytes": 2 * MIB, "scratch_bytes": 4 * MIB})
    assert said[0] == [2 * MIB, "EFBIG"]
    if wall.level is Level.NAMESPACES:
        assert said[1][1] == "ENOSPC"
        assert 3 * MIB < said[1][0] <= 4 * MIB
    else:
        assert (ended["exit"], "of files" in ended["message"]) == ("killed", True)


def test_shared_memory_files_are_bounded(wall):
    code = """
written = 0
try:
    for number in range(20):
        with open(f"/dev/shm/{number}", "wb", buffering=0) as file:
            written += file.write(bytes(1 << 20))
except OSError as error:
    say(type(error).__name__)
say(written >> 20)
"""
    said, _ = wall.attack(code, limits={"scratch_bytes": 4 * MIB})
    assert said == (["OSError", 4] if wall.level is Level.NAMESPACES else ["PermissionError", 0])


@pytest.mark.parametrize("kept", ["open", "mapped"])
def test_files_without_a_name_are_bounded(wall, kept):
    code = """
import mmap, time
files = []
try:
    for number in range(20):
        file = open(f"{os.environ['HOME']}/{number}", "w+b", buffering=0)
        os.unlink(file.name)
        file.write(bytes(1 << 20))
        files.append(file if kept == "open" else mmap.mmap(file.fileno(), 0))
        del file
except OSError as error:
    say(error.errno)
say(len(files))
time.sleep(10)
"""
    job = wall.start(code, limits={"scratch_bytes": 4 * MIB}, kept=kept)
    if wall.level is Level.NAMESPACES:
        assert (job.hear(), job.hear()) == (errno.ENOSPC, 4)
    else:
        assert "of files" in job.ended()["message"]


def test_small_files_are_bounded(wall):
    code = """
import time
made = 0
try:
    for made in range(100_000):
        open(f"{os.environ['HOME']}/{made}", "w").close()
except OSError:
    say(made < 5000)
time.sleep(10)
"""
    job = wall.start(code, limits={"scratch_bytes": 4 * MIB})
    if wall.level is Level.NAMESPACES:
        assert job.hear() is True
    else:
        assert "of files" in job.ended()["message"]


def test_only_scratch_can_be_written(wall):
    code = """
import sys
home = os.environ["HOME"]
places = {"/", "/bin", "/dev", "/etc", "/home", "/lib", "/proc", "/proc/self", "/root", "/run", "/sys"}
places |= {"/tmp", "/usr", "/usr/lib", "/usr/local", "/var", "/var/tmp", "/dev/shm", sys.prefix}
places.add(os.path.dirname(os.__file__))
for place in sorted({*places, home}):
    if attempt(lambda: open(f"{place}/new", "x").close()) == "done":
        say("scratch" if place == home else place)
    if attempt(lambda: os.mkdir(f"{place}/folder")) == "done":
        os.rmdir(f"{place}/folder")
say("over")
"""
    said, _ = wall.attack(code)
    assert sorted(said) == (
        ["/dev/shm", "over", "scratch"] if wall.level is Level.NAMESPACES else ["over", "scratch"]
    )


def test_scratch_is_writable_and_gone_afterwards(wall):
    code = """
import tempfile
with tempfile.NamedTemporaryFile("w+", delete=False) as file:
    file.write("mine")
    name = file.name
deep = "d/" * 200
os.makedirs(deep)
say(open(name).read(), name)
"""
    (text, name), ended = wall.attack(code)
    assert text == "mine"
    assert ended["exit"] == "exited"
    wall.jobs[0].parent.wait(10)
    assert not Path(name).exists()
    if wall.level is Level.LANDLOCK:
        assert not Path(name).parent.exists()
