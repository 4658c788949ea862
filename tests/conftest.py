"""Fixtures that several files of tests share: made courses, the demo, a browser, workers, a wall."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# Under pytest-xdist COLUMNS was seen to be set; the commands under test write to pipes, which have no width.
os.environ.pop("COLUMNS", None)

# Tests put sockets below their temporary folder, and the path of a socket may have 107 bytes.
# That a build works where the folder has a long name, tests/building/test_build.py shows.
if len(os.fsencode(tempfile.gettempdir())) > 32:
    os.environ["TMPDIR"], tempfile.tempdir = "/tmp", None

if TYPE_CHECKING:
    from autograder.grading.workers.forkserver import ForkServer

# Helpers are imported where they are needed: nbgrader takes two seconds, and most tests do without.


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory, worker_id) -> Path:
    """A course whose assignments nbgrader itself generated; nobody handed in anything. Tests copy it."""
    from tests.support.courses import ASSIGNMENTS, ROOT, done, run

    def generate(course: Path) -> None:
        course.mkdir()
        shutil.copytree(ROOT / "source", course / "source")
        shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
        for assignment in ASSIGNMENTS:
            done(run(course, "nbgrader", "generate_assignment", assignment))

    return _made_once(tmp_path_factory, worker_id, "empty_course", generate)


@pytest.fixture
def course(empty_course, tmp_path) -> Path:
    """A course of one's own, with one right submission."""
    from tests.support.courses import copy_course, hand_in, source

    course = copy_course(empty_course, tmp_path / "course")
    hand_in(course, "ada", source(), when="2026-03-01 12:00:00 UTC")
    return course


@pytest.fixture(scope="session")
def demo(tmp_path_factory, worker_id) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The demo, run once by the real command for all processes of a test run; the tests only read it."""
    from tests.support.helpers import autograder

    def run_demo(folder: Path) -> None:
        folder.mkdir()
        told = autograder("demo", folder / "course")
        (folder / "said.json").write_text(json.dumps([told.args, told.returncode, told.stdout, told.stderr]))

    folder = _made_once(tmp_path_factory, worker_id, "demo", run_demo)
    said = json.loads((folder / "said.json").read_text())
    return folder / "course", subprocess.CompletedProcess(*said)


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory, worker_id) -> Path:
    """The class that a report tells apart, graded once for all processes of a test run. Tests copy it."""
    from tests.support import reports

    def grade(folder: Path) -> None:
        folder.mkdir()
        reports.graded_class(folder)

    return _made_once(tmp_path_factory, worker_id, "graded_class", grade)


def _made_once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str, name: str, make: Callable[[Path], None]
) -> Path:
    """Return a folder that one of the processes of a test run makes, and the others wait for."""
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    folder, whole = shared / name, shared / f"{name}.whole"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)  # another process failed to make it
            make(folder)
            whole.touch()
    return folder


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process."""
    from tests.support.environments.browsers import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def workers() -> Iterator[ForkServer]:
    """Workers with the limits that a class is graded with; starting their parent takes two seconds."""
    from autograder.grading.workers.forkserver import ForkServer

    with ForkServer() as parent:
        yield parent


@pytest.fixture(scope="session")
def quick_server() -> Iterator[ForkServer]:
    """The fork server of `quick_workers`."""
    from autograder.grading.workers.forkserver import ForkServer
    from tests.support.helpers import QUICK

    with ForkServer(QUICK) as parent:
        yield parent


@pytest.fixture
def quick_workers(quick_server: ForkServer) -> Iterator[ForkServer]:
    """Workers that are soon out of time, for tests in which something hangs; none outlives its test."""
    from tests.support.helpers import workers_of

    yield quick_server
    deadline = time.monotonic() + 5
    while left := workers_of(quick_server):
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.02)


WALLS = [
    pytest.param(
        (level, ordinary),
        id=f"{'ordinary' if ordinary else 'root'}-{level}",
        marks=pytest.mark.slow if more else (),
    )
    for level, ordinary, more in (
        ("namespaces", False, False),
        ("landlock", False, True),
        ("namespaces", True, True),
        ("landlock", True, False),
    )
]
"""Each level and each user once in `make test`; all four in `make test-all`."""


@pytest.fixture(params=WALLS)
def wall(request):
    """Workers behind a wall: two users, two levels."""
    from autograder.worker.sandbox.limits import Level
    from tests.support.hostile.confinement import behind_a_wall

    level, ordinary = request.param
    with behind_a_wall(Level(level), ordinary=ordinary) as wall:
        yield wall


@pytest.fixture
def outside(wall):
    """A folder outside the wall that file permissions alone would leave open to the worker's user."""
    from tests.support.hostile.confinement import folder_outside

    with folder_outside(wall) as folder:
        yield folder


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put files that need something made once for a run last, but for the first: they would only wait."""
    last = set[Path]()
    for made in ("demo", "graded_class", "empty_course"):
        needing = dict.fromkeys(item.path for item in items if made in getattr(item, "fixturenames", ()))
        last |= set(list(needing)[1:])
    items.sort(key=lambda item: item.path in last)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Say where the pictures are of what the browser showed when a test failed."""
    report = yield
    if report.failed and "browser" in getattr(item, "fixturenames", ()):
        from tests.support.environments.browsers import pictures_of_failure

        found = pictures_of_failure(re.sub(r"\W+", "-", item.name))
        report.sections.append(("What the browser showed", "\n".join(map(str, found))))
    return report
