"""A build hook that puts the course, which lies at the root, into the `autograder_course` package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = (
    "source",
    "skeleton",
    "solutions/mistakes",
    "solutions/variants",
    "solutions/demo_class.toml",
    "nbgrader_config.py",
    "LICENSE",
)
REQUIRED = ("source", "skeleton", "solutions/demo_class.toml", "nbgrader_config.py")


class CourseFiles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root, "autograder_course")
        if (package / "source").is_dir():
            return  # an unpacked sdist: the course is in the package already
        home = Path(self.root).parent.parent
        for part in REQUIRED:
            if not (home / part).exists():
                raise FileNotFoundError(f"The course cannot be packaged: there is no {home / part}.")
        build_data["force_include"] |= {
            str(home / file): f"autograder_course/{file.as_posix()}"
            for part in PARTS
            for file in course_part(home, part)
        }


def course_part(home: Path, part: str) -> list[Path]:
    """The files of one part, relative to `home`, without editors' and Jupyter's own hidden ones."""
    if (home / part).is_file():
        return [Path(part)]
    files = []
    for folder, folders, names in os.walk(home / part):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        files += [Path(folder, name).relative_to(home) for name in sorted(names) if not name.startswith(".")]
    return files
