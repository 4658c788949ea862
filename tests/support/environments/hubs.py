"""The hub of docs/hub.md, made by following the page, and people who sign in to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page

from tests.support.courses import ROOT, environment
from tests.support.environments.borrowed import lend
from tests.support.environments.browsers import SECONDS
from tests.support.pages import Step, steps

PAGE = ROOT / "docs" / "hub.md"
PLACE, PORT = "/srv/hub", 8000
"""The folder and the first of the four ports that the page says to replace."""

ENVIRONMENTS = ("students", "grading")
_ROOT_MAY_SERVE = json.dumps({"ServerApp": {"allow_root": True}})
_END = 60
"""The seconds in which the hub must have stopped all that it started."""


@dataclass(frozen=True)
class Hub:
    """A hub that runs, and the page that it was made from."""

    place: Path
    port: int
    log: Path

    @property
    def course(self) -> Path:
        return self.place / "course"

    @property
    def address(self) -> str:
        return f"http://hub.localhost:{self.port}"

    @property
    def service(self) -> str:
        """Return the address of formgrader."""
        host = f"recurrent-networks--service.hub.localhost:{self.port}"
        return f"http://{host}/services/recurrent-networks"

    def home(self, who: str) -> Path:
        return self.place / "homes" / who

    def own(self, who: str) -> str:
        """The address of somebody's own server."""
        return f"http://{who}.hub.localhost:{self.port}/user/{who}"

    def steps(self, section: str = "") -> list[Step]:
        """The steps of the page, or of one of its sections, for this hub's place and ports."""
        return [step for step in _steps(self.place, self.port) if section in ("", step.section)]

    def follow(self, section: str, where: Path) -> str:
        """Do what a section says, in a folder, and return what its commands said."""
        return "".join(_follow(step, self.place, where) for step in self.steps(section))

    def sign_in(self, page: Page, who: str, address: str) -> None:
        """Go where somebody wants to, and sign in on the way."""
        page.goto(address)
        page.get_by_label("Username").fill(who)
        page.get_by_label("Password").fill("for a trial only")
        page.get_by_role("button", name="Sign in").click()


@contextmanager
def hub(place: Path, wheels: Path) -> Iterator[Hub]:
    """The hub that one gets by following docs/hub.md, with `wheels` in the place of what `make wheels` makes.

    At its end, as after Ctrl-C, no process may be left. Skips the test where there is no npm.
    """
    if shutil.which("npm") is None:
        pytest.skip("needs Node.js and npm: install Debian's packages `nodejs` and `npm`, as .ci/run does")
    checkout = place / "checkout"
    for folder in (checkout, place / "operator"):
        folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "constraints.txt", checkout / "constraints.txt")
    (checkout / "dist").symlink_to(wheels)
    for name in ENVIRONMENTS:
        lend(place / name)
        if os.getuid() == 0:  # in containers and CI; the page says to use an ordinary account
            (place / name / "etc" / "jupyter" / "jupyter_server_config.json").write_text(_ROOT_MAY_SERVE)
    made = Hub(place, _free_ports(4), place / "hub.log")
    try:
        with made.log.open("w") as told:
            for step in made.steps():
                if step.section == "4. A week of the class":
                    break
                if step.mark == "keeps running":
                    server = subprocess.Popen(
                        ["bash", "-c", step.text],
                        env=_environment(place),
                        stdout=told,
                        stderr=told,
                        start_new_session=True,
                    )
                    _until_it_answers(server, made)
                else:
                    told.write(_follow(step, place, checkout))
                    told.flush()
        yield made
        os.killpg(server.pid, signal.SIGINT)  # Ctrl-C
        with suppress(subprocess.TimeoutExpired):
            server.wait(_END)
        deadline = time.monotonic() + 10
        while (left := _processes(place)) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert left == [], "the hub has left processes behind"
    finally:
        for process in _processes(place):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        print(made.log.read_text())


def _steps(place: Path, port: int) -> Iterator[Step]:
    ports = {str(PORT + number): str(port + number) for number in range(4)}
    return steps(PAGE, {PLACE: str(place), **ports})


def _follow(step: Step, place: Path, where: Path) -> str:
    if step.file:
        (place / step.file).parent.mkdir(parents=True, exist_ok=True)
        (place / step.file).write_text(step.text)
        return ""
    assert step.language == "console", f"{step.language} without a file's name"
    told = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", step.text],
        cwd=where,
        env=_environment(place),
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, f"{told.stdout}\n{told.stderr}"
    return told.stderr + told.stdout


def _environment(place: Path) -> dict[str, str]:
    """An environment of its own in which pip downloads nothing, and npm only what it has not got yet."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER"))}
    npm = {"npm_config_userconfig": str(Path.home() / ".npmrc"), "npm_config_prefer_offline": "true"}
    npm["npm_config_cache"] = str(ROOT / "build" / "npm")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**kept, **environment(place / "operator"), **npm, "PIP_NO_INDEX": "1", "PATH": path}


def _free_ports(number: int) -> int:
    """The first of some ports in a row that nobody listens at."""
    for first in range(18000, 28000, number):
        with suppress(OSError):
            for port in range(first, first + number):
                with socket.socket() as free:
                    free.bind(("127.0.0.1", port))
            return first
    raise AssertionError("no free ports")


def _until_it_answers(server: subprocess.Popen[bytes], hub: Hub) -> None:
    asked = urllib.request.Request(
        f"http://127.0.0.1:{hub.port}/hub/login", headers={"Host": f"hub.localhost:{hub.port}"}
    )
    deadline = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(asked, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the hub {'ended' if server.poll() is not None else 'does not answer'}")


def _processes(place: Path) -> list[psutil.Process]:
    """All processes that were started in a folder or from a program in it."""
    inside, found = re.compile(rf"{re.escape(str(place))}(/|$)"), []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(map(inside.search, [process.cwd(), *process.cmdline()])):
                found.append(process)
    return [process for process in found if process.pid != os.getpid()]
