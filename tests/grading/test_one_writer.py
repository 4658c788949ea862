"""The course's lock: one grader writes at a time, the others wait or say so, and a killed one lets go."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.errors import UserError
from autograder.grading.files.access import Access
from autograder.grading.records import store
from autograder.grading.records.store import one_writer


@dataclass(frozen=True)
class Place:
    """All of a course that the lock needs."""

    root: Path
    access: Access

    @property
    def lock(self) -> Path:
        return self.root / ".autograder" / "lock"


@pytest.fixture
def place(tmp_path) -> Place:
    return Place(tmp_path, Access.of(tmp_path, shared=False))


HOLD = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from autograder.grading.files.access import Access
from autograder.grading.records.store import one_writer

root = Path(sys.argv[1])
with one_writer(SimpleNamespace(root=root, access=Access.of(root, shared=False))):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_grader(place):
    """Another process, which holds the lock."""
    held = subprocess.Popen([sys.executable, "-c", HOLD, place.root], stdout=subprocess.PIPE, text=True)
    assert held.stdout.readline() == "held\n"
    yield held
    held.kill()
    held.communicate()


def test_one_after_the_other_in_one_process_too(place):
    """Each use is a lock of its own, so threads wait for each other as processes do."""
    inside, most = [], []

    def write() -> None:
        with one_writer(place):
            inside.append(None)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=write) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


def test_who_does_not_get_it_says_who_may_have_it_and_what_to_do(place, other_grader, monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.2)
    with pytest.raises(UserError) as told, one_writer(place):
        pytest.fail("both hold it")
    assert str(told.value) == (
        f"Another grader has held {place.lock} for 0.2 seconds; nothing more was written. "
        "Try again when it is done."
    )


def test_a_killed_grader_lets_go(place, other_grader, monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 20)
    other_grader.send_signal(signal.SIGKILL)
    other_grader.wait()
    with one_writer(place):
        assert place.lock.exists()


def test_a_child_that_was_forked_meanwhile_keeps_nothing(place, monkeypatch):
    """Judges are forked from the process that records, and may live longer than the record takes."""
    monkeypatch.setattr(store, "LOCK_SECONDS", 5)
    with one_writer(place):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    try:
        with one_writer(place):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_what_fails_inside_lets_go_and_is_told_as_it_is(place, monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.2)
    with pytest.raises(KeyError), one_writer(place):
        raise KeyError
    with one_writer(place):
        pass


@pytest.mark.parametrize(("shared", "mode"), [(False, 0o600), (True, 0o660)])
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_lock_file_has_the_courses_permissions(tmp_path, shared, mode, umask):
    group = 4242 if os.geteuid() == 0 else max(os.getgroups(), default=os.getegid())
    os.chown(tmp_path, -1, group)
    place = Place(tmp_path, Access.of(tmp_path, shared))
    before = os.umask(umask)
    try:
        with one_writer(place):
            pass
    finally:
        os.umask(before)
    found = place.lock.stat()
    assert stat.S_IMODE(found.st_mode) == mode
    assert not shared or found.st_gid == group


def test_a_lock_file_that_is_there_stays_as_it_is(place):
    place.lock.parent.mkdir()
    place.lock.write_text("somebody's")
    place.lock.chmod(0o664)
    with one_writer(place):
        pass
    assert (place.lock.read_text(), stat.S_IMODE(place.lock.stat().st_mode)) == ("somebody's", 0o664)


@pytest.mark.parametrize("reason", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_the_file_system_has_no_locks_the_gradebooks_own_must_do(place, monkeypatch, reason):
    def flock(*_: int) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(fcntl, "flock", flock)
    with one_writer(place):
        assert [path.name for path in place.lock.parent.iterdir()] == ["lock"]
    assert [path.name for path in place.lock.parent.iterdir()] == ["lock"]


def test_what_else_is_wrong_with_the_lock_is_not_passed_over(place, monkeypatch):
    def flock(*_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="Input/output"), one_writer(place):
        pytest.fail("it is not held")
