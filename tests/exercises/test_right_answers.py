"""Right answers in other styles: `validate` judges those a course keeps, and says where it keeps none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.grading import validate
from autograder.grading.course.course import Course
from autograder.grading.course.template import new_course
from autograder.grading.validating import judged
from autograder.grading.validating.judged import Judged
from tests.support.faults import make_own_course
from tests.support.helpers import ROOT, autograder_here

ANSWERS = """[double]
"a sum" = '''
def double(x):
    return x + x
'''
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course, built."""
    root = tmp_path_factory.mktemp("own")
    make_own_course(root)
    told = autograder_here("build", "--course", root)
    assert told.returncode == 0, told.stderr
    return root


@pytest.fixture
def kept(course: Path):
    """Yield the file of the course's right answers, which does not exist before and after the test."""
    path = course / "solutions" / "variants" / "01_double.toml"
    path.parent.mkdir(exist_ok=True)
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.slow
def test_that_none_are_kept_is_said(course: Path, kept: Path):
    told = autograder_here("validate", "--course", course)
    assert told.returncode == 0
    said = " ".join(told.stdout.split())
    assert "No right answers in other styles are kept here" in said
    assert "put some into solutions/variants/01_double.toml" in said
    assert "0 right answers" not in said
    assert "Everything holds" not in said


@pytest.mark.slow
def test_a_right_answer_must_lose_nothing(course: Path, kept: Path):
    kept.write_text(ANSWERS)
    told = autograder_here("validate", "--course", course)
    assert (told.returncode, told.stdout.count("Everything holds.")) == (0, 1)
    assert "1 right answer in other styles: 0 failed" in told.stdout
    kept.write_text(ANSWERS.replace("x + x", "x + x + 1"))
    told = autograder_here("validate", "--course", course, "--json")
    assert told.returncode == 1
    (found,) = json.loads(told.stdout)["assignments"]
    assert found["variants_failed"] == ["double: a sum"]
    assert "the right answer 'a sum' to `double` fails `values`" in found["problems"][0]


@pytest.mark.slow
def test_what_is_right_is_tried_under_further_seeds_when_forced(course: Path, kept: Path, monkeypatch):
    kept.write_text(ANSWERS)
    seen: list[Mapping[str, int]] = []

    def noted(*arguments: Any) -> Judged:
        found = judged.judge(*arguments)
        seen.append({name: verdict.seed for name, verdict in found.verdicts.items()})
        return found

    monkeypatch.setattr(validate, "judge", noted)
    for force in (True, False):
        (held,) = validate.validate(Course.at(course), ["01_double"], 1, lambda line: None, force=force)
        assert held.problems == []
    (forced,) = seen  # the second took over what the first found
    for name in ("solution", "variants 0"):
        seeds = {seed for each, seed in forced.items() if each.partition(",")[0] == name}
        assert seeds == {validate.SEED, *validate.FURTHER_SEEDS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[double", "is not TOML that can be read"),
        ("[treble]\na = 'x'\n", "`treble` is no task of 01_double"),
        ("double = 'x'\n", "`double` must be a table with the text of a cell for each style"),
    ],
)
def test_a_faulty_file_is_told(course: Path, kept: Path, text: str, said: str):
    kept.write_text(text)
    told = autograder_here("validate", "--course", course)
    assert told.returncode == 1
    assert said in " ".join(told.stderr.split())


def test_a_new_course_has_those_of_the_packaged_one(tmp_path: Path):
    new_course(tmp_path / "course", ROOT)
    made = sorted(path.name for path in (tmp_path / "course" / "solutions" / "variants").glob("*.toml"))
    assert made == sorted(f"{folder.name}.toml" for folder in (ROOT / "source").iterdir() if folder.is_dir())
