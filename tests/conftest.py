"""Courses that nbgrader itself generated, which several files of tests begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

# `nbgrader_helpers` is imported where it is needed: nbgrader takes two seconds, and most tests do without.


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory) -> Path:
    """A course whose assignments nbgrader itself generated; nobody handed in anything."""
    from nbgrader_helpers import ASSIGNMENTS, ROOT, done, run

    course = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "source", course / "source")
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    for assignment in ASSIGNMENTS:
        done(run(course, "nbgrader", "generate_assignment", assignment))
    return course


@pytest.fixture
def course(empty_course, tmp_path) -> Path:
    """A course of one's own, with one right submission."""
    from nbgrader_helpers import copy_course, hand_in, source

    course = copy_course(empty_course, tmp_path / "course")
    hand_in(course, "ada", source(), when="2026-03-01 12:00:00 UTC")
    return course
