"""A course that an earlier version made: it is read and built, and grading it again gives the same marks."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.support.courses import done, run

COURSE = Path(__file__).parents[1] / "old_course" / "course.tar.xz"
SCORES = {"ada": 18.0, "ben": 9.0, "cleo": 0.0, "dan": 11.25, "eve": 15.5}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("old")
    with tarfile.open(COURSE) as packed:
        packed.extractall(where, filter="data")
    return where


def scores(course: Path) -> dict[str, float]:
    rows = json.loads(done(run(course, "autograder", "results", "01_conv1d", "--json")))
    return {row["student"]: row["score"] for row in rows}


def test_its_verdicts_are_read(course: Path):
    assert scores(course) == SCORES


def test_it_is_built_and_graded_again_with_the_same_marks(course: Path):
    done(run(course, "autograder", "build", "01_conv1d", "--force"))
    told = done(run(course, "autograder", "grade", "01_conv1d", "--force"))
    assert "kernel_reversed" in told
    assert scores(course) == SCORES
