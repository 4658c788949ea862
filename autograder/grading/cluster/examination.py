"""An examination of a cluster's worker: its versions, the confinement that holds there, its speed.

`examined` runs in the Dask worker and starts this module as a program: layers are tried in forks, for which a
process must have one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import autograder
from autograder.startup import set_up_process
from autograder.worker.sandbox.probe import Level, best_level, probe

SECONDS = 120.0
_MEASURED = 5
"""Workers that are forked to see how fast it goes."""
_CELL = "import torch\nx = torch.eye(64)\nfor _ in range(500):\n    x = torch.tanh(x @ x)"


@dataclass(frozen=True)
class Machine:
    """A worker's answers to the examination."""

    versions: dict[str, str]
    level: str
    layers: list[dict[str, Any]]
    host: str
    loaded: str = ""
    """The digest of the code that the Dask worker has loaded."""
    seconds: float | None = None
    """Seconds from forking a confined process to its end, a small cell run in it; `None` if not measured."""


def versions() -> dict[str, str]:
    """Return the versions that must be the same wherever verdicts of one batch are formed."""
    return {
        "autograder": autograder.__version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "distributed": _version("distributed"),
        "code": _code(),
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def _code() -> str:
    """Return a digest of this package without its checks, which an order has a digest of."""
    home = Path(autograder.__file__).parent
    found = hashlib.sha256()
    for file in sorted(home.rglob("*.py")):
        path = file.relative_to(home)
        if path.parts[0] != "exercises":
            found.update(f"{path}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]


_LOADED = _code()


def of_process() -> dict[str, str]:
    """Return the versions of a process that runs for long: its code is that of its start."""
    return {**versions(), "code": _LOADED}


def other_version(theirs: Mapping[str, str], ours: Mapping[str, str], names: Iterable[str]) -> str:
    """Return which of some versions is another, as the end of a sentence; `""` if none is."""
    for name in names:
        found, wanted = theirs.get(name, "none"), ours[name]
        if found != wanted and name == "code":
            return f"its autograder {ours['autograder']} has other code than that of this machine"
        if found != wanted:
            return f"it has {name} {found}, and this machine has {wanted}"
    return ""


def misfit(theirs: Machine, ours: Mapping[str, str]) -> str:
    """Return why a worker cannot judge for this machine, as the end of a sentence; `""` if it can."""
    if reason := other_version(theirs.versions, ours, ours):
        return reason
    if theirs.loaded != theirs.versions["code"]:
        return "its autograder was changed while it runs: start it again"
    if theirs.level == Level.NONE:
        lacking = ", ".join(layer["name"] for layer in theirs.layers if not layer["holds"])
        return f"no confinement that is good enough holds there ({lacking})"
    return ""


async def examined(measure: bool = False) -> dict[str, Any]:
    """Examine the machine that this Dask worker runs on, and return the fields of a `Machine`."""
    command = [sys.executable, "-P", "-m", __spec__.name, *(["--measure"] if measure else [])]
    told = await asyncio.to_thread(
        subprocess.run,
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd="/",
        timeout=SECONDS,
        start_new_session=True,  # or Ctrl-C in the terminal of the Dask worker would reach it, too
    )
    if told.returncode:
        lines = told.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"the examination ended with {told.returncode}")
    return {**json.loads(told.stdout), "loaded": _LOADED}


def _examine(measure: bool) -> Machine:
    layers = probe()
    level = best_level(layers)
    shown = [{"name": each.name, "holds": each.holds, "remedy": each.remedy} for each in layers]
    seconds = _measure() if measure and level is not Level.NONE else None
    return Machine(versions(), level.value, shown, platform.node(), seconds=seconds)


def _measure() -> float:
    from autograder.grading.workers.forkserver import ForkServer
    from autograder.protocol.messages import RunCell

    with ForkServer() as workers:
        for number in range(_MEASURED + 1):
            if number == 1:  # the first one pays for what is looked up once
                began = time.monotonic()
            worker = workers.spawn()
            worker.perform([RunCell(source=_CELL)], SECONDS)
            worker.end()
        return (time.monotonic() - began) / _MEASURED


if __name__ == "__main__":
    set_up_process()
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    print(json.dumps(asdict(_examine(parser.parse_args().measure))))
