"""A real Chromium and a real JupyterLab, and what a person does in them.

Every wait is for something that shows, at most `SECONDS` long. Pictures are kept in build/screenshots/:
those that the tests take for `make screenshots`, and of every open page where a test failed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FrameLocator, Locator, Page, Response, expect, sync_playwright

from tests.support.courses import ROOT, environment
from tests.support.helpers import cell_named, released

SECONDS = 120
"""The seconds to wait for anything: a crowded machine takes ten times as long as a quiet one."""

SCREENSHOTS = ROOT / "build" / "screenshots"
WIDTH, HEIGHT = 1180, 820

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
"""Settings without the question whether JupyterLab may fetch news."""

expect.set_options(timeout=SECONDS * 1000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium with a profile that is thrown away; skips the test where there is none."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("needs Chromium: install Debian's package `chromium`, as .ci/run does, or set CHROMIUM")
    # Chromium's own sandbox needs user namespaces, which containers refuse; the pages here are ours.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=arguments, timeout=SECONDS * 1000, handle_sigint=False
        )
        yield browser
        browser.close()


@contextmanager
def looking(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a session of its own: no cookies, no cache. `options` are Playwright's for a context."""
    with browser.new_context(**{"viewport": {"width": WIDTH, "height": HEIGHT}, **options}) as context:
        context.set_default_timeout(SECONDS * 1000)
        page = context.new_page()
        _open.append(page)
        try:
            yield page
        except Exception as error:  # in a fixture, before a test has begun
            error.add_note(f"What the browser showed: {picture(page, 'failed-in-setup')}")
            raise
        finally:
            _open.remove(page)


_open: list[Page] = []


def pictures_of_failure(name: str) -> list[Path]:
    """Pictures of every open page, for the report of a test that failed."""
    return [picture(page, f"failed-{name}-{number}") for number, page in enumerate(_open, 1)]


def picture(page: Page, name: str) -> Path:
    """Keep what the page shows as build/screenshots/NAME.png."""
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    return path


@dataclass(frozen=True)
class Lab:
    """A JupyterLab server and the folder it was started in."""

    root: Path
    address: str
    token: str

    def at(self, path: str) -> str:
        """The address that lets a visitor of this server in and leads to a page."""
        return f"{self.address}/login?token={self.token}&next=/{path}"


@contextmanager
def jupyter_lab(root: Path, settings: Path, theme: str = "Light") -> Iterator[Lab]:
    """JupyterLab as somebody starts it in the folder `root`, with nothing in `settings` but its theme."""
    (settings / "labconfig").mkdir(parents=True)
    (settings / "labconfig" / "page_config.json").write_text(json.dumps(_QUIET))
    chosen = settings / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    chosen.mkdir(parents=True)
    (chosen / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {theme}"}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    options = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "open_browser": False, "allow_root": True}
    command = [sys.executable, "-m", "jupyter", "lab", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.{name}={value}" for name, value in options.items()]
    log = settings / "server.log"
    with log.open("w") as told:
        server = subprocess.Popen(
            command,
            cwd=root,
            env={**environment(settings), "JUPYTER_CONFIG_DIR": str(settings)},
            stdout=told,
            stderr=told,
        )
    try:
        _until_it_answers(server, port)
        yield Lab(root, f"http://127.0.0.1:{port}", token)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:  # at its end it may wait for a thread of its own for ever
            server.kill()
            server.wait()
        print(log.read_text())


def _until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"JupyterLab {'ended' if server.poll() is not None else 'does not answer'}")


def cell_of(page: Page, notebook: Mapping[str, Any], name: str) -> Locator:
    """JupyterLab's cell with nbgrader's id `name`, in view: those far away have no editor yet."""
    number = notebook["cells"].index(cell_named(notebook, name))
    cell = page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{number}']")
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").wait_for()
    return cell


def write_into(cell: Locator, source: str) -> None:
    """Replace a cell's source, as a student who pastes."""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+A")
    cell.page.keyboard.insert_text(source)


def run_cell(cell: Locator) -> None:
    """Run a cell, and wait until it has run."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.text_content() or ""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+Enter")
    expect(prompt).to_have_text(re.compile(rf"^(?!{re.escape(before)}$)\[\d+\]:$"))


def run_all(page: Page) -> None:
    """JupyterLab's menu Run > Run All Cells, until the last cell has run."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").last).to_have_text(
        re.compile(r"^\[\d+\]:$")
    )


def hand_over(page: Page, task: str, source: str) -> None:
    """Write an answer (nbgrader's marks are not in it), run its cell, and run the check below it."""
    mine = cell_of(page, released(), task)
    write_into(mine, re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", source))
    run_cell(mine)
    run_cell(cell_of(page, released(), f"check_{task}"))


def card(page: Page | FrameLocator, task: str) -> Locator:
    """The card of a task's checks."""
    return page.get_by_role("group", name=f"Checks of {task}", exact=True)


def row_of(page: Page | FrameLocator, student: str) -> Locator:
    """A student's row in formgrader's list of submissions, which shows "Last, First" where there are names.

    The demo's students are known by their first names.
    """
    name = re.compile(f"(^|, ){student}$", re.IGNORECASE)
    return page.locator("tr").filter(has=page.locator("a.name-shown", has_text=name))


def saved(kind: str) -> Callable[[Response], bool]:
    """Return whether a response says that formgrader has saved a grade or a comment."""

    def is_one(response: Response) -> bool:
        return f"/api/{kind}/" in response.url and response.request.method == "PUT" and response.ok

    return is_one


def axe_findings(page: Page, *only: str) -> list[str]:
    """The faults that axe-core finds in the page, or only in the elements that the selectors `only` name."""
    context = {"include": [[selector] for selector in only]} if only else None
    response = Axe().run(page, context=context, options={"resultTypes": ["violations"]}).response
    return [
        f"{finding['impact']}: {finding['help']} ({finding['id']}) at {node['target']}: "
        + "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])
        for finding in response["violations"]
        for node in finding["nodes"]
    ]
