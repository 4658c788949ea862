"""A copy of the course with one assignment in it, in which nbgrader generates what is to be proved."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from autograder.grading.building.generating import generate_release
from autograder.grading.course.course import Course
from autograder.grading.releasing.exporter import ReleasedNotebook


@contextmanager
def staged(course: Course, assignment: str) -> Iterator[Course]:
    """A course with this one assignment, its release generated; it is there while the block runs."""
    with tempfile.TemporaryDirectory(prefix="autograder-build-", dir=_short_folder()) as folder:
        stage = _stage(course, assignment, Path(folder))
        if not stage.has_autotests(assignment):
            # Of what no one submits to, no gradebook need know; making one takes seconds.
            stage.config.GenerateAssignment.no_database = True
            stage.config.SaveCells.enabled = False
        generate_release(stage, assignment)
        yield stage


def _short_folder() -> str | None:
    """Return a folder for a stage whose kernel is reached through sockets in it: their paths have a limit.

    Linux allows 107 bytes and macOS 103, of which some 35 are the stage's. `None` is the usual folder.
    """
    return "/tmp" if len(os.fsencode(tempfile.gettempdir())) > 65 else None


def _stage(course: Course, assignment: str, root: Path) -> Course:
    config = deepcopy(course.config)
    config.CourseDirectory.root = str(root)
    # Wherever the course keeps them: a proof must reach neither its gradebook nor its folders.
    config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    for step in ("source", "release", "solution"):
        where = getattr(course.directory, f"{step}_directory")
        setattr(config.CourseDirectory, f"{step}_directory", step if Path(where).is_absolute() else where)
    # The files beside the notebook are made when it is proved.
    config.GenerateAssignment.exporter_class = ReleasedNotebook
    # The kernel is reached through sockets in this folder, which is ours alone; a port would be open to all.
    config.KernelManager.transport = "ipc"
    config.KernelManager.ip = str(root / "kernel")
    stage = Course(root, config, CourseDirectory(config=config))
    source, target = course.folder("source", ".", assignment), stage.folder("source", ".", assignment)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"))
    for header in source.parent.glob("*.ipynb"):
        shutil.copyfile(header, target.parent / header.name)
    for templates in course.root.glob("*.yml"):  # of nbgrader's AUTOTEST lines
        shutil.copyfile(templates, root / templates.name)
    return stage
