"""The end of a worker: who brings it about, that nothing it started lives on, and how it is reported."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from autograder.worker.sandbox.probe import Level
from tests.support.hostile.confinement import Job


def test_a_daemon_does_not_outlive_its_worker(wall):
    """It holds the data socket open: `said` returns only when the last holder is gone."""
    code = """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        say("daemon")
        time.sleep(60)
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
    job = wall.start(code)
    assert job.ended()["exit"] == "exited"
    assert job.said() == ["daemon"]


STUBBORN = """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
say("ready")
time.sleep(60)
"""


@contextmanager
def gone_within_a_second(job: Job) -> Iterator[None]:
    """Say that what is done here, when the worker is at work, ends it and all that it started."""
    job.hear()
    begun = time.monotonic()
    yield
    job.said()
    assert time.monotonic() - begun < 1


def test_the_judge_can_kill_it(wall):
    job = wall.start(STUBBORN)
    with gone_within_a_second(job):
        job.control.send(json.dumps({"do": "kill"}).encode())
        assert job.ended()["exit"] == "killed"


def test_it_dies_with_the_judge(wall):
    job = wall.start(STUBBORN)
    with gone_within_a_second(job):
        job.control.close()


def test_it_dies_with_the_fork_server(wall):
    job = wall.start(STUBBORN)
    with gone_within_a_second(job):
        job.parent.kill()
        assert "fork server died" in job.ended()["message"]


def test_it_dies_with_its_supervisor(wall):
    """Only the worker itself where there is no pid namespace: nobody is left to look for its children."""
    code = STUBBORN if wall.level is Level.NAMESPACES else STUBBORN.replace("if os.fork() == 0", "if False")
    job = wall.start(code)
    with gone_within_a_second(job):
        os.kill(job.supervisor, signal.SIGKILL)


def test_it_cannot_disarm_the_death_of_its_supervisor(wall):
    code = """
import ctypes, time
say(ctypes.CDLL(None).prctl(1, 0, 0, 0, 0))
time.sleep(60)
"""
    job = wall.start(code)
    assert job.hear() == -1
    os.kill(job.supervisor, signal.SIGKILL)
    assert job.said() == []


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        ("pass", ("exited", 0)),
        ("os._exit(3)", ("exited", 3)),
        ("raise SystemExit(4)", ("exited", 4)),
        ("raise ValueError", ("exited", 1)),
        ("import ctypes; ctypes.string_at(0)", ("signal", signal.SIGSEGV)),
    ],
)
def test_the_end_is_reported(wall, deed, expected):
    _, ended = wall.attack(deed)
    assert (ended["exit"], ended["code"]) == expected
    assert ended["cpu_seconds"] > 0


def test_a_worker_that_kills_itself(wall):
    """pid 1 of a namespace is immune to its own signals, as `supervise` says; elsewhere it dies."""
    said, ended = wall.attack("import signal; os.kill(os.getpid(), signal.SIGKILL); say('alive')")
    if wall.level is Level.NAMESPACES:
        assert (said, ended["exit"]) == (["alive"], "exited")
    else:
        assert (said, ended["exit"], ended["code"]) == ([], "signal", signal.SIGKILL)
