"""A verdict on record: what was written is read back whole, and what is none is told from one."""

from __future__ import annotations

import json

import pytest

from autograder.checking.explain.evidence import Axis, Difference, Dimension, Evidence, Prints, Shape
from autograder.checking.runner.fault import Fault
from autograder.grading.course.course import Course
from autograder.grading.records.store import load_verdict
from autograder.verdict import CheckVerdict, Verdict
from tests.support.helpers import ASSIGNMENT


@pytest.fixture(scope="module")
def recorded(demo) -> dict[str, dict]:
    """The verdicts of the demo's class, as they are on disk, by student."""
    course, _ = demo
    folder = Course.at(course).verdict_path("x", ASSIGNMENT).parent
    return {path.stem: json.loads(path.read_text())["verdict"] for path in folder.glob("*.json")}


def test_what_is_read_back_is_what_was_written(recorded):
    assert len(recorded) > 10
    for told in recorded.values():
        assert Verdict.from_json(told).as_json() == told


def test_all_that_a_check_found_is_read_back():
    axes = Axis("batch", (0, 1), 2), Axis("2·hidden", (0, 2), 4, blocks=2)
    shape = Shape("h", (Dimension("batch", 5), Dimension("", 3)))
    check = CheckVerdict(
        check="shape",
        rule="shape",
        title="It has a shape.",
        outcome="failed",
        points=0.5,
        max_points=1.0,
        message="It has another.",
        instead="",
        diagnosis={"mistake": "a", "hint": "b"},
        answers="0f",
        evidence=Evidence(shape, shape, Difference("h", *axes, ((0, 1), (2, 3)))),
        prints=Prints("`f`", "1"),
        fault=Fault("NameError", "x", "test_f.py", 3, "…"),
        unwritten=True,
    )
    assert CheckVerdict.from_json(json.loads(json.dumps(check.as_json()))) == check


def test_a_verdict_of_an_earlier_version_can_be_read(recorded):
    told = json.loads(json.dumps(recorded[min(recorded)]))
    told.pop("by_hand")
    for check in (check for task in told["tasks"] for check in task["checks"]):
        for field in ("unwritten", "fault", "printed", "difference", "seen", "expected"):
            check.pop(field)
    read = Verdict.from_json(told)
    assert (read.score, read.max_score) == (told["score"], told["max_score"])


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"verdict": 3}', '{"verdict": {"tasks": [1]}}'])
def test_what_is_no_verdict_counts_as_none(text, tmp_path, demo):
    course = Course.at(demo[0])
    path = course.verdict_path("nobody-of-the-class", ASSIGNMENT)
    assert load_verdict(course, "nobody-of-the-class", ASSIGNMENT) is None
    try:
        kept = {"conditions": "", "file": "", "content": ""}
        path.write_text(json.dumps(kept | json.loads(text)) if text.startswith('{"') else text)
        assert load_verdict(course, "nobody-of-the-class", ASSIGNMENT) is None
    finally:
        path.unlink()
