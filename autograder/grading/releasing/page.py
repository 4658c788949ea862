"""The page for students: one a course, `source/students.md`, which goes out beside every notebook."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.grading.course.course import Course

PAGE = "students.*"
"""The page and its picture, beside the folders of the assignments."""


def write_page(course: Course, assignment: str) -> None:
    """Copy the page into a release that nbgrader has generated; one of the assignment's own stays."""
    source, release = course.folder("source", ".", assignment), course.folder("release", ".", assignment)
    for file in sorted(source.parent.glob(PAGE)):
        if file.is_file() and not (source / file.name).exists():
            _copy(file, release / file.name)


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)  # nbgrader makes it when it writes the notebook
    beside = target.with_name(f".{target.name}.new")
    shutil.copyfile(file, beside)
    beside.replace(target)
