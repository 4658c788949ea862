"""An examination of this machine: what it has and lacks for grading, and what to do about it."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.checking.remote.errors import WorkerLost
from autograder.errors import UserError
from autograder.grading.course.course import CONFIG_FILE, Course, find_alembic
from autograder.grading.course.settings import SETTINGS
from autograder.grading.records.open_paths import open_paths
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.messages import RunCell
from autograder.worker.sandbox import gpu_nodes
from autograder.worker.sandbox.probe import Level, best_level, probe

PACKAGES = (
    "torch",
    "nbgrader",
    "nbformat",
    "nbclient",
    "pytest",
    "ipython",
    "pyseccomp",
    "sandlock",
)
GPU_USE = (
    "Checks of devices use a pretend GPU. `autograder grade ASSIGNMENT --gpu-memory GIB` makes them on the "
    "last of the GPUs, too, with so much of its memory for each submission "
    "(experimental: it has never run on a GPU)."
)
TRIAL_SECONDS = 30.0
PINNED = {"torch": "2.13.0", "nbgrader": "0.9.6"}


def examine(course: Path) -> dict[str, Any]:
    """Versions, confinement layers, GPU and course, as plain data; `problems` says what to do.

    `open` is what every account of the machine can get at: that matters where students have accounts, and
    has nothing to do with whether the machine can grade. A small cell is run in a confined worker: layers may
    hold and versions be right on a machine on which no worker starts.
    """
    layers = probe()
    level = best_level(layers)
    versions = {name: _version(name) for name in PACKAGES}
    lost = _try_worker(level) if level is not Level.NONE and versions["torch"] else ""
    problems = [
        f"{layer.name} does not hold ({layer.detail}): {layer.remedy}" for layer in layers if not layer.holds
    ]
    here = Course.at(course) if (course / CONFIG_FILE).is_file() else None
    for name, wanted in PINNED.items():
        if not (versions[name] or "").startswith(wanted):
            problems.append(
                f"{name} is {versions[name] or 'not installed'}, and grading takes {wanted}: install "
                f"{name}=={wanted}. The extra has all that grading needs: lstm-autograder[grading]."
            )
    if here is not None:
        problems += missing_settings(here)
    find_alembic()
    if shutil.which("alembic") is None:
        problems.append("alembic is not to be found, and nbgrader needs it: install it beside nbgrader.")
    if level is Level.NONE:
        problems.append(
            "No confinement that is good enough holds: nothing will be graded without `--unsafe`."
        )
    if lost:
        problems.append(f"A worker cannot run a cell on this machine, so nothing can be graded. {lost}")
    return {
        "autograder": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "versions": versions,
        "level": level.value,
        "layers": [
            {"name": layer.name, "holds": layer.holds, "detail": layer.detail, "remedy": layer.remedy}
            for layer in layers
        ],
        "gpu": gpu_nodes.describe(),
        "gpu_use": GPU_USE,
        "course": str(here.root) if here is not None else None,
        "open": [asdict(each) for each in open_paths(here)],
        "problems": problems,
        "can_grade": level is not Level.NONE
        and not lost
        and all(versions[name] for name in PINNED)
        and sys.platform == "linux",
    }


def _try_worker(level: Level) -> str:
    """Run a small cell in a confined worker; return the sentence of what stopped it, `""` if nothing did."""
    try:
        with ForkServer(level=level) as workers:
            worker = workers.spawn()
            try:
                worker.perform([RunCell(source="import torch\ntorch.eye(2) @ torch.eye(2)")], TRIAL_SECONDS)
            finally:
                worker.end()
    except (UserError, WorkerLost) as error:
        return str(error)
    return ""


def missing_settings(course: Course) -> list[str]:
    """Return a sentence for each setting that the course's configuration does not mention."""
    return [
        f"Without the line `{each.line}` in {course.root / CONFIG_FILE}, {each.otherwise}: "
        "`autograder adopt` adds it."
        for each in SETTINGS
        if each.lacks(course.config)
    ]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
