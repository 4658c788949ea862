"""A real kernel, driven as a front end drives it for a person: it may ask for input, and be interrupted."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client import BlockingKernelClient, KernelManager

from tests.support.helpers import ASSIGNMENT, ROOT, solved

SECONDS = 120
"""The seconds that a cell may take: a crowded machine takes ten times as long as a quiet one."""


@dataclass
class Shown:
    """The outputs of one cell, in order."""

    printed: str = ""
    cards: list[dict[str, str]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def text(self) -> str:
        """The one card, as text."""
        (card,) = self.cards
        return card["text/plain"]


class Kernel:
    """A kernel and its one front end."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def run(
        self,
        code: str,
        *,
        cell: str = "",
        person: bool = True,
        answers_after: float = 0,
        interrupt_after: float | None = None,
    ) -> Shown:
        """Run a cell.

        `cell` is its id, which JupyterLab and Notebook 7 send with each request. `person` is whether somebody
        could be asked, who then takes some seconds to answer.
        """
        self.client.session.metadata = {"cellId": cell} if cell else {}
        shown = Shown()

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.printed += content["text"]
                case "display_data":
                    shown.cards.append(content["data"])
                case "execute_result":
                    shown.results.append(content["data"]["text/plain"])
                case "error":
                    shown.error = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(content["traceback"]))

        def answer(_: dict[str, Any]) -> None:
            time.sleep(answers_after)
            self.client.input("yes")

        timer = threading.Timer(interrupt_after or 0, self.manager.interrupt_kernel)
        if interrupt_after is not None:
            timer.start()
        self.client.execute_interactive(
            code,
            allow_stdin=person,
            stdin_hook=answer,
            output_hook=take,
            timeout=SECONDS,
        )
        timer.cancel()
        return shown


@contextmanager
def kernel(folder: Path, **environment: str) -> Iterator[Kernel]:
    """A kernel that was started in a folder, as by opening a notebook in it."""
    manager = KernelManager(kernel_name="python3")
    # The folder of sockets is ours alone: a port would be open to all.
    manager.transport, manager.ip = "ipc", str(folder / ".kernel")
    manager.start_kernel(cwd=str(folder), env={**os.environ, **environment})
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@contextmanager
def solved_release(folder: Path) -> Iterator[Kernel]:
    """A kernel beside a release, in which the solved notebook was run without checks and demonstrations."""
    for file in (ROOT / "release" / ASSIGNMENT).glob("*.*"):
        shutil.copyfile(file, folder / file.name)
    with kernel(folder) as session:
        for cell in solved()["cells"]:
            if cell["cell_type"] == "code" and "demonstration" not in cell["metadata"].get("tags", []):
                session.run(cell["source"].partition("check(")[0])
        yield session
