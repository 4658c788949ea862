"""What this machine has and lacks for grading, and what to do about it."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.grading.course import CONFIG_FILE, find_alembic
from autograder.worker import gpus
from autograder.worker.confine import Level, best_level, probe

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
    "last of the GPUs, too, with so much of its memory for each submission; that has not run on a GPU yet."
)
PINNED = {"torch": "2.13.0", "nbgrader": "0.9.6"}


def examine(course: Path) -> dict[str, Any]:
    """Versions, confinement layers, GPU and course, as plain data; `problems` says what to do."""
    layers = probe()
    level = best_level(layers)
    versions = {name: _version(name) for name in PACKAGES}
    problems = [
        f"{layer.name} does not hold ({layer.detail}): {layer.remedy}" for layer in layers if not layer.holds
    ]
    for name, wanted in PINNED.items():
        if not (versions[name] or "").startswith(wanted):
            problems.append(
                f"{name} is {versions[name] or 'not installed'}; this course is made for {wanted}: "
                f"install {name}=={wanted}."
            )
    find_alembic()
    if shutil.which("alembic") is None:
        problems.append("alembic is not to be found, and nbgrader needs it: install it beside nbgrader.")
    if level is Level.NONE:
        problems.append(
            "No confinement that is good enough holds: nothing will be graded without `--unsafe`."
        )
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
        "gpu": gpus.describe(),
        "gpu_use": GPU_USE,
        "course": str(course.resolve()) if (course / CONFIG_FILE).is_file() else None,
        "problems": problems,
        "can_grade": level is not Level.NONE
        and all(versions[name] for name in PINNED)
        and sys.platform == "linux",
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
