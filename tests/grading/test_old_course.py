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


def test_it_is_graded_again_with_the_same_marks(course: Path):
    told = done(run(course, "autograder", "grade", "01_conv1d", "--force"))
    assert "kernel_reversed" in told
    assert scores(course) == SCORES


def test_a_build_says_what_to_move_and_then_the_marks_are_the_same(course: Path):
    told = run(course, "autograder", "build", "01_conv1d", "--force")
    assert told.returncode == 1
    for file in ("reference_Scale.py", "hidden_Scale.py", "reference_stepwise.py", "hidden_stepwise.py"):
        assert f"students get this file: move it to {file}" in told.stderr
    assert told.stderr.splitlines()[-1] == "4 problems; nothing was run and nothing was changed."
    for task in ("Scale", "stepwise"):
        move(course / "source" / "01_conv1d" / "checks", task)
    done(run(course, "autograder", "build", "01_conv1d", "--force"))
    done(run(course, "autograder", "grade", "01_conv1d", "--force"))
    assert scores(course) == SCORES


def move(checks: Path, task: str) -> None:
    """Move the reference and the hidden check of a task to files of their own, as the build says."""
    text = (checks / f"test_{task}.py").read_text()
    before, _, rest = text.partition("@recorded\n")
    body, _, after = rest.partition("\n\n\n")
    (checks / f"reference_{task}.py").write_text(f"import torch\n\n\n{body}\n")
    begin = '@points(0.5)\n@rule("mutation")' if task == "stepwise" else "test_untouched ="
    public, _, hidden = after.partition(begin)
    shared = "NAMES, given" if task == "stepwise" else "task"
    imports = before.replace("recorded,", "") + f"from test_{task} import {shared}\n\n"
    hidden = (begin + hidden).replace("[test_values]", "['values']").replace("(test_values)", "('values')")
    (checks / f"hidden_{task}.py").write_text(imports + hidden)
    public = public.replace("reference(cell", "computed(cell")
    public = public.replace("reference=reference", "reference=computed")
    named = f'computed = reference("reference_{task}:reference")\n\n\n'
    (checks / f"test_{task}.py").write_text(before.replace("recorded,", "reference,") + named + public)
