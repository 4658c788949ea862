"""Verdicts as JSON: files of before are read, and written again byte for byte; a schema describes them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from autograder.grading.course.course import Course
from autograder.grading.records.kept import read_kept
from autograder.grading.records.store import Key, load_verdict, staged_verdict
from docs import make_schema
from tests.support.helpers import ASSIGNMENT, autograder

OF_BEFORE = sorted((Path(__file__).parent / "verdicts").glob("*.json"))
"""Files that were written before the types were structs; `graded.json` has something in every field."""
SCHEMA = jsonschema.Draft202012Validator(json.loads(make_schema.SCHEMA.read_text(encoding="utf-8")))


@pytest.fixture
def course(tmp_path) -> Course:
    (tmp_path / "nbgrader_config.py").touch()
    return Course.at(tmp_path)


@pytest.mark.parametrize("path", OF_BEFORE, ids=lambda path: path.stem)
def test_a_file_of_before_is_written_again_byte_for_byte(course, path):
    kept = read_kept(path.read_bytes())
    with staged_verdict(course, kept.verdict, Key(kept.conditions, kept.file), kept.content):
        pass
    written = course.verdict_path(kept.verdict.student, kept.verdict.assignment)
    assert written.read_bytes() == path.read_bytes()


def test_a_verdict_of_another_version_can_be_read():
    told = json.loads(OF_BEFORE[0].read_bytes())
    verdict = told["verdict"]
    now = read_kept(OF_BEFORE[0].read_bytes()).verdict
    verdict.pop("by_hand")
    verdict["status"], verdict["later"] = "paused", {"a": [1]}
    for task in verdict["tasks"]:
        task.pop("note")
        for check in task["checks"]:
            check["outcome"] = {"passed": "passed"}.get(check["outcome"], "unheard_of")
            check["max_points"] = int(check["max_points"])
            for field in ("unwritten", "hidden", "fault", "printed", "difference", "seen", "expected"):
                check.pop(field)
    read = read_kept(json.dumps(told).encode()).verdict
    assert (read.status, read.student, len(read.tasks)) == ("paused", now.student, len(now.tasks))
    assert {check.outcome for task in read.tasks for check in task.checks} == {"passed", "unheard_of"}
    assert [check.message for check in read.tasks[0].checks] == [c.message for c in now.tasks[0].checks]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"verdict": 3}', '{"verdict": {"tasks": [1]}}', "\udcff"]
)
def test_what_is_no_verdict_counts_as_none(text, course):
    assert load_verdict(course, "nobody", ASSIGNMENT) is None
    path = course.verdict_path("nobody", ASSIGNMENT)
    path.parent.mkdir(parents=True)
    kept = {"conditions": "", "file": "", "content": ""}
    whole = json.dumps(kept | json.loads(text)) if text.startswith('{"') else text
    path.write_text(whole, encoding="utf-8", errors="surrogateescape")
    assert load_verdict(course, "nobody", ASSIGNMENT) is None


def test_the_schema_is_that_of_the_code_as_it_is():
    written = make_schema.SCHEMA.read_text(encoding="utf-8")
    assert written == make_schema.schema(), "run `make reference`, and commit docs/verdict.schema.json"


def test_the_schema_holds_for_verdicts_of_before_and_of_now(demo):
    told = json.loads(autograder("results", ASSIGNMENT, "--json", "--course", demo[0]).stdout)
    assert len(told) > 10
    for verdict in (*told, *(json.loads(path.read_bytes())["verdict"] for path in OF_BEFORE)):
        SCHEMA.validate(verdict)


@pytest.mark.parametrize("field", ["outcome", "message", "hidden", "seen"])
def test_the_schema_asks_for_every_field(field):
    verdict = json.loads(OF_BEFORE[0].read_bytes())["verdict"]
    verdict["tasks"][0]["checks"][0].pop(field)
    assert not SCHEMA.is_valid(verdict)
